package main

import (
	"fmt"
	"math/bits"
	"sort"
)

// withExpiries lets some of the reservations whose time is over be closed before the operation. Guarantees, Time: "An expired
// reservation is closed by the next call that meets it or by the sweeper, soon after its time but not at it." Contract 6: "A
// reservation is open until the service has closed it, at or soon after `expires_at`". How soon is not said, nor whether a call on
// another id meets it: it may stay open for any time here, but for calls on its own id.
//
// A closing that makes no difference to the answer can as well come later. So larger sets are left out where a smaller one leads to
// the answer, except for a reservation whose window is about to close and carry what is unused.
//
// A part is first checked with closings in the order of their times (inOrder). What is legal so is legal; else all sets are tried.
func (m *Model) withExpiries(s *State, op *Op, at times) []*State {
	var expired []int
	for i, r := range s.Res {
		if r != nil && i != op.slot && r.outstanding() > 0 && r.ExpLo <= at.to {
			expired = append(expired, i)
		}
	}
	if len(expired) == 0 {
		return m.apply(s, op, at)
	}
	sort.SliceStable(expired, func(i, j int) bool { return s.Res[expired[i]].ExpLo < s.Res[expired[j]].ExpLo })
	return m.withClosings(s, op, at, expired)
}

// closings are the sets of expired reservations to try, small ones first, as bits of their places in the list.
func (m *Model) closings(s *State, expired []int) []uint64 {
	var sets []uint64
	if m.inOrder { // those whose time is not exactly known have no place in the order
		loose, exact := []uint64{0}, []uint64{0}
		for i, slot := range expired {
			bit := uint64(1) << i
			if r := s.Res[slot]; r.ExpLo == r.ExpHi || len(loose) >= 64 {
				exact = append(exact, exact[len(exact)-1]|bit)
				continue
			}
			for _, set := range loose[:len(loose):len(loose)] {
				loose = append(loose, set|bit)
			}
		}
		for _, l := range loose {
			for _, e := range exact {
				sets = append(sets, l|e)
			}
		}
	} else {
		for set := uint64(0); set < 1<<len(expired); set++ {
			sets = append(sets, set)
		}
	}
	sort.SliceStable(sets, func(i, j int) bool { return bits.OnesCount64(sets[i]) < bits.OnesCount64(sets[j]) })
	return sets
}

func (m *Model) withClosings(s *State, op *Op, at times, expired []int) []*State {
	if len(expired) > 60 || !m.inOrder && len(expired) > mostExpired {
		m.overflow.Add(1)
		return nil
	}
	sensitive := uint64(0)
	for i, slot := range expired {
		if s.carriesWith(s.Res[slot], at) {
			sensitive |= 1 << i
		}
	}
	type way struct {
		set    uint64
		effect string // what an operation of unknown outcome did; all others do what their answer says
	}
	var accepted []way
	known := func(set uint64, effect string) bool {
		for _, a := range accepted {
			if a.set&set == a.set && (set^a.set)&sensitive == 0 && a.effect == effect {
				return true
			}
		}
		return false
	}
	var next []*State
	for _, set := range m.closings(s, expired) {
		if op.Outcome != "unknown" && known(set, "") {
			continue
		}
		closed := s
		for i, slot := range expired {
			if set&(1<<i) != 0 {
				closed = closed.expire(slot, s.Res[slot].ExpLo)
			}
		}
		var ways []way
		for _, found := range m.apply(closed, op, at) {
			effect := ""
			if op.Outcome == "unknown" {
				if op.slot < 0 {
					effect = fmt.Sprint(set) // what an administrator's change did is not compared: each counts
				} else if r := found.Res[op.slot]; r != nil {
					effect = r.text()
				}
				if known(set, effect) {
					continue
				}
			}
			next, ways = append(next, found), append(ways, way{set, effect})
		}
		accepted = append(accepted, ways...)
		if len(next) > most {
			m.overflow.Add(1)
			return nil
		}
	}
	return next
}

// carriesWith: the reservation counts in a window that has ended by then, may have expired within it, and whose rest is carried on.
func (s *State) carriesWith(r *Reservation, at times) bool {
	for _, d := range r.Draws {
		q := s.Quotas[d.Quota]
		if q.Rollover > 0 && q.WindowStart == d.Window && q.WindowEnd <= at.to && r.ExpLo < q.WindowEnd {
			return true
		}
	}
	return false
}
