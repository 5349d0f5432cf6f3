package main

import (
	"fmt"
	"sort"
)

// Quota is a grant or a cap with the counters of the window it stands in (contract 4). It is never changed once sealed.
type Quota struct {
	ID                          int64 // negative: made, and not yet seen in an answer
	User                        int64
	Grant                       bool
	Limit                       int64 // -1: unlimited
	Period, Anchor, Zone, Per   string
	Messages                    bool // counts messages, not units
	Rollover, Overage, Priority int64
	StartsLo, StartsHi          int64 // when it starts, as far as known
	Expires                     int64
	Countries, Types            string // ",DE,FR,"; "" is all
	Enabled, Deleted            bool
	Ref                         string
	Plan, PlanVersion           int64
	Slot, ByHand                string
	WindowStart, WindowEnd      int64
	Rolled, Used, Reserved      int64
	Values                      []value // of a cap with `per`: what each value counts
	Key                         string  // of the call of unknown outcome that made it
	key                         string
	hash                        uint64
}

type value struct {
	of string
	n  int64
}

// sealed ends the making of a quota. Its text is made when states are compared.
func (q *Quota) sealed() *Quota {
	q.key, q.hash = "", 0
	return q
}

func (q *Quota) text() string {
	if q.key == "" {
		q.key = fmt.Sprint(*q)
		q.hash = hashOf(q.key)
	}
	return q.key
}

func (q *Quota) String() string {
	limit := "unlimited"
	if q.Limit >= 0 {
		limit = fmt.Sprint(q.Limit)
	}
	kind := "cap"
	if q.Grant {
		kind = "grant"
	}
	text := fmt.Sprintf("%s %d of user %d: limit %s", kind, q.ID, q.User, limit)
	for _, part := range []struct {
		name string
		n    int64
	}{{"carried", q.Rolled}, {"overage_limit", q.Overage}, {"used", q.Used}, {"reserved", q.Reserved}} {
		if part.n != 0 {
			text += fmt.Sprintf(", %s %d", part.name, part.n)
		}
	}
	for _, v := range q.Values {
		text += fmt.Sprintf(", %s %q %d", q.Per, v.of, v.n)
	}
	if q.WindowStart != whole {
		text += ", window " + span(q.WindowStart, q.WindowEnd)
	}
	if q.Expires < forever {
		text += ", expires " + clock(q.Expires)
	}
	if !q.Enabled {
		text += ", suspended"
	}
	if q.Deleted {
		text += ", deleted"
	}
	return text
}

func (q *Quota) count(of string) int64 {
	for _, v := range q.Values {
		if v.of == of {
			return v.n
		}
	}
	return 0
}

// plus is the quota with other counters. Contract 12: counters of values "never fall below zero".
func (q *Quota) plus(used, reserved int64, per string) *Quota {
	n := *q
	if q.Per == "" {
		n.Used, n.Reserved = n.Used+used, n.Reserved+reserved
		return n.sealed()
	}
	n.Values = nil
	sum := max(0, q.count(per)+used+reserved)
	for _, v := range q.Values {
		if v.of != per {
			n.Values = append(n.Values, v)
		}
	}
	if sum > 0 {
		n.Values = append(n.Values, value{per, sum})
		sort.Slice(n.Values, func(i, j int) bool { return n.Values[i].of < n.Values[j].of })
	}
	return n.sealed()
}

// live: contract 1, "not deleted, enabled, started, not expired". A clock that lags behind the window counts as its start.
func (q *Quota) live(at int64) bool {
	at = max(at, q.WindowStart)
	return !q.Deleted && q.Enabled && at >= q.StartsLo && at < q.Expires
}

// own is what is left of a grant's own units, over what is left of its overage.
func (q *Quota) own() int64     { return max(0, q.Limit+q.Rolled-q.Used-q.Reserved) }
func (q *Quota) allRoom() int64 { return max(0, q.Limit+q.Rolled+q.Overage-q.Used-q.Reserved) }
