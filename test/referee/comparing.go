package main

import (
	"fmt"
	"sort"
)

// compareDecision is the state after an answer that the decision gives; nil if it gives another one.
func (m *Model) compareDecision(s *State, op *Op, r request, v *view, d decision, would string, at times) *State {
	const section = "contract 6, Who pays"
	granted := op.Outcome == "ok"
	switch {
	case op.Outcome == "refused":
		m.miss("contract 6, Asking again", "the id is not known, so %s is no answer: the model says %s", op.Code, m.says(s, d))
		return nil
	case granted != (d.reason == ""):
		m.miss(map[bool]string{true: "contract 6, Denied", false: section}[granted], "the model says %s", m.says(s, d))
		return nil
	case !granted:
		return m.compareDenial(s, op, r, v, d, at)
	}
	a := op.Answer
	if a.WouldDeny != "" && a.WouldDeny != would || m.history.Observe && a.WouldDeny != would {
		m.miss("contract 6, Observe mode", "would_deny %q, not %q", would, a.WouldDeny)
		return nil
	}
	if a.Replayed.Or(false) {
		m.miss("guarantees, Once per id", "replayed true, and this id was never granted")
		return nil
	}
	if a.Units.Set && a.Units.V != d.units || a.Unfunded.Set && a.Unfunded.V != d.unfunded {
		m.miss(section, "%d units, %d of them unfunded", d.units, d.unfunded)
		return nil
	}
	if s = m.compareDraws(s, op, v, &d); s == nil {
		return nil
	}
	after := v
	if op.Operation != "check" {
		res := made(op, r, d)
		if shown := a.ExpiresAt; shown.Set && !shown.Null {
			if at := int64(shown.V); res.Consume || at < res.ExpLo || at > res.ExpHi {
				m.miss("openapi, ttl_seconds", "expires_at between %s", span(res.ExpLo, res.ExpHi))
				return nil
			}
			next := *res
			next.ExpLo, next.ExpHi = int64(shown.V), int64(shown.V)
			res = next.sealed()
		}
		if a.State != "" && a.State != res.state() {
			m.miss("contract 6, States", "state %s, not %s", res.state(), a.State)
			return nil
		}
		s = s.put(op.slot, res, at.from)
		after = s.view(*op.User, r, at.from)
	}
	if !m.compareRemaining(op, after, r) {
		return nil
	}
	return s
}

func (m *Model) compareRemaining(op *Op, v *view, r request) bool {
	shown := op.Answer.Remaining
	if !shown.Set {
		return true
	}
	n, free := v.remaining(r)
	if shown.Null && n == boundless || !shown.Null && (shown.V == n || free && shown.V == 0) {
		return true
	}
	want := fmt.Sprint(n)
	if n == boundless {
		want = "null"
	}
	m.miss("contract 6, Granted: `remaining`", "remaining %s, not %v", want, shown.V)
	return false
}

// compareDenial: contract 6, Denied.
func (m *Model) compareDenial(s *State, op *Op, r request, v *view, d decision, at times) *State {
	if op.Reason != d.reason {
		m.miss("contract 6, Denied: `reason`", "%s, not %s", d.reason, op.Reason)
		return nil
	}
	if shown := op.Answer.Limiting; shown.Set && d.limiting != -2 {
		want := int64(-1)
		if d.limiting >= 0 {
			if s.Quotas[d.limiting].ID < 0 && !shown.Null && s.place(shown.V) < 0 {
				s = s.named(d.limiting, shown.V)
			}
			want = s.Quotas[d.limiting].ID
		}
		if shown.Null != (want == -1) || !shown.Null && shown.V != want {
			m.miss("contract 6, Denied: `limiting_quota_id`", "%d, not %d (-1 is null)", want, shown.V)
			return nil
		}
	}
	if d.reason == "destination_paused" { // guides, Pause a country: "remaining":0
		if shown := op.Answer.Remaining; shown.Set && (shown.Null || shown.V != 0) {
			m.miss("guides, Pause a country", "remaining 0, not %d", shown.V)
			return nil
		}
	} else if !m.compareRemaining(op, v, r) {
		return nil
	}
	if shown := op.Answer.RetryAt; shown.Set && !shown.Null && int64(shown.V) < at.from-1000 {
		m.miss("openapi, retry_at", "a time to come, not %s", clock(int64(shown.V)))
		return nil
	}
	return s
}

// compareDraws takes the draws of the answer for those of the decision, if they are the same units of the same quotas in the same order.
// Whether own units and overage of one grant are one entry or two is not said: both are accepted, and the answer decides.
func (m *Model) compareDraws(s *State, op *Op, v *view, d *decision) *State {
	if !op.Answer.Draws.Set {
		return s
	}
	var shown []Draw
	for _, x := range op.Answer.Draws.V {
		place := s.place(x.QuotaID)
		if place < 0 && x.QuotaID == 0 && op.Operation == "check" { // guides, A plan for every new customer: "`quota_id` is 0"
			return s
		}
		if place < 0 { // the first answer that shows it: it is the first not yet seen that the decision draws on
			for _, e := range d.draws {
				if s.Quotas[e.Quota].ID < 0 && e.Cap == (x.Kind == "cap") && e.Units == x.Units {
					place = e.Quota
					s = s.named(place, x.QuotaID)
					break
				}
			}
		}
		if place < 0 {
			m.miss("contract 6, Who pays", "quota %d is none of the user's; the model draws %s", x.QuotaID, m.drawsText(s, d.draws))
			return nil
		}
		if q := v.quotas[place]; q == nil || !q.shownAs(q.WindowStart, x.WindowStart) {
			m.miss("contract 6, Windows", "a draw on quota %d in another window than the one that holds (%s)", x.QuotaID, s.Quotas[place])
			return nil
		}
		shown = append(shown, Draw{Quota: place, Units: x.Units, Cap: x.Kind == "cap"})
	}
	sort.SliceStable(shown, func(i, j int) bool { return !shown[i].Cap && shown[j].Cap })
	grants := func(draws []Draw) []Draw {
		for i, x := range draws {
			if x.Cap {
				return draws[:i]
			}
		}
		return draws
	}
	for _, want := range [][]Draw{d.draws, mergeDraws(d.draws)} {
		if len(want) != len(shown) || !sameDraws(grants(want), grants(shown), true) {
			continue
		}
		if n := len(grants(want)); sameDraws(want[n:], shown[n:], false) {
			d.draws = want
			return s
		}
	}
	m.miss("contract 6, Who pays", "draws %s, not %s", m.drawsText(s, d.draws), m.drawsText(s, shown))
	return nil
}

func sameDraws(a, b []Draw, ordered bool) bool {
	if len(a) != len(b) {
		return false
	}
	for i, x := range a {
		found := false
		for j, y := range b {
			if x.Quota == y.Quota && x.Units == y.Units && (i == j || !ordered) {
				found = true
			}
		}
		if !found {
			return false
		}
	}
	return true
}

func (m *Model) says(s *State, d decision) string {
	if d.reason != "" {
		text := "denied, " + d.reason
		if d.limiting >= 0 {
			text += fmt.Sprintf(", by quota %d", s.Quotas[d.limiting].ID)
		}
		return text
	}
	return fmt.Sprintf("granted %d units, draws %s", d.units, m.drawsText(s, d.draws))
}

func (m *Model) drawsText(s *State, draws []Draw) string {
	text := "["
	for i, d := range draws {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%d of quota %d", d.Units, s.Quotas[d.Quota].ID)
	}
	return text + "]"
}
