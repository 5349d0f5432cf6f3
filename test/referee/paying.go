package main

import (
	"sort"
	"strings"
)

const boundless = int64(1) << 53

// request is what a message asks for.
type request struct {
	units, messages               int64
	country, kind, recipient, tag string
	partial, force                bool
}

func requestOf(op *Op) request {
	a := &op.Args
	r := request{units: a.Units.Or(0), messages: a.Messages.Or(1), country: a.Country.Or(""), kind: a.MessageType.Or(""),
		recipient: canonical(a.Recipient.Or("")), tag: a.Tag.Or(""), partial: a.AllowPartial.Or(false), force: a.Force.Or(false)}
	if a.Message != nil { // segments and country are taken from the answer: counting them is not the referee's
		r.recipient = canonical(a.Message.To)
		r.country, r.units = op.Answer.Country.Or(""), op.Answer.Units.Or(0)
	}
	return r
}

// canonical: contract 12, "A number counts in its canonical form, however it was written". Of numbering plans the referee knows
// nothing: only blanks, punctuation, `tel:` and the international prefix.
func canonical(text string) string {
	text = strings.TrimSpace(text)
	bare := strings.Map(func(r rune) rune {
		if strings.ContainsRune(" -./()\u00a0\u200b\u2060", r) {
			return -1
		}
		return r
	}, strings.TrimPrefix(text, "tel:"))
	digits := strings.TrimPrefix(bare, "+")
	if digits == bare && strings.HasPrefix(bare, "00") {
		digits = bare[2:]
	}
	if len(digits) < 7 || strings.Trim(digits, "0123456789") != "" {
		return text
	}
	return "+" + digits
}

// value is what a cap with `per` counts of a request; "" if it names none, and then does not match (contract 12).
func (r request) value(per string) string {
	switch per {
	case "recipient":
		return r.recipient
	case "country":
		return r.country
	case "tag":
		return r.tag
	}
	return ""
}

// matches: contract 6, Scope: "A scoped quota matches only a request that names a listed value".
func (q *Quota) matches(r request) bool {
	listed := func(list, v string) bool { return list == "" || v != "" && strings.Contains(list, ","+v+",") }
	return listed(q.Countries, r.country) && listed(q.Types, r.kind) && (q.Per == "" || r.value(q.Per) != "")
}

func (q *Quota) amount(units, messages int64) int64 {
	if q.Messages {
		return messages
	}
	return units
}

// headroom of a cap for this request.
func (q *Quota) headroom(r request) int64 {
	if q.Per != "" {
		return max(0, q.Limit-q.count(r.value(q.Per)))
	}
	return max(0, q.Limit-q.Used-q.Reserved)
}

// view is a user's matching live quotas in the windows that hold: grants in burn order, caps by id.
type view struct {
	quotas       []*Quota // by place, rolled
	grants, caps []int
}

func (s *State) view(user int64, r request, at int64) *view {
	v := &view{quotas: make([]*Quota, len(s.Quotas))}
	for i, q := range s.Quotas {
		if q.User != user || q.Deleted {
			continue
		}
		q = q.rolledTo(at)
		v.quotas[i] = q
		if !q.live(at) || !q.matches(r) {
			continue
		}
		if q.Grant {
			v.grants = append(v.grants, i)
		} else {
			v.caps = append(v.caps, i)
		}
	}
	before := func(i, j int) bool { // the order of ids; those not yet seen were made in the order of places
		a, b := v.quotas[i], v.quotas[j]
		if a.ID < 0 || b.ID < 0 {
			return i < j
		}
		return a.ID < b.ID
	}
	// contract 6, Who pays: "by `priority`, then the one whose units would be lost soonest (the earlier of expiry and window end), then
	// lowest `id`"
	sort.Slice(v.grants, func(x, y int) bool {
		i, j := v.grants[x], v.grants[y]
		a, b := v.quotas[i], v.quotas[j]
		if a.Priority != b.Priority {
			return a.Priority < b.Priority
		}
		if ea, eb := min(a.Expires, a.WindowEnd), min(b.Expires, b.WindowEnd); ea != eb {
			return ea < eb
		}
		return before(i, j)
	})
	sort.Slice(v.caps, func(x, y int) bool { return before(v.caps[x], v.caps[y]) })
	return v
}

// room is what all grants could still pay.
func (v *view) room() int64 {
	sum := int64(0)
	for _, i := range v.grants {
		if v.quotas[i].Limit < 0 {
			return boundless
		}
		sum += v.quotas[i].allRoom()
	}
	return sum
}

// remaining: contract 6, "what this same request could still draw after this answer, caps and overage applied, null if boundless".
// free: a cap on messages has room for some, and not for those of the request; whether then 0 remains is not said.
func (v *view) remaining(r request) (n int64, free bool) {
	n = v.room()
	for _, i := range v.caps {
		q := v.quotas[i]
		room := q.headroom(r)
		switch {
		case !q.Messages:
			n = min(n, room)
		case room == 0:
			n = 0
		case room < r.messages:
			free = true
		}
	}
	return n, free
}

// decision is what `reserve` answers.
type decision struct {
	reason   string // "" if granted
	limiting int    // the place of `limiting_quota_id`; -1: null, -2: not said
	units    int64
	draws    []Draw // grants in the order in which they are drawn, then caps
	unfunded int64
	forced   bool // past a limit, or meant to be
}

// decide is the rule of contract 6: Denied ("`reason` being, in this order, …"), Who pays, Force.
func (v *view) decide(r request, paused bool) decision {
	blocking := v.blocking(r)
	room := v.room()
	d := decision{units: r.units, limiting: -1}
	switch {
	case len(v.grants) == 0:
		// "the lowest blocking cap, else the last matching grant", whatever the reason.
		d.reason, d.limiting = "no_quota", blocking
	case paused:
		d.reason, d.limiting = "destination_paused", -2
	case r.partial && blocking < 0:
		unitsLeft, _ := v.remaining(r)
		d.units = min(d.units, unitsLeft)
		if d.units < 1 {
			d.reason = "quota_exhausted"
		}
	case blocking >= 0:
		d.reason, d.limiting = "cap_reached", blocking
	case room < r.units:
		d.reason = "quota_exhausted"
	}
	if d.reason == "quota_exhausted" {
		d.limiting = v.grants[len(v.grants)-1]
	}
	if d.reason == "" {
		v.draw(&d, r)
	}
	return d
}

// blocking is the lowest cap without room for the whole (for a partial grant: for one unit); -1 if there is none. Contract 6: "All
// matching caps must hold the whole." How many messages a partial grant counts is not said: all that were asked for.
func (v *view) blocking(r request) int {
	units := r.units
	if r.partial {
		units = 1
	}
	for _, i := range v.caps {
		if q := v.quotas[i]; q.headroom(r) < q.amount(units, r.messages) {
			return i
		}
	}
	return -1
}

// draw: "All matching live grants' own units first, …; then their overage in the same order." What is left of a forced booking "is
// booked on the last matching grant as overage; with none live it is `unfunded`".
func (v *view) draw(d *decision, r request) {
	left := d.units
	take := func(i int, n int64) {
		if n > 0 {
			d.draws = append(d.draws, Draw{Quota: i, Units: n, Window: v.quotas[i].WindowStart})
			left -= n
		}
	}
	for _, i := range v.grants {
		if v.quotas[i].Limit < 0 {
			take(i, left)
		} else {
			take(i, min(left, v.quotas[i].own()))
		}
	}
	for _, i := range v.grants {
		if q := v.quotas[i]; q.Limit >= 0 {
			take(i, min(left, q.allRoom()-q.own()))
		}
	}
	if left > 0 && len(v.grants) > 0 {
		take(v.grants[len(v.grants)-1], left)
	}
	d.unfunded = left
	for _, i := range v.caps {
		q := v.quotas[i]
		d.draws = append(d.draws, Draw{Quota: i, Cap: true, Units: q.amount(d.units, r.messages), Window: q.WindowStart, Value: r.value(q.Per)})
	}
}

// force is the decision past any limit.
func (v *view) force(r request) decision {
	d := decision{units: r.units, limiting: -1, forced: true}
	v.draw(&d, r)
	return d
}
