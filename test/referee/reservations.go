package main

import (
	"fmt"
)

// Reservation is what was granted under one id, and what became of it (contract 6). It is never changed once sealed.
type Reservation struct {
	User                                        int64
	Consume                                     bool // the operation that made it
	Asked, Units, Committed, Released, Refunded int64
	Unfunded, Messages                          int64
	Country, Type, Recipient, Tag               string
	Partial, Force, CommitOnExpiry, Expired     bool
	Verified, Erased, Own                       bool  // Own: of the service itself, such as a transfer
	Kept                                        bool  // changed since the clock passed what ids are kept
	ExpLo, ExpHi                                int64 // when it expires, as far as known
	Draws                                       []Draw
	key                                         string
	hash                                        uint64
}

// Draw is the part of a reservation that one quota counts, in one window.
type Draw struct {
	Quota  int // its place in State.Quotas
	Units  int64
	Window int64
	Cap    bool
	Value  string
}

// sealed ends the making of a reservation. Its text is made when states are compared.
func (r *Reservation) sealed() *Reservation {
	r.key, r.hash = "", 0
	return r
}

func (r *Reservation) text() string {
	if r.key == "" {
		r.key = fmt.Sprint(*r)
		r.hash = hashOf(r.key)
	}
	return r.key
}

func (r *Reservation) String() string {
	return fmt.Sprintf("%s: %d units, committed %d, released %d, refunded %d", r.state(), r.Units, r.Committed, r.Released, r.Refunded)
}

func (r *Reservation) outstanding() int64 { return r.Units - r.Committed - r.Released }
func (r *Reservation) used() int64        { return r.Committed - r.Refunded }

// state: contract 6, States.
func (r *Reservation) state() string {
	switch {
	case r.outstanding() > 0:
		return "reserved"
	case r.Committed > 0 && r.Refunded == r.Committed:
		return "refunded"
	case r.Committed > 0:
		return "committed"
	case r.Expired:
		return "expired"
	}
	return "released"
}

// closed: contract 6, Asking again, "with nothing reserved or committed any more".
func (r *Reservation) closed() bool { return r.outstanding() == 0 && r.used() == 0 }

// mayBeGone: its user is erased, or its id forgotten.
func (r *Reservation) mayBeGone(op *Op) bool {
	return r.Erased || op.mayForget && !r.Kept && r.outstanding() == 0
}

// without is the state without a reservation; what it counts stays counted.
func (s *State) without(slot int) *State {
	n := s.clone()
	n.Res[slot] = nil
	return n
}

// counts is what a reservation counts in each of its draws. Contract 6, States: "Of the draws in burn order the first
// `committed − refunded` units are used, the next outstanding ones reserved, the rest given back." A cap counts all of them; one that
// counts messages, these "until all of it has been given back".
func (r *Reservation) counts() (used, reserved []int64) {
	used, reserved = make([]int64, len(r.Draws)), make([]int64, len(r.Draws))
	u, o, before := r.used(), r.outstanding(), int64(0)
	for i, d := range r.Draws {
		if d.Cap {
			continue
		}
		used[i] = min(max(u-before, 0), d.Units)
		reserved[i] = min(max(u+o-before, 0), d.Units) - used[i]
		before += d.Units
	}
	return used, reserved
}

// put stores a reservation, and moves the counters of its draws: "Release, expiry and refund lower exactly the counters the draw raised;
// if that window has closed, its history is corrected and no headroom returns." "Every write first rolls the quota to its instant".
func (s *State) put(slot int, r *Reservation, at int64) *State {
	n := s.clone()
	old := n.Res[slot]
	n.Res[slot] = r
	move := func(of *Reservation, sign int64) {
		if of == nil {
			return
		}
		used, reserved := of.counts()
		for i, d := range of.Draws {
			q := n.Quotas[d.Quota].rolledTo(at)
			n.Quotas[d.Quota] = q
			u, o := used[i], reserved[i]
			if d.Cap && q.Messages {
				if u, o = 0, 0; of.used() > 0 {
					u = of.Messages
				} else if of.outstanding() > 0 {
					o = of.Messages
				}
			} else if d.Cap {
				u, o = of.used(), of.outstanding()
			}
			if q.WindowStart == d.Window && u+o > 0 {
				n.Quotas[d.Quota] = q.plus(sign*u, sign*o, d.Value)
			}
		}
	}
	move(old, -1)
	move(r, 1)
	return n
}

// expire closes a reservation whose time is over: contract 6, Expiry: "what is outstanding is then released, or committed if `on_expiry`
// says so".
func (s *State) expire(slot int, at int64) *State {
	r := *s.Res[slot]
	if r.CommitOnExpiry {
		r.Committed += r.outstanding()
	} else {
		r.Released += r.outstanding()
		r.Expired = true
	}
	return s.put(slot, r.sealed(), at)
}

// met is the reservation of a call on its id: "An expired reservation is closed by the next call that meets it".
func (s *State) met(slot int, at times) []*State {
	r := s.Res[slot]
	var all []*State
	if r == nil || r.outstanding() == 0 || r.ExpHi > at.from {
		all = append(all, s)
	}
	if r != nil && r.outstanding() > 0 && r.ExpLo <= at.to {
		all = append(all, s.expire(slot, max(r.ExpLo, min(at.from, r.ExpHi))))
		if s.carriesWith(r, at) { // it was open to this call, in a window that had ended: what it held is not carried
			all = append(all, s.expire(slot, max(r.ExpLo, at.from)))
		}
	}
	return all
}

// send is `reserve`, `consume` and `check`.
func (m *Model) send(s *State, op *Op, at times) []*State {
	r := requestOf(op)
	if r.units < 1 && op.Outcome == "unknown" { // a text whose segments no answer says
		m.overflow.Add(1)
		return nil
	}
	var next []*State
	fresh := []*State{s}
	if op.slot >= 0 && s.Res[op.slot] != nil {
		fresh = nil
		for _, n := range s.met(op.slot, at) {
			next = append(next, m.repeated(n, op, r)...)
			if n.Res[op.slot].mayBeGone(op) {
				fresh = append(fresh, n.without(op.slot))
			}
		}
	}
	for _, base := range fresh {
		for _, n := range m.firstUse(base, op, at) {
			for _, paused := range m.context.paused(op, r, at) {
				next = append(next, m.decided(n, base, op, r, at, paused)...)
			}
		}
	}
	return next
}

// repeated is a send whose id is known: contract 6, Asking again.
func (m *Model) repeated(s *State, op *Op, asked request) []*State {
	const section = "contract 6, Asking again"
	r := s.Res[op.slot]
	if op.Outcome == "unknown" {
		return []*State{s}
	}
	same := r.Asked == asked.units && r.Country == asked.country && r.Type == asked.kind && r.Partial == asked.partial
	// guarantees, Once per id: what was booked with `force` answers `reserve` or `consume` without it, too
	if !(r.Force && !asked.force) {
		same = same && r.Consume == (op.Operation == "consume") && r.Force == asked.force
	}
	// whether recipient, tag and messages are content is not said
	perhaps := r.Recipient != asked.recipient || r.Tag != asked.tag || r.Messages != asked.messages
	switch {
	case op.Outcome == "refused" && op.Code == "idempotency_mismatch" && (!same || perhaps):
		return []*State{s}
	case op.Outcome == "refused" && op.Code == "reservation_closed" && r.closed(): // also of another content: which is checked first is not said
		return []*State{s}
	case !same:
		return m.miss(section, "the id is known with another content: 409 idempotency_mismatch")
	case r.closed():
		return m.miss(section, "nothing of %q is reserved or committed any more: 409 reservation_closed", op.Args.ID)
	case op.Outcome != "ok":
		return m.miss(section, "the id is known (%s): granted, replayed true", r)
	case !op.Answer.Replayed.Or(false):
		return m.miss("guarantees, Once per id", "%q was granted before: replayed true, and nothing is taken", op.Args.ID)
	}
	return m.shows(s, op.slot, op.Answer, section)
}

// decided is a send whose id is not known. s has the default plan if this is a first use, base is before it: a check makes nothing.
func (m *Model) decided(s, base *State, op *Op, r request, at times, paused bool) []*State {
	v := s.view(*op.User, r, at.from)
	d := v.decide(r, paused)
	would := d.reason
	switch {
	case r.force && op.Operation == "consume":
		d, would = v.force(r), ""
	case m.history.Observe && d.reason != "": // contract 6, Observe mode
		d = v.force(r)
	}
	if op.Outcome == "unknown" {
		switch {
		case op.Operation == "check":
			return []*State{base}
		case d.reason != "":
			return []*State{s}
		}
		return m.booked(s, op, r, d, at)
	}
	after := m.compareDecision(s, op, r, v, d, would, at)
	switch {
	case after == nil:
		return nil
	case op.Operation == "check" && base != s:
		return []*State{base}
	}
	return []*State{after}
}

// made is the reservation of a decision.
func made(op *Op, r request, d decision) *Reservation {
	res := &Reservation{User: *op.User, Consume: op.Operation == "consume", Asked: r.units, Units: d.units, Unfunded: d.unfunded,
		Messages: r.messages, Country: r.country, Type: r.kind, Recipient: r.recipient, Tag: r.tag, Partial: r.partial,
		Kept: op.passed, Force: d.forced, CommitOnExpiry: op.Args.OnExpiry.Or("release") == "commit", Draws: d.draws, ExpLo: forever, ExpHi: forever}
	if res.Consume {
		res.Committed = res.Units
	} else {
		ttl := op.Args.TTL.Or(600) * second
		res.ExpLo, res.ExpHi = op.Lo+ttl-1000, op.Hi+ttl+1000 // a millisecond for rounding
	}
	return res.sealed()
}

// booked are the ways in which a send of unknown outcome may have been booked: own units and overage of one grant as one draw or two.
func (m *Model) booked(s *State, op *Op, r request, d decision, at times) []*State {
	next := []*State{s.put(op.slot, made(op, r, d), at.from)}
	if merged := mergeDraws(d.draws); len(merged) != len(d.draws) {
		d.draws = merged
		next = append(next, s.put(op.slot, made(op, r, d), at.from))
	}
	return next
}

// mergeDraws has one draw for each quota, in the order of the first.
func mergeDraws(draws []Draw) []Draw {
	var merged []Draw
next:
	for _, d := range draws {
		for i := range merged {
			if merged[i].Quota == d.Quota {
				merged[i].Units += d.Units
				continue next
			}
		}
		merged = append(merged, d)
	}
	return merged
}

// place is where a quota stands in a state; -1 if its id was not seen.
func (s *State) place(id int64) int {
	for i, q := range s.Quotas {
		if q.ID == id {
			return i
		}
	}
	return -1
}

// named is the state in which a quota's id has been seen.
func (s *State) named(place int, id int64) *State {
	n := s.clone()
	q := *n.Quotas[place]
	q.ID = id
	n.Quotas[place] = q.sealed()
	return n
}
