package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"sort"
	"strings"
	"testing"
	"time"
)

// A service that is the model, called by seven clients at once: what it answers is legal, and is found to be so.
func TestSimulated(t *testing.T) {
	for seed := int64(1); seed <= 6; seed++ {
		h := simulated(seed, 380, int(seed))
		for _, v := range h.verdicts(time.Minute, "") {
			if !v.Legal {
				t.Errorf("seed %d: it is legal, and not: %s\n%s", seed, v.Skipped, v.Page)
			}
		}
	}
}

// And one wrong figure in it is found, or at least not taken for legal.
func TestSimulatedWrong(t *testing.T) {
	for seed := int64(1); seed <= 3; seed++ {
		h := simulated(seed, 80, 1)
		var sends []*Op
		for _, op := range h.Operations[30:] {
			if op.Outcome == "ok" && op.Operation == "consume" && op.Answer.Remaining.Set {
				sends = append(sends, op)
			}
		}
		sends[0].Answer.Remaining.V += 1000
		if v := h.verdicts(10*time.Second, "")[0]; v.Legal || !strings.Contains(v.Page, "Granted: `remaining`") {
			t.Errorf("seed %d: a wrong figure is not found (%s)\n%s", seed, v.Skipped, v.Page)
		}
	}
}

func simulated(seed int64, n, unknowns int) *History {
	random := rand.New(rand.NewSource(seed))
	h := &History{Epoch: epoch * 1000, Uncertainty: 600 * 1000}
	add := func(process, operation string, from, to int64, arguments string) *Op {
		user := int64(7)
		op := &Op{Line: len(h.Operations), Process: process, Service: "a", User: &user, Operation: operation, InvokedAt: &from, Returns: &to,
			Outcome: "ok", Answer: &Answer{}}
		if err := json.Unmarshal([]byte(arguments), &op.Args); err != nil {
			panic(err)
		}
		h.Operations = append(h.Operations, op)
		return op
	}
	base := int64(2794000) * 1000 // six seconds before 15:00
	quotas := []string{`"kind":"grant","limit":60,"period":"hour","rollover_limit":20,"priority":50`, `"kind":"grant","limit":400,"overage_limit":9`,
		`"kind":"cap","limit":70,"period":"hour"`, `"kind":"cap","limit":6,"per":"recipient","period":"hour"`}
	for i, q := range quotas {
		op := add("admin", "create_quota", base-9000+int64(i)*10, base-8995+int64(i)*10, "{"+q+"}")
		op.Answer.ID = flexID(fmt.Sprint(i + 1))
	}
	type call struct {
		op *Op
		at int64
	}
	var calls []call
	free := make([]int64, 7)
	ids := 0
	for i := 0; i < n; i++ {
		client := random.Intn(len(free))
		from := max(free[client], base) + int64(random.Intn(60000))
		to := from + 3000 + int64(random.Intn(90000))
		free[client] = to
		id := fmt.Sprintf("m%d", random.Intn(ids+1))
		operation := []string{"reserve", "reserve", "consume", "consume", "commit", "release", "refund", "check"}[random.Intn(8)]
		arguments := fmt.Sprintf(`{"id":"%s"}`, id)
		switch operation {
		case "reserve", "consume", "check":
			if random.Intn(6) > 0 {
				ids++
				id = fmt.Sprintf("m%d", ids)
			}
			arguments = fmt.Sprintf(`{"id":"%s","units":%d,"recipient":"+49151123456%d","ttl_seconds":1}`, id, 1+random.Intn(3), random.Intn(9)+10)
		case "commit":
			if random.Intn(2) == 0 {
				arguments = fmt.Sprintf(`{"id":"%s","total_units":%d}`, id, 1+random.Intn(3))
			}
		}
		op := add(fmt.Sprint("s", client), operation, from, to, arguments)
		calls = append(calls, call{op, h.Epoch + from + int64(random.Int63n(to-from))})
	}
	h.settleTimes()
	m := &Model{history: h, part: h.parts()[0], context: contextOf(h)}
	s := m.initial()
	for _, op := range h.Operations[:len(quotas)] {
		s = m.Next(s, op)[0]
	}
	sort.Slice(calls, func(i, j int) bool { return calls[i].at < calls[j].at })
	for _, c := range calls {
		s = m.answer(s, c.op, c.at, random)
	}
	for ; unknowns > 0; unknowns-- {
		op := calls[random.Intn(len(calls))].op
		op.Outcome, op.Returns, op.Answer = "unknown", nil, &Answer{}
	}
	h.settleTimes()
	return h
}

func set(n int64) Opt[int64] { return Opt[int64]{Set: true, V: n} }

// answer fills in what the model answers at a time, and returns its next state.
func (m *Model) answer(s *State, op *Op, at int64, random *rand.Rand) *State {
	a := op.Answer
	sweep := random.Intn(20) == 0
	for i, r := range s.Res { // the sweeper, and calls that meet what has expired
		if r != nil && r.outstanding() > 0 && r.ExpLo <= at && (i == op.slot || sweep) {
			s = s.expire(i, at)
		}
	}
	refuse := func(code string) *State {
		op.Outcome, op.Code = "refused", code
		return s
	}
	fill := func(r *Reservation, again bool) {
		a.State, a.Units, a.Committed, a.Released, a.Refunded = r.state(), set(r.Units), set(r.Committed), set(r.Released), set(r.Refunded)
		a.Replayed = Opt[bool]{Set: true, V: again}
	}
	if op.slot >= 0 && op.Operation != "reserve" && op.Operation != "consume" {
		r := s.Res[op.slot]
		if r == nil {
			return refuse("not_found")
		}
		o := map[string]func(*Reservation, *Op) []outcome{"commit": commit, "release": release, "refund": refund}[op.Operation](r, op)[0]
		if o.code != "" {
			return refuse(o.code)
		}
		if o.next != nil {
			s = s.put(op.slot, o.next, at)
		}
		fill(s.Res[op.slot], o.replayed)
		return s
	}
	r := requestOf(op)
	if op.slot >= 0 && s.Res[op.slot] != nil {
		old := s.Res[op.slot]
		switch {
		case old.Asked != r.units || old.Recipient != r.recipient || old.Consume != (op.Operation == "consume"):
			return refuse("idempotency_mismatch")
		case old.closed():
			return refuse("reservation_closed")
		}
		fill(old, true)
		return s
	}
	v := s.view(7, r, at)
	d := v.decide(r, false)
	if d.reason != "" {
		op.Outcome, op.Reason = "denied", d.reason
		n, _ := v.remaining(r)
		a.Remaining = set(n)
		return s
	}
	a.Draws.Set = true
	for _, x := range d.draws {
		a.Draws.V = append(a.Draws.V, Drawn{QuotaID: s.Quotas[x.Quota].ID, Kind: map[bool]string{true: "cap", false: "grant"}[x.Cap], Units: x.Units})
	}
	if op.slot >= 0 {
		res := *made(op, r, d)
		if !res.Consume {
			res.ExpLo, res.ExpHi = at+second, at+second
		}
		s = s.put(op.slot, res.sealed(), at)
		fill(&res, false)
		if !res.Consume {
			a.ExpiresAt = Opt[instant]{Set: true, V: instant(res.ExpLo)}
		}
		v = s.view(7, r, at)
	}
	n, _ := v.remaining(r)
	a.Remaining = set(n)
	return s
}
