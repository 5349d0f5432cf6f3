package main

import "strings"

// showsQuota compares an answer with a quota: contract 4, the counters "of the window that holds now".
func (m *Model) showsQuota(s *State, place int, a *Answer, at times, section string) []*State {
	q := s.Quotas[place].rolledTo(at.from)
	if a == nil || a.ID == "" {
		return []*State{s}
	}
	if a.ID.number() != q.ID {
		return m.miss(section, "quota %d, not %s", q.ID, a.ID)
	}
	if a.Limit.Set && a.Limit.Or(-1) != q.Limit {
		return m.miss(section, "quota %d has limit %d (-1 is unlimited), not %d", q.ID, q.Limit, a.Limit.V)
	}
	differs := func(shown Opt[int64], n int64) bool { return shown.Set && !shown.Null && shown.V != n }
	if q.Per == "" {
		used, reserved := a.Used, a.Reserved
		if q.Messages { // whether messages are used or reserved while some units are each is not said: only the sum is compared
			used.V, reserved.V = a.Used.V+a.Reserved.V, 0
			if differs(used, q.Used+q.Reserved) {
				return m.miss("contract 4, used and reserved", "quota %d counts %d messages, not %d", q.ID, q.Used+q.Reserved, used.V)
			}
		} else if differs(used, q.Used) || differs(reserved, q.Reserved) {
			return m.miss("contract 4, used and reserved", "quota %d has used %d, reserved %d; not %d and %d", q.ID, q.Used, q.Reserved, used.V,
				reserved.V)
		}
		if q.Limit >= 0 && (differs(a.Remaining, q.own()) || differs(a.OverageNow, max(0, q.Used+q.Reserved-q.Limit-q.Rolled))) {
			return m.miss("contract 4, remaining and overage", "quota %d has %d remaining, not %d", q.ID, q.own(), a.Remaining.V)
		}
	}
	if differs(a.RolledOver, q.Rolled) {
		return m.miss("contract 4, Rolling", "quota %d carried %d, not %d", q.ID, q.Rolled, a.RolledOver.V)
	}
	if want := q.status(at.from); a.Status != "" && string(a.Status) != want && string(a.Status) != q.status(at.to) {
		return m.miss("contract 4, Status", "quota %d is %s, not %s", q.ID, want, a.Status)
	}
	return []*State{s}
}

// status: contract 4, "first match wins".
func (q *Quota) status(at int64) string {
	at = max(at, q.WindowStart)
	switch {
	case q.Deleted:
		return "deleted"
	case at >= q.Expires:
		return "expired"
	case !q.Enabled:
		return "suspended"
	case at < q.StartsLo:
		return "scheduled"
	case q.Per == "" && q.Limit >= 0 && q.allRoom() == 0:
		return "exhausted"
	}
	return "active"
}

// listQuotas compares a user's quotas as read: contract 5, "Counters and status are shown as of now, rolled"; "One snapshot".
func (m *Model) listQuotas(s *State, op *Op, at times) []*State {
	if op.Outcome != "ok" {
		return []*State{s}
	}
	shown := map[int]bool{}
	for _, item := range op.Answer.Items {
		if item.Status == "deleted" {
			continue
		}
		place := s.place(item.ID.number())
		for i, q := range s.Quotas { // one whose id was not seen yet
			if place < 0 && q.ID < 0 && q.User == *op.User && !shown[i] && q.Grant == (item.Kind.V == "grant") && q.Limit == item.Limit.Or(-1) &&
				q.Period == item.Period.Or("") {
				place = i
				s = s.named(i, item.ID.number())
			}
		}
		if place < 0 || s.Quotas[place].Deleted || s.Quotas[place].User != *op.User {
			return m.miss("contract 5", "quota %s is none of the user's", item.ID)
		}
		shown[place] = true
		next := m.showsQuota(s, place, item, at, "contract 5")
		if next == nil {
			return nil
		}
		s = next[0]
	}
	if op.wholeList() {
		for i, q := range s.Quotas {
			if q.User == *op.User && !q.Deleted && !shown[i] {
				return m.miss("guarantees, Acknowledged means durable", "the list lacks %s", q)
			}
		}
	}
	return []*State{s}
}

// shows compares an answer with the reservation as it stands: openapi, Reservation.
func (m *Model) shows(s *State, slot int, a *Answer, section string) []*State {
	r := s.Res[slot]
	differs := func(shown Opt[int64], n int64) bool { return shown.Set && shown.V != n }
	switch {
	case a.State != "" && a.State != r.state(), differs(a.Units, r.Units), differs(a.Committed, r.Committed),
		differs(a.Released, r.Released), differs(a.Refunded, r.Refunded):
		return m.miss(section+"; States", "%q shows %s, units %d, committed %d, released %d, refunded %d; the model has %s", m.part.ids[slot].id,
			a.State, a.Units.V, a.Committed.V, a.Released.V, a.Refunded.V, r)
	case differs(a.Unfunded, r.Unfunded):
		return m.miss("contract 6, Force", "unfunded %d", r.Unfunded)
	case a.Verified.Set && a.Verified.V != r.Verified:
		return m.miss("contract 13", "verified %v", r.Verified)
	}
	for _, d := range a.Draws.V { // whether units given back are still shown is not said: only where they were drawn is compared
		known := false
		for _, own := range r.Draws {
			q := s.Quotas[own.Quota]
			if q.ID < 0 && s.place(d.QuotaID) < 0 && own.Cap == (d.Kind == "cap") {
				s = s.named(own.Quota, d.QuotaID)
				q = s.Quotas[own.Quota]
			}
			known = known || q.ID == d.QuotaID && d.Units <= own.Units+r.Units && q.shownAs(own.Window, d.WindowStart)
		}
		if !known {
			return m.miss("contract 6, Windows", "%q draws %s, not on quota %d in that window", m.part.ids[slot].id, m.drawsText(s, r.Draws), d.QuotaID)
		}
	}
	if at := a.ExpiresAt; at.Set && !r.Own {
		open := r.outstanding() > 0
		if at.Null == open || open && (int64(at.V) < r.ExpLo || int64(at.V) > r.ExpHi) {
			return m.miss("openapi, Reservation.expires_at", "%q expires between %s if units are outstanding (%d are), else null", m.part.ids[slot].id,
				span(r.ExpLo, r.ExpHi), r.outstanding())
		}
		if open && r.ExpLo != r.ExpHi {
			n := *r
			n.ExpLo, n.ExpHi = int64(at.V), int64(at.V)
			s = s.clone()
			s.Res[slot] = n.sealed()
		}
	}
	return []*State{s}
}

// readReservations compares what an administrator or a sender reads of reservations.
func (m *Model) readReservations(s *State, op *Op) []*State {
	if op.Outcome != "ok" {
		if op.Operation == "get_reservation" && op.Code == "not_found" {
			for i, id := range m.part.ids {
				if s.Res[i] != nil && !s.Res[i].mayBeGone(op) && id.user == *op.User && id.id == string(op.Args.ID) {
					return m.miss("guarantees, Once per id", "%q is known: %s", id.id, s.Res[i])
				}
			}
		}
		return []*State{s}
	}
	shown := map[string]*Answer{}
	items := op.Answer.Items
	if op.Operation == "get_reservation" {
		items = []*Answer{op.Answer}
	}
	for _, item := range items {
		shown[string(item.ID)] = item
	}
	complete := op.Operation == "list_reservations" && op.wholeList()
	states := []*State{s}
	known := map[string]bool{}
	for i, id := range m.part.ids {
		if id.user != *op.User {
			continue
		}
		known[id.id] = true
		var next []*State
		item := shown[id.id]
		for _, s := range states {
			r := s.Res[i]
			switch {
			case r == nil && (item == nil || strings.HasPrefix(id.id, "_")): // of a transfer that a call of unknown outcome made
				next = append(next, s)
			case r == nil:
				m.miss("guarantees, Once per id", "no reservation %q was made", id.id)
			case item == nil && complete && !r.mayBeGone(op) && !r.Own:
				m.miss("guarantees, Acknowledged means durable", "%q is missing: %s", id.id, r)
			case item == nil:
				next = append(next, s)
			default:
				next = append(next, m.shows(s, i, item, "contract 6")...)
			}
		}
		states = distinct(next)
	}
	for id := range shown {
		if len(id) > 0 && id[0] != '_' && !known[id] {
			return m.miss("guarantees, Once per id", "no operation made the reservation %q", id)
		}
	}
	return states
}
