package main

import (
	"fmt"
	"strings"
)

// plan is one version of a plan: contract 10.
type plan struct {
	op          *Op
	id, version int64
	slots       []QuotaFields
}

func (c *Context) addPlan(op *Op) {
	id := op.Answer.ID.number()
	if id < 0 {
		id = op.Args.ID.number()
		if op.Args.PlanID.Set {
			id = op.Args.PlanID.V
		}
	}
	slots := op.Args.Slots
	if len(slots) == 0 {
		for _, slot := range op.Answer.Slots {
			slots = append(slots, slot.QuotaFields)
		}
	}
	version := op.Answer.Version.Or(1)
	known := len(c.plans[id])
	if id > 0 && len(slots) > 0 && (known == 0 || c.plans[id][known-1].version < version) {
		c.plans[id] = append(c.plans[id], &plan{op: op, id: id, version: version, slots: slots})
	}
	change := op.Operation != "create_plan"
	switch {
	case op.Args.IsDefault.Or(op.Operation == "put_default_plan"):
		c.defaults = append(c.defaults, defaultPlan{op, max(id, 0)})
	case change && op.Args.IsDefault.Set && len(c.defaults) > 0 && c.defaults[len(c.defaults)-1].plan == id:
		c.defaults = append(c.defaults, defaultPlan{op, 0})
	}
}

// firstUse: contract 10, Default plan: "The first `reserve` or `consume` of a user who has never had a quota gives it and is decided on
// it, in one answer". "`check` answers as if." Of two processes that begin at once, one gives it.
func (m *Model) firstUse(s *State, op *Op, at times) []*State {
	i := m.userIndex(*op.User)
	u := s.Users[i]
	var next []*State
	if u.hadQuota {
		next = append(next, s)
		if !u.erased { // "An erased user is a new one", when the erasure is finished
			return next
		}
	}
	for _, p := range m.context.defaultsAt(op) {
		if p == nil {
			next = append(next, s)
			continue
		}
		giver := m.earliestGiver(op)
		for _, given := range m.instants(s, giver) {
			if given.from > at.from {
				break
			}
			n := s
			for _, slot := range p.slots {
				n = n.with(m.ofSlot(n, slot, p, giver, given))
			}
			next = append(next, n.withUser(i, func(u *user) { u.hadQuota, u.plan, u.version, u.erased = true, p.id, p.version, false }))
		}
	}
	return distinct(next)
}

// earliestGiver is a first use as if it was decided from the time on at which the plan may have been given: guides/default-plan.md, "The
// plan begins when it is given, just before that message is decided. If a window ends between both, the message counts in the next one."
// Of calls at the same time, any may have given it.
func (m *Model) earliestGiver(op *Op) *Op {
	giver := *op
	for _, other := range m.part.Operations {
		if other.User != nil && *other.User == *op.User && other.Invoked < op.Returned && other.Returned > op.Invoked {
			giver.Lo = min(giver.Lo, other.Lo)
		}
	}
	return &giver
}

func (s *State) with(q *Quota) *State {
	n := s.clone()
	n.Quotas = append(n.Quotas, q)
	return n
}

// ofSlot is a new quota of a plan.
func (m *Model) ofSlot(s *State, slot QuotaFields, p *plan, op *Op, at times) *Quota {
	if slot.Anchor.V == "joined" { // openapi: "the day on which the user got the plan, in `time_zone`"
		day := timeIn(at.from, slot.TimeZone.Or("UTC"))
		slot.Anchor.V = fmt.Sprint(day.Day())
		if slot.Period.V == "year" {
			slot.Anchor.V = day.Format("01-02")
		}
	}
	q := newQuota(s, slot, *op.User, op, at)
	q.Plan, q.PlanVersion, q.Slot = p.id, p.version, slot.Slot
	if slot.LastsDays.Set && !slot.LastsDays.Null { // "how many days of 24 hours a user has the quota, from its `starts_at`"
		q.Expires = at.from + slot.LastsDays.V*24*3600*second
	}
	return q.sealed()
}

// givePlan is `give_plan`: contract 10, Giving.
func (m *Model) givePlan(s *State, op *Op, at times) []*State {
	const section = "contract 10, Giving"
	id := op.Args.PlanID.V
	if op.Outcome == "refused" {
		switch {
		case op.Code == "not_found" && len(m.context.plans[id]) > 0:
			return m.miss(section, "plan %d is known", id)
		case op.Code == "being_erased" && !s.Users[m.userIndex(*op.User)].erased:
			return m.miss(section, "the user is not being erased")
		}
		return []*State{s}
	}
	var next []*State
	for _, p := range m.context.plans[id] {
		if op.Outcome == "ok" && op.Answer.Plan.Set && p.version != op.Answer.Plan.V.Version || p.op.Invoked > op.Returned {
			continue
		}
		if n := m.given(s, op, p, at); n != nil {
			next = append(next, n)
		}
	}
	if len(next) == 0 {
		return m.miss(section, "no known version of plan %d leads to this answer", id)
	}
	return next
}

func (m *Model) given(s *State, op *Op, p *plan, at times) *State {
	const section = "contract 10, Giving"
	i := m.userIndex(*op.User)
	if u := s.Users[i]; u.plan == p.id && u.version == p.version && !op.Args.Reset { // "the same version again changes nothing"
		for _, slot := range op.Answer.Slots {
			if slot.Outcome != "stays" {
				m.miss(section, "the user has this version: each slot stays, and %q is %s", slot.Slot, slot.Outcome)
				return nil
			}
		}
		return s
	}
	n := s.clone()
	slots := map[string]bool{}
	for _, slot := range p.slots {
		slots[slot.Slot] = true
		answer := answerOf(op, slot.Slot)
		old := -1
		earlier := int64(0)
		for i, q := range n.Quotas {
			if q.User == *op.User && q.Plan != 0 && q.Slot == slot.Slot {
				earlier += q.Used + q.Reserved
				if !q.Deleted && q.Expires > at.from {
					old = i
				}
			}
		}
		made := m.ofSlot(n, slot, p, op, at)
		if old >= 0 && sameKind(n.Quotas[old], made, slot.Anchor.V == "joined") {
			if answer != nil && (answer.Outcome == "made" || answer.Outcome == "replaced") {
				m.miss(section, "slot %q is changed in place, and not %s", slot.Slot, answer.Outcome)
				return nil
			}
			n.Quotas[old] = changedInPlace(n.Quotas[old].rolledTo(at.from), made, op.Args.Reset)
			continue
		}
		if answer != nil {
			if answer.Outcome != "made" && answer.Outcome != "replaced" {
				m.miss(section, "slot %q is made, and not %s", slot.Slot, answer.Outcome)
				return nil
			}
			made.ID = answer.QuotaID
			// "in whose first window counts what the old one has used in its open window (unless `fresh: true`)". Which windows are
			// open when periods differ, and which count the same, is left to the answer; more than was used cannot be carried.
			if answer.Carried > earlier || answer.Carried > 0 && op.Args.Fresh {
				m.miss(section, "slot %q carries %d at most", slot.Slot, earlier)
				return nil
			}
			made.Used = answer.Carried
		} else if earlier > 0 { // an unknown outcome, and what it carried cannot be said
			m.overflow.Add(1)
			return nil
		}
		if old >= 0 {
			n.Quotas[old] = n.Quotas[old].ended(op)
		}
		n.Quotas = append(n.Quotas, made.sealed())
	}
	for i, q := range n.Quotas { // "slots that the plan no longer has end now"
		if q.User == *op.User && q.Plan != 0 && !slots[q.Slot] && !q.Deleted && q.Expires > at.from {
			n.Quotas[i] = q.ended(op)
		}
	}
	return n.withUser(i, func(u *user) { u.hadQuota, u.plan, u.version = true, p.id, p.version })
}

func answerOf(op *Op, slot string) *SlotAnswer {
	for i := range op.Answer.Slots {
		if op.Answer.Slots[i].Slot == slot {
			return &op.Answer.Slots[i]
		}
	}
	return nil
}

func (q *Quota) ended(op *Op) *Quota {
	n := *q
	n.Expires = min(n.Expires, op.Lo)
	return n.sealed()
}

// sameKind: "Where `kind`, `period`, `anchor`, `time_zone`, `per` or `counts` differ, the old quota ends, and a new one begins".
func sameKind(a, b *Quota, joined bool) bool {
	return a.Grant == b.Grant && a.Period == b.Period && (a.Anchor == b.Anchor || joined && a.Anchor != "") &&
		strings.EqualFold(a.Zone, b.Zone) && a.Per == b.Per && a.Messages == b.Messages
}

// changedInPlace: "one that has it is changed in place (counters stay; a limit below what is used is lawful)"; "Fields that an
// administrator has changed by hand on it stay so".
func changedInPlace(old, to *Quota, reset bool) *Quota {
	n := *old
	if reset {
		n.ByHand = ""
	}
	by := func(field string) bool { return !strings.Contains(n.ByHand, ","+field+",") }
	if by("limit") {
		n.Limit = to.Limit
	}
	if by("rollover_limit") {
		n.Rollover = to.Rollover
	}
	if by("overage_limit") {
		n.Overage = to.Overage
	}
	if by("priority") {
		n.Priority = to.Priority
	}
	if by("countries") {
		n.Countries = to.Countries
	}
	if by("message_types") {
		n.Types = to.Types
	}
	n.Plan, n.PlanVersion = to.Plan, to.PlanVersion
	return n.sealed()
}
