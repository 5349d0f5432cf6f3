package main

import "sort"

// Context is what concerns all users: pauses, plans, and which plan is the default. It is no state: when each of them holds follows
// from the times of its call alone.
type Context struct {
	pauses   []*pause
	plans    map[int64][]*plan // by id, versions in their order
	defaults []defaultPlan
	faults   []Fault
	epoch    int64
}

// isContext says which operations are read before the check, and are part of no user's history.
func isContext(operation string) bool {
	switch operation {
	case "create_pause", "end_pause", "create_plan", "change_plan", "put_default_plan":
		return true
	}
	return false
}

// pause: contract 13, Pauses; guarantees, "A pause holds within two seconds".
type pause struct {
	made, lifted *Op // lifted may be nil
	user         int64
	country      string
	types        string
	until        int64
}

// spread is how long other processes may not know of a pause.
const spread = 2 * second

// defaultSpread: guides, A plan for every new customer: "All processes know a new default plan after a second."
const defaultSpread = second

func contextOf(h *History) *Context {
	c := &Context{plans: map[int64][]*plan{}, faults: h.Faults, epoch: h.Epoch}
	byID := map[int64]*pause{}
	ops := append([]*Op(nil), h.Operations...)
	sort.SliceStable(ops, func(i, j int) bool { return ops[i].Invoked < ops[j].Invoked })
	for _, op := range ops {
		if op.Outcome != "ok" && op.Outcome != "unknown" {
			continue
		}
		switch op.Operation {
		case "create_pause":
			p := &pause{made: op, user: -1, country: op.Args.Country.V, types: list(op.Args.MessageTypes), until: forever}
			if op.Args.UserID.Set && !op.Args.UserID.Null {
				p.user = op.Args.UserID.V
			} else if !op.Args.UserID.Set && op.User != nil {
				p.user = *op.User
			}
			var until instant
			if op.Args.Until.V != "" && until.UnmarshalJSON([]byte(op.Args.Until.V)) == nil {
				p.until = int64(until)
			}
			if id := op.Answer.ID.number(); id > 0 {
				if byID[id] != nil { // the same key again: the first answer
					continue
				}
				byID[id] = p
			}
			c.pauses = append(c.pauses, p)
		case "end_pause":
			id := op.Args.ID.number()
			if op.Args.PauseID.Set {
				id = op.Args.PauseID.V
			}
			if p := byID[id]; p != nil && (p.lifted == nil || p.lifted.Outcome == "unknown") {
				p.lifted = op
			}
		case "create_plan", "change_plan", "put_default_plan":
			c.addPlan(op)
		}
	}
	return c
}

func (p *pause) matches(op *Op, r request) bool {
	scope := Quota{Types: p.types}
	return (p.user < 0 || p.user == *op.User) && p.country == r.country && r.country != "" && scope.matches(r)
}

// ends are the times at which a pause ends by itself: "An end is judged by the clock that follows the database's".
func (c *Context) ends(op *Op) []int64 {
	var all []int64
	for _, p := range c.pauses {
		if p.until < forever && (p.user < 0 || p.user == *op.User) {
			all = append(all, p.until)
		}
	}
	return all
}

// paused says whether a request is denied by a pause: one answer, or both where the documents leave it free.
func (c *Context) paused(op *Op, r request, at times) []bool {
	may := false
	for _, p := range c.pauses {
		if !p.matches(op, r) || at.from >= p.until || op.Returned < p.made.Invoked {
			continue
		}
		// how soon a lifting holds is not said: as soon as a pause is assumed, and no sooner in the process that was asked
		if p.lifted != nil && p.lifted.Outcome == "ok" && op.Invoked >= c.after(p.lifted, op, spread) {
			continue
		}
		may = true
		holds := p.made.Outcome == "ok" && (op.Invoked >= c.after(p.made, op, spread) || c.sameProcess(p.made, op))
		if holds && (p.lifted == nil || op.Returned < p.lifted.Invoked) && at.to < p.until {
			return []bool{true}
		}
	}
	if may {
		return []bool{false, true}
	}
	return []bool{false}
}

// after is when a change is known in every process. "beside kills and jumps of the clock the seconds count from when the database can be read again and the clock is trusted": a fault
// of the operation's service, or of none, delays it. One without an end counts for ten seconds (guarantees, Dead connections).
func (c *Context) after(change, op *Op, within int64) int64 {
	at := change.Returned + within
	for _, f := range c.faults {
		if f.Service != "" && f.Service != op.Service {
			continue
		}
		from, to := c.epoch+f.At, c.epoch+f.At+10*second
		if f.Until != nil {
			to = c.epoch + *f.Until
		}
		if from <= op.Returned && to >= change.Invoked {
			at = max(at, to+within)
		}
	}
	return at
}

// sameProcess: "it holds in the process that was asked before that one answers", unless it was stopped since.
func (c *Context) sameProcess(change, op *Op) bool {
	return change.Service == op.Service && op.Invoked >= change.Returned && c.after(change, op, spread) == change.Returned+spread
}

// defaultPlan is a change of which plan is the default.
type defaultPlan struct {
	op   *Op
	plan int64 // 0: none
}

// defaultsAt are the plans that may be the default for an operation; nil among them: none. A change holds for sure a second after its
// answer, and may from its call on.
func (c *Context) defaultsAt(op *Op) []*plan {
	var all []*plan
	changes := append([]defaultPlan{{op: &Op{Outcome: "ok"}}}, c.defaults...)
	for i, d := range changes {
		if i > 0 && op.Returned < d.op.Invoked {
			continue
		}
		replaced := false
		for _, e := range changes[i+1:] {
			replaced = replaced || e.op.Outcome == "ok" && e.op.Invoked > d.op.Returned && op.Invoked >= c.after(e.op, op, defaultSpread)
		}
		if replaced {
			continue
		}
		if d.plan == 0 || len(c.plans[d.plan]) == 0 {
			all = append(all, nil)
			continue
		}
		for _, version := range c.plans[d.plan] {
			if version.op.Invoked <= op.Returned {
				all = append(all, version)
			}
		}
	}
	return all
}
