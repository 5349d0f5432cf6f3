package main

// transfer is contract 11: "Units leave the giver's grant and become a one-time grant of the receiver, with the giver's scope, that ends
// when the giver's units would have ended (window end or expiry) or earlier if asked."
func (m *Model) transfer(s *State, op *Op, at times) []*State {
	const section = "contract 11"
	place := s.place(op.Args.quota())
	if place < 0 || s.Quotas[place].User != *op.User || s.Quotas[place].Deleted {
		if op.Outcome == "unknown" || op.Code == "not_found" || op.Code == "not_transferable" {
			return []*State{s}
		}
		return m.miss(section, "the user has no quota %d", op.Args.quota())
	}
	q := s.Quotas[place].rolledTo(at.from)
	units := op.Args.Units.V
	// guides, Hand units on: "A cap, an unlimited and a suspended quota have none: 422 `not_transferable`"
	can := q.Grant && q.Limit >= 0 && q.live(at.from)
	enough := can && q.own() >= units // "Only what is unused and unreserved can go, no overage"
	erased := s.Users[m.userIndex(op.Args.ToUser.V)].erased || s.Users[m.userIndex(*op.User)].erased
	switch {
	case op.Outcome == "refused" && op.Code == "not_transferable" && !can, op.Code == "not_enough_units" && can && !enough,
		op.Code == "being_erased" && erased, op.Code == "idempotency_mismatch":
		return []*State{s}
	case op.Outcome == "unknown" && !enough:
		return []*State{s}
	case op.Outcome == "ok" && op.Answer.Transfer != nil && op.slot >= 0 && s.Res[op.slot] != nil:
		return []*State{s} // the same `Idempotency-Key`: the first answer, and nothing moves
	case op.Outcome == "refused" || !enough:
		return m.miss(section, "%d units are neither used nor reserved (transferable: %v), %d are asked for", q.own(), can, units)
	}
	n := s.clone()
	n.Quotas[place] = q
	if op.slot >= 0 { // "booked like a send (a reservation `_transfer:{id}` of the service's own …)"
		r := &Reservation{User: *op.User, Own: true, Asked: units, Units: units, Committed: units, ExpLo: forever, ExpHi: forever,
			Draws: []Draw{{Quota: place, Units: units, Window: q.WindowStart}}}
		n = n.put(op.slot, r.sealed(), at.from)
	} else {
		n.Quotas[place] = q.plus(units, 0, "")
	}
	to := op.Args.ToUser.V
	got := &Quota{Key: keyOf(op), ID: -int64(len(n.Quotas)) - 1, User: to, Grant: true, Limit: units, Zone: "UTC", Priority: q.Priority, StartsLo: op.Lo,
		StartsHi: op.Hi, Expires: min(q.Expires, q.WindowEnd, int64(op.Args.ExpiresAt.Or(instant(forever)))), Countries: q.Countries,
		Types: q.Types, Enabled: true, WindowEnd: forever}
	if op.Answer.Transfer != nil && op.Answer.Transfer.ToQuota.Set {
		got.ID = op.Answer.Transfer.ToQuota.V
	}
	variants := []int64{q.Priority}
	if q.Priority != 100 { // whether the receiver's grant has the giver's priority or the default is not said
		variants = append(variants, 100)
	}
	var next []*State
	for _, priority := range variants {
		g := *got
		g.Priority = priority
		with := n.with(g.sealed()).withUser(m.userIndex(to), func(u *user) { u.hadQuota = true })
		if op.Outcome == "unknown" || op.Answer.Quota == nil {
			next = append(next, with)
			continue
		}
		next = append(next, m.showsQuota(with, place, op.Answer.Quota, at, section)...)
	}
	return next
}
