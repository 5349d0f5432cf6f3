package main

// outcome is one way in which a settling may be answered.
type outcome struct {
	code     string // of a refusal
	replayed bool
	next     *Reservation // nil: nothing changes
}

// settle is `commit`, `release`, `refund`, `extend` and `feedback`.
func (m *Model) settle(s *State, op *Op, at times) []*State {
	const section = "contract 6, Settling is by target"
	var next []*State
	if s.Res[op.slot] == nil {
		if op.Code == "not_found" || op.Outcome == "unknown" {
			return []*State{s}
		}
		return m.miss(section, "no reservation %q: 404 not_found", op.Args.ID)
	}
	for _, met := range s.met(op.slot, at) {
		r := met.Res[op.slot]
		if r.mayBeGone(op) && (op.Code == "not_found" || op.Outcome == "unknown") {
			next = append(next, met.without(op.slot))
		}
		var want []outcome
		switch op.Operation {
		case "feedback":
			want = feedback(r)
		case "extend":
			want = extend(r, op, at)
		case "commit":
			want = commit(r, op)
		case "release":
			want = release(r, op)
		case "refund":
			want = refund(r, op)
		}
		for _, o := range want {
			next = append(next, m.compareSettled(met, op, o, at, section)...)
		}
	}
	return next
}

func (m *Model) compareSettled(s *State, op *Op, o outcome, at times, section string) []*State {
	r := s.Res[op.slot]
	switch {
	case op.Outcome == "refused":
		if op.Code != o.code {
			return m.miss(section, "%s of %q (%s): the model says %s", op.Operation, op.Args.ID, r, o)
		}
		if op.Args.Verified.Or(false) && !r.Verified { // whether a refused commit counts its `verified` is not said
			v := *r
			v.Verified = true
			return []*State{s, s.put(op.slot, v.sealed(), at.from)}
		}
		return []*State{s}
	case o.code != "":
		if op.Outcome == "unknown" {
			return []*State{s}
		}
		return m.miss(section, "%s of %q (%s): the model says %s", op.Operation, op.Args.ID, r, o)
	case op.Outcome == "ok" && op.Answer.Replayed.Set && op.Answer.Replayed.V != o.replayed:
		return m.miss(section, "%s of %q (%s): the model says %s", op.Operation, op.Args.ID, r, o)
	}
	n := s
	after := r
	if o.next != nil {
		after = o.next
	}
	if op.Operation == "commit" && op.Args.Verified.Or(false) && !after.Verified { // contract 13: "or `verified: true` in `commit`"
		v := *after
		v.Verified = true
		after = &v
	}
	if after != r {
		after.Kept = op.passed
		n = s.put(op.slot, after.sealed(), at.from)
	}
	if op.Outcome == "unknown" {
		return []*State{n}
	}
	return m.shows(n, op.slot, op.Answer, section)
}

func (o outcome) String() string {
	switch {
	case o.code != "":
		return "refused, " + o.code
	case o.replayed:
		return "200, replayed true"
	}
	return "200, now " + o.next.String()
}

func ok(r Reservation) outcome    { return outcome{next: (&r).sealed()} }
func refused(code string) outcome { return outcome{code: code} }

var replayed = outcome{replayed: true}

// commit: contract 6, Settling is by target. "`total_units` says how much shall be committed … by now in all; omitted = all that is
// possible. A target already met answers 200 `replayed: true`; one that cannot be reached any more 409 `reservation_closed`; one above
// what was reserved 422 `exceeds_reservation`".
func commit(r *Reservation, op *Op) []outcome {
	n := *r
	open := r.outstanding()
	if op.Args.Force.Or(false) {
		return forceCommit(r, op)
	}
	if !op.Args.TotalUnits.Set || op.Args.TotalUnits.Null {
		switch {
		case open > 0:
			n.Committed += open
			return []outcome{ok(n)}
		case r.Committed == 0:
			return []outcome{refused("reservation_closed")}
		case r.used() == 0: // all was committed, and refunded since: a target met, or nothing to commit any more? Not said
			return []outcome{replayed, refused("reservation_closed")}
		}
		return []outcome{replayed}
	}
	total := op.Args.TotalUnits.V
	switch {
	case total > r.Units:
		return []outcome{refused("exceeds_reservation")}
	case total <= r.Committed:
		return []outcome{replayed}
	case total > r.Committed+open:
		return []outcome{refused("reservation_closed")}
	}
	n.Committed = total
	return []outcome{ok(n)}
}

// forceCommit: "`commit` with `force` on an expired, released or refunded reservation books the missing units to its own draws and
// windows, past any limit"; openapi: "`total_units` then says how many shall be used in all". From where the units are taken first,
// of what is reserved, released and refunded, is not said: the answer decides.
func forceCommit(r *Reservation, op *Op) []outcome {
	total := op.Args.TotalUnits.Or(r.Units)
	missing := total - r.used()
	switch {
	case total > r.Units:
		return []outcome{ok(r.grown(total))}
	case missing <= 0:
		return []outcome{replayed}
	}
	take := func(order [3]int) outcome {
		n, left := *r, missing
		from := [3]int64{r.outstanding(), r.Released, r.Refunded}
		var took [3]int64
		for _, source := range order {
			took[source] = min(left, from[source])
			left -= took[source]
		}
		n.Committed, n.Released, n.Refunded = r.Committed+took[0]+took[1], r.Released-took[1], r.Refunded-took[2]
		return ok(n)
	}
	if a := op.Answer; op.Outcome == "ok" && a.Released.Set && a.Refunded.Set {
		n := *r
		back, again := r.Released-a.Released.V, r.Refunded-a.Refunded.V
		open := missing - back - again
		if back >= 0 && again >= 0 && open >= 0 && open <= r.outstanding() {
			n.Committed, n.Released, n.Refunded = r.Committed+open+back, a.Released.V, a.Refunded.V
			return []outcome{ok(n)}
		}
	}
	return []outcome{take([3]int{0, 1, 2}), take([3]int{0, 2, 1})}
}

// grown: contract 16, Settling to what was sent. "With `force: true` (and its role) a commit may exceed what was reserved: the rest is
// booked as `force` books." The last grant pays it, unless none paid the last of the others; each cap counts it.
func (r *Reservation) grown(total int64) Reservation {
	n := *r
	n.Draws = append([]Draw(nil), r.Draws...)
	last := -1
	for i, d := range n.Draws {
		switch {
		case !d.Cap:
			last = i
		case d.Units == r.Units:
			n.Draws[i].Units = total
		}
	}
	if last >= 0 && r.Unfunded == 0 {
		n.Draws[last].Units += total - r.Units
	} else {
		n.Unfunded += total - r.Units
	}
	n.Units, n.Committed, n.Released, n.Refunded = total, total, 0, 0
	return n
}

func release(r *Reservation, op *Op) []outcome {
	n := *r
	open := r.outstanding()
	if !op.Args.TotalUnits.Set || op.Args.TotalUnits.Null {
		switch {
		case open > 0:
			n.Released += open
			return []outcome{ok(n)}
		case r.Released == 0: // guides, Enforce in your sender: "`release`, and `refund` if that is answered 409"
			return []outcome{refused("reservation_closed")}
		}
		return []outcome{replayed}
	}
	total := op.Args.TotalUnits.V
	switch {
	case total > r.Units:
		return []outcome{refused("exceeds_reservation")}
	case total <= r.Released:
		return []outcome{replayed}
	case total > r.Released+open:
		return []outcome{refused("reservation_closed")}
	}
	n.Released = total
	return []outcome{ok(n)}
}

// refund: "a refund above what is committed so far 422 `exceeds_committed`".
func refund(r *Reservation, op *Op) []outcome {
	n := *r
	if !op.Args.TotalUnits.Set || op.Args.TotalUnits.Null {
		switch {
		case r.used() > 0:
			n.Refunded = r.Committed
			return []outcome{ok(n)}
		case r.Committed == 0: // all that is possible is nothing: met, closed or too much? Not said
			return []outcome{replayed, refused("reservation_closed"), refused("exceeds_committed")}
		}
		return []outcome{replayed}
	}
	total := op.Args.TotalUnits.V
	switch {
	case total <= r.Refunded:
		return []outcome{replayed}
	case total > r.Units: // both rules hold
		return []outcome{refused("exceeds_committed"), refused("exceeds_reservation")}
	case total > r.Units-r.Released: // and it can never be reached, whatever is committed yet
		return []outcome{refused("exceeds_committed"), refused("reservation_closed")}
	case total > r.Committed:
		return []outcome{refused("exceeds_committed")}
	}
	n.Refunded = total
	return []outcome{ok(n)}
}

// extend: contract 18, "moves the end of an open reservation, never backwards".
func extend(r *Reservation, op *Op, at times) []outcome {
	if r.outstanding() == 0 {
		return []outcome{refused("reservation_closed")}
	}
	n := *r
	ttl := op.Args.TTL.Or(600) * second
	n.ExpLo, n.ExpHi = max(r.ExpLo, at.from+ttl-1000), max(r.ExpHi, at.to+ttl+1000)
	return []outcome{ok(n), replayed}
}

// feedback: contract 13, "It counts once per reservation, however often it is repeated"; openapi: "in any `state`".
func feedback(r *Reservation) []outcome {
	if r.Verified {
		return []outcome{replayed}
	}
	n := *r
	n.Verified = true
	return []outcome{ok(n)}
}
