package main

import (
	"fmt"
	"hash/fnv"
	"sort"
	"strings"
	"sync/atomic"

	"github.com/anishathalye/porcupine"
)

// Model is what the documents say that the service does, for the users of one part.
//
// A state never changes; a step makes a new one. Where the documents leave something free, a step has several next states.
type Model struct {
	history  *History
	part     *Part
	context  *Context
	judge    *judge       // collects what the model would have answered; nil while checking
	inOrder  bool         // expired reservations are closed in the order of their times only (withExpiries)
	overflow atomic.Int64 // steps that had too many possibilities: then nothing is said of the part
}

// State is what the service has stored for the users of a part.
type State struct {
	Quotas  []*Quota       // in the order of their making; draws name them by this place
	Res     []*Reservation // by their places in Part.ids; nil where there is none
	Users   []user         // as Part.Users
	Batches []int          // how many known operations of each batch have taken effect
}

type user struct {
	hadQuota bool // "a user who has never had a quota" gets the default plan (contract 10)
	plan     int64
	version  int64
	erased   bool // an erasure was accepted; when it is finished is not known
}

// most bounds the possibilities of one step: beyond, the part is not checked, for a wrong verdict is worse than none.
const most = 3000

// mostExpired bounds how many expired reservations may be open or closed at once: each doubles the possibilities.
const mostExpired = 12

func (m *Model) initial() *State {
	batches := 0
	for _, op := range m.part.Operations {
		batches = max(batches, op.place.batch+1)
	}
	return &State{Res: make([]*Reservation, len(m.part.ids)), Users: make([]user, len(m.part.Users)), Batches: make([]int, batches)}
}

func (s *State) clone() *State {
	n := *s
	n.Quotas = append([]*Quota(nil), s.Quotas...)
	n.Res = append([]*Reservation(nil), s.Res...)
	return &n
}

func (s *State) withUser(i int, change func(*user)) *State {
	n := s.clone()
	n.Users = append([]user(nil), s.Users...)
	change(&n.Users[i])
	return n
}

func (m *Model) userIndex(id int64) int {
	return sort.Search(len(m.part.Users), func(i int) bool { return m.part.Users[i] >= id })
}

// equal and hash compare states by the canonical texts of their parts.
func (s *State) equal(o *State) bool {
	if len(s.Quotas) != len(o.Quotas) {
		return false
	}
	for i, q := range s.Quotas {
		if q != o.Quotas[i] && q.text() != o.Quotas[i].text() {
			return false
		}
	}
	for i, r := range s.Res {
		t := o.Res[i]
		if r != t && (r == nil || t == nil || r.text() != t.text()) {
			return false
		}
	}
	for i, u := range s.Users {
		if u != o.Users[i] {
			return false
		}
	}
	for i, b := range s.Batches {
		if b != o.Batches[i] {
			return false
		}
	}
	return true
}

func (s *State) hash() uint64 {
	h := uint64(len(s.Quotas))
	mix := func(n uint64) { h = (h ^ n) * 1099511628211 }
	for _, q := range s.Quotas {
		q.text()
		mix(q.hash)
	}
	for _, r := range s.Res {
		if r == nil {
			mix(7)
		} else {
			r.text()
			mix(r.hash)
		}
	}
	for _, u := range s.Users {
		mix(uint64(u.plan)<<1 + uint64(u.version)<<9)
	}
	for _, b := range s.Batches {
		mix(uint64(b))
	}
	return h
}

func hashOf(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text))
	return h.Sum64()
}

// times is a stretch in which nothing changes by itself for the users of the part, but for reservations that expire.
type times struct{ from, to int64 }

// instants divides the time in which an operation was decided at each window's end, start and expiry: the service may have decided
// on either side of each (HISTORIES.md: "The service decides by the database's clock at some time between both").
func (m *Model) instants(s *State, op *Op) []times {
	cuts := []int64{op.Lo}
	add := func(at int64) {
		if at > op.Lo && at <= op.Hi && (at <= op.gap.from || at > op.gap.to) {
			cuts = append(cuts, at)
		}
	}
	stretches := []times{{op.Lo, op.Hi}}
	if op.gap.from < op.gap.to {
		add(op.gap.from)
		add(op.gap.to + 1)
		stretches = []times{{op.Lo, op.gap.from - 1}, {op.gap.to + 1, op.Hi}}
	}
	for _, q := range s.Quotas {
		if q.Deleted {
			continue
		}
		add(q.StartsLo)
		add(q.Expires)
		add(q.WindowEnd)
		for _, stretch := range stretches { // windows after the next one
			if q.Period == "" || stretch.to < q.WindowEnd {
				continue
			}
			from, _ := windowAt(q.Period, q.Anchor, q.Zone, stretch.to)
			for n := 0; from > stretch.from && n < 40; n++ {
				add(from)
				from, _ = windowAt(q.Period, q.Anchor, q.Zone, from-1)
			}
		}
	}
	if op.Operation == "create_quota" {
		add(int64(op.Answer.StartsAt.Or(instant(op.Lo))))
		add(int64(op.Args.ExpiresAt.Or(instant(op.Lo))))
	}
	for _, fields := range m.mayMake(op) {
		for _, stretch := range stretches {
			from, _ := windowAt(fields.Period.V, fields.Anchor.V, fields.TimeZone.Or("UTC"), stretch.to)
			add(from)
		}
	}
	for _, at := range m.context.ends(op) {
		add(at)
	}
	sort.Slice(cuts, func(i, j int) bool { return cuts[i] < cuts[j] })
	var all []times
	for i, from := range cuts {
		to := op.Hi
		if i+1 < len(cuts) {
			to = cuts[i+1] - 1
		}
		if from <= to && (from != op.gap.from || op.gap.from >= op.gap.to) {
			all = append(all, times{from, to})
		}
	}
	return all
}

// Next is every state to which an operation with its answer may lead; none if the documents forbid the answer.
func (m *Model) Next(s *State, op *Op) []*State {
	if op.place.batch >= 0 {
		if s.Batches[op.place.batch] != op.place.position {
			return nil // contract 6, Order
		}
		n := *s
		n.Batches = append([]int(nil), s.Batches...)
		n.Batches[op.place.batch]++
		s = &n
	}
	var next []*State
	for _, at := range m.instants(s, op) {
		next = append(next, m.withExpiries(s, op, at)...)
		if len(next) > most {
			m.overflow.Add(1)
			return nil
		}
	}
	if op.Outcome == "unknown" && len(next) == 0 {
		return []*State{s} // it was refused, and the answer was lost
	}
	return next
}

// judged are the refusals that say something of the state; all others say that nothing was done (contract 2).
var judged = map[string]bool{"not_found": true, "idempotency_mismatch": true, "reservation_closed": true, "exceeds_reservation": true,
	"exceeds_committed": true, "below_usage": true, "immutable_field": true, "conflict": true, "not_enough_units": true,
	"not_transferable": true, "being_erased": true}

// apply is the operation at one time. It is a function of state, operation and time, but for what the documents leave free.
func (m *Model) apply(s *State, op *Op, at times) []*State {
	if op.Outcome == "refused" && !judged[op.Code] {
		return []*State{s}
	}
	switch op.Operation {
	case "reserve", "consume", "check":
		return m.send(s, op, at)
	case "commit", "release", "refund", "extend", "feedback":
		return m.settle(s, op, at)
	case "list_reservations", "get_reservation":
		return m.readReservations(s, op)
	}
	return m.administer(s, op, at)
}

// porcupine is the model in the form of the library.
func (m *Model) porcupine() porcupine.Model {
	model := porcupine.NondeterministicModel{
		Init: func() []interface{} { return []interface{}{m.initial()} },
		Step: func(state, input, _ interface{}) []interface{} {
			if m.overflow.Load() > 0 {
				return nil
			}
			var all []interface{}
			for _, n := range distinct(m.Next(state.(*State), input.(*Op))) {
				all = append(all, n)
			}
			return all
		},
		Equal:             func(a, b interface{}) bool { return a.(*State).equal(b.(*State)) },
		Hash:              func(s interface{}) uint64 { return s.(*State).hash() },
		DescribeOperation: func(input, _ interface{}) string { return describe(input.(*Op)) },
		DescribeState:     func(s interface{}) string { return m.describeState(s.(*State)) },
	}
	return model.ToModel()
}

func distinct(states []*State) []*State {
	if len(states) < 2 {
		return states
	}
	seen := map[uint64][]*State{}
	var all []*State
next:
	for _, s := range states {
		h := s.hash()
		for _, t := range seen[h] {
			if s.equal(t) {
				continue next
			}
		}
		seen[h] = append(seen[h], s)
		all = append(all, s)
	}
	return all
}

// porcupineOperations are the operations of a part as the library takes them.
func (p *Part) porcupineOperations() []porcupine.Operation {
	clients := map[string]int{}
	var all []porcupine.Operation
	for _, op := range p.Operations {
		if _, ok := clients[op.Process]; !ok {
			clients[op.Process] = len(clients)
		}
		all = append(all, porcupine.Operation{ClientId: clients[op.Process], Input: op, Call: op.Invoked, Output: op, Return: op.Returned})
	}
	return all
}

// judge collects for a person what the model would have answered.
type judge struct{ lines []string }

// miss says that an answer differs from the model's: the section of the document, and what it would have been.
func (m *Model) miss(section, format string, values ...any) []*State {
	if m.judge != nil {
		line := section + ": " + fmt.Sprintf(format, values...)
		for _, known := range m.judge.lines {
			if known == line {
				return nil
			}
		}
		m.judge.lines = append(m.judge.lines, line)
	}
	return nil
}

func (m *Model) describeState(s *State) string {
	var lines []string
	for _, q := range s.Quotas {
		lines = append(lines, q.String())
	}
	for i, r := range s.Res {
		if r != nil {
			lines = append(lines, m.part.ids[i].id+" "+r.String())
		}
	}
	return strings.Join(lines, "; ")
}
