package main

import (
	"sort"
	"strings"
	"time"
)

func timeIn(at int64, zoneName string) time.Time { return time.UnixMicro(at).In(zone(zoneName)) }

// list is a list of a scope as text.
func list(values Opt[[]string]) string {
	if !values.Set || values.Null || len(values.V) == 0 {
		return ""
	}
	sorted := append([]string(nil), values.V...)
	sort.Strings(sorted)
	return "," + strings.Join(sorted, ",") + ","
}

// newQuota is a quota with the defaults of contract 4.
func newQuota(s *State, f QuotaFields, user int64, op *Op, at times) *Quota {
	q := &Quota{ID: -int64(len(s.Quotas)) - 1, User: user, Grant: f.Kind.Or("grant") == "grant", Limit: f.Limit.Or(-1), Period: f.Period.Or(""),
		Anchor: f.Anchor.Or(""), Zone: f.TimeZone.Or("UTC"), Per: f.Per.Or(""), Rollover: f.Rollover.Or(0), Overage: f.Overage.Or(0),
		Priority: f.Priority.Or(100), Expires: int64(f.ExpiresAt.Or(instant(forever))), Countries: list(f.Countries),
		Types: list(f.MessageTypes), Enabled: f.Enabled.Or(true), Ref: f.ExternalRef.Or("")}
	q.Messages = f.Counts.Or(map[bool]string{true: "units", false: "messages"}[q.Per == ""]) == "messages"
	q.StartsLo, q.StartsHi = op.Lo, op.Hi
	first := at.from
	if f.StartsAt.Set && !f.StartsAt.Null {
		q.StartsLo, q.StartsHi = int64(f.StartsAt.V), int64(f.StartsAt.V)
		first = max(first, q.StartsLo) // "a past one on create opens the window that holds now"; "before the start the first window"
	}
	q.WindowStart, q.WindowEnd = windowAt(q.Period, q.Anchor, q.Zone, first)
	return q.sealed()
}

// mayMake are the quotas that an operation may make: their first window depends on when it was decided.
func (m *Model) mayMake(op *Op) []QuotaFields {
	switch op.Operation {
	case "create_quota":
		return []QuotaFields{op.Args.QuotaFields}
	case "give_plan", "reserve", "consume", "check":
		var all []QuotaFields
		for _, versions := range m.context.plans {
			for _, p := range versions {
				all = append(all, p.slots...)
			}
		}
		return all
	}
	return nil
}

// administer is what administrators do and read.
func (m *Model) administer(s *State, op *Op, at times) []*State {
	if n := s.answeredAgain(op); n != nil {
		return []*State{n}
	}
	switch op.Operation {
	case "create_quota":
		return m.createQuota(s, op, at)
	case "change_quota", "adjust_quota", "delete_quota":
		return m.onQuota(s, op, at)
	case "give_plan":
		return m.givePlan(s, op, at)
	case "transfer":
		return m.transfer(s, op, at)
	case "list_quotas":
		return m.listQuotas(s, op, at)
	case "erase_user":
		return m.erase(s, op)
	}
	return []*State{s} // tooLarge leaves out parts with others
}

var modeled = map[string]bool{"reserve": true, "consume": true, "check": true, "commit": true, "release": true, "refund": true, "extend": true,
	"feedback": true, "list_reservations": true, "get_reservation": true, "create_quota": true, "change_quota": true, "adjust_quota": true,
	"delete_quota": true, "give_plan": true, "transfer": true, "list_quotas": true, "erase_user": true}

// answeredAgain is the state after a call whose `Idempotency-Key` one of unknown outcome had that took effect; nil if there was none.
// guarantees, Once per id: "takes effect once, and its repetition gets the first answer".
func (s *State) answeredAgain(op *Op) *State {
	for i, q := range s.Quotas {
		if op.Key == "" || q.Key != op.Key {
			continue
		}
		id := op.Answer.ID.number()
		if op.Answer.Transfer != nil {
			id = op.Answer.Transfer.ToQuota.V
		}
		if op.Outcome == "ok" && q.ID < 0 && id > 0 {
			return s.named(i, id)
		}
		if op.Outcome == "unknown" || q.ID == id {
			return s
		}
	}
	return nil
}

// keyOf is the key by which a repetition finds what a call has made.
func keyOf(op *Op) string {
	if op.Outcome == "unknown" {
		return op.Key
	}
	return ""
}

func (m *Model) createQuota(s *State, op *Op, at times) []*State {
	const section = "contract 4"
	i := m.userIndex(*op.User)
	ref := op.Args.ExternalRef.Or("")
	taken := false
	for _, q := range s.Quotas {
		taken = taken || ref != "" && q.User == *op.User && !q.Deleted && q.Ref == ref
	}
	switch {
	case op.Outcome == "refused" && op.Code == "being_erased" && s.Users[i].erased, op.Code == "conflict" && taken,
		op.Code == "idempotency_mismatch", op.Code == "not_found":
		return []*State{s}
	case op.Outcome == "refused":
		return m.miss(section, "the quota is created, and not refused with %s", op.Code)
	case op.Outcome == "ok" && s.place(op.Answer.ID.number()) >= 0: // the same `Idempotency-Key`: the same answer
		return []*State{s}
	case taken:
		if op.Outcome == "unknown" {
			return []*State{s}
		}
		return m.miss(section+", external_ref", "%q is taken: 409 conflict", ref)
	}
	fields := op.Args.QuotaFields
	if op.Answer.StartsAt.Set {
		fields.StartsAt = op.Answer.StartsAt
	}
	q := *newQuota(s, fields, *op.User, op, at)
	if op.Outcome == "ok" {
		q.ID = op.Answer.ID.number()
	}
	q.Key = keyOf(op)
	q.Used = op.Args.OpeningUsed.Or(0) // "units already used elsewhere in this window"
	n := s.with((&q).sealed()).withUser(i, func(u *user) { u.hadQuota = true })
	if op.Outcome == "unknown" {
		return []*State{n}
	}
	return m.showsQuota(n, len(n.Quotas)-1, op.Answer, at, section)
}

// onQuota is a call on a quota that exists. One whose id was not seen yet may be any of those: then each is tried.
func (m *Model) onQuota(s *State, op *Op, at times) []*State {
	id := op.Args.quota()
	places := []int{}
	if at := s.place(id); at >= 0 {
		places = append(places, at)
	} else {
		for i, q := range s.Quotas {
			if q.ID < 0 && q.User == *op.User {
				places = append(places, i)
				s = s.named(i, id)
				break
			}
		}
	}
	if len(places) == 0 || s.Quotas[places[0]].Deleted {
		if op.Outcome == "unknown" || op.Code == "not_found" {
			return []*State{s}
		}
		return m.miss("contract 4", "no quota %d: 404 not_found", id)
	}
	if op.Code == "not_found" {
		return m.miss("contract 4", "quota %d exists: %s", id, s.Quotas[places[0]])
	}
	if op.Operation == "delete_quota" {
		if op.Outcome == "refused" {
			return m.miss("contract 4", "quota %d is deleted, and not refused with %s", id, op.Code)
		}
		q := *s.Quotas[places[0]]
		q.Deleted = true
		n := s.clone()
		n.Quotas[places[0]] = (&q).sealed()
		return []*State{n}
	}
	return m.change(s, op, places[0], at)
}

// change is `change_quota` ("PUT merges: an omitted field stays, null clears a nullable one") and `adjust_quota`.
func (m *Model) change(s *State, op *Op, place int, at times) []*State {
	const section = "contract 4, PUT"
	old := s.Quotas[place].rolledTo(at.from)
	a := &op.Args
	if op.Operation == "adjust_quota" && op.Answer.ID != "" && op.Answer.ID.number() != old.ID {
		return m.extra(s, op, old, at)
	}
	if op.Operation == "adjust_quota" && op.Outcome == "unknown" && a.Until.Set {
		m.overflow.Add(1)
		return nil
	}
	q, immutable := changed(old, op, at)
	below := !q.roomFor(old)
	perhaps := old.Per != "" // what is used of a cap with `per` is not said
	switch {
	case op.Outcome == "refused" && op.Code == "below_usage" && (below || perhaps), op.Code == "immutable_field" && immutable,
		op.Code == "conflict" && a.ExternalRef.Set, op.Code == "idempotency_mismatch", op.Code == "being_erased":
		return []*State{s}
	case op.Outcome == "unknown" && (below || immutable):
		return []*State{s}
	case immutable:
		return m.miss(section, "422 immutable_field")
	case below && !a.BelowUsage.Or(false) && !perhaps:
		return m.miss(section, "422 below_usage: %d are used or reserved, and the limit would be %d", old.Used+old.Reserved, q.Limit)
	case op.Outcome == "refused":
		return m.miss(section, "it is changed, and not refused with %s", op.Code)
	}
	n := s.clone()
	n.Quotas[place] = q.sealed()
	if op.Outcome == "unknown" {
		return []*State{n}
	}
	return m.showsQuota(n, place, op.Answer, at, section)
}

// changed is a quota after a change, and whether the change touches what cannot change.
func changed(old *Quota, op *Op, at times) (*Quota, bool) {
	a := &op.Args
	q := *old
	by := func(field string, set bool, change func()) {
		if !set {
			return
		}
		change()
		if q.Plan != 0 && !strings.Contains(q.ByHand, ","+field+",") {
			q.ByHand += "," + field + ","
		}
	}
	by("limit", a.Limit.Set, func() { q.Limit = a.Limit.Or(-1) })
	by("limit", a.Delta.Set && q.Limit >= 0, func() { q.Limit += a.Delta.V })
	by("rollover_limit", a.Rollover.Set, func() { q.Rollover = a.Rollover.V })
	by("overage_limit", a.Overage.Set, func() { q.Overage = a.Overage.V })
	by("priority", a.Priority.Set, func() { q.Priority = a.Priority.V })
	by("countries", a.Countries.Set, func() { q.Countries = list(a.Countries) })
	by("message_types", a.MessageTypes.Set, func() { q.Types = list(a.MessageTypes) })
	by("enabled", a.Enabled.Set, func() { q.Enabled = a.Enabled.V })
	by("external_ref", a.ExternalRef.Set, func() { q.Ref = a.ExternalRef.Or("") })
	by("expires_at", a.ExpiresAt.Set, func() { q.Expires = int64(a.ExpiresAt.Or(instant(forever))) })
	differs := func(o Opt[string], now string) bool { return o.Set && !strings.EqualFold(o.Or(""), now) }
	immutable := differs(a.Period, q.Period) || differs(a.Anchor, q.Anchor) || differs(a.Per, q.Per) ||
		differs(a.Kind, map[bool]string{true: "grant", false: "cap"}[q.Grant])
	if a.StartsAt.Set && !a.StartsAt.Null { // "✓ until reached"
		to := int64(a.StartsAt.V)
		switch {
		case at.from >= q.StartsLo:
			immutable = immutable || to < q.StartsLo-1000 || to > q.StartsHi+1000
		default:
			q.StartsLo, q.StartsHi = to, to
			q.WindowStart, q.WindowEnd = windowAt(q.Period, q.Anchor, q.Zone, max(at.from, to))
		}
	}
	return &q, immutable
}

// roomFor: "A limit or overage limit that would leave used + reserved above limit + rolled_over + overage_limit is 422 `below_usage` …
// A change that adds room is never refused for it".
func (q *Quota) roomFor(old *Quota) bool {
	if q.Limit < 0 || q.Limit == old.Limit && q.Overage == old.Overage {
		return true
	}
	more := old.Limit >= 0 && q.Limit+q.Overage >= old.Limit+old.Overage
	return more || q.Used+q.Reserved <= q.Limit+q.Rolled+q.Overage
}

// extra is an adjustment with `until: window_end`: openapi, "they end with its current window, and are a grant of their own, for the
// same messages".
func (m *Model) extra(s *State, op *Op, of *Quota, at times) []*State {
	if s.place(op.Answer.ID.number()) >= 0 {
		return []*State{s}
	}
	fields := op.Answer.QuotaFields
	q := *newQuota(s, fields, *op.User, op, at)
	q.ID, q.Limit = op.Answer.ID.number(), op.Args.Delta.V
	if q.Expires != min(of.WindowEnd, of.Expires) || q.Countries != of.Countries || q.Types != of.Types {
		return m.miss("openapi, AdjustReq.until", "a grant for the same messages that ends at %s", clock(min(of.WindowEnd, of.Expires)))
	}
	n := s.with((&q).sealed())
	return m.showsQuota(n, len(n.Quotas)-1, op.Answer, at, "openapi, AdjustReq.until")
}

// erase is `erase_user`: openapi, "Deletes all quotas of the user at once, and then everything else in the background." When that is
// finished is not known: reservations may be there or not.
func (m *Model) erase(s *State, op *Op) []*State {
	if op.Outcome == "refused" {
		return []*State{s}
	}
	n := s.clone()
	for i, q := range n.Quotas {
		if q.User == *op.User && !q.Deleted {
			d := *q
			d.Deleted = true
			n.Quotas[i] = d.sealed()
		}
	}
	for i, r := range n.Res {
		if r != nil && r.User == *op.User {
			e := *r
			e.Erased = true
			n.Res[i] = e.sealed()
		}
	}
	return []*State{n.withUser(m.userIndex(*op.User), func(u *user) { u.erased, u.plan, u.version = true, 0, 0 })}
}
