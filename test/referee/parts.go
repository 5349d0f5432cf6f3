package main

import (
	"fmt"
	"sort"
	"strings"
)

// Part is what is checked by itself: one user, or users that a transfer joins.
type Part struct {
	Users      []int64
	Operations []*Op
	ids        []reservationID // the reservations of the part: their places in a state
}

type reservationID struct {
	user int64
	id   string
}

// parts divides a history. Plans and pauses concern no single user: they are context of all parts (context.go).
func (h *History) parts() []*Part {
	leader := map[int64]int64{}
	var find func(int64) int64
	find = func(u int64) int64 {
		if p, ok := leader[u]; ok && p != u {
			leader[u] = find(p)
			return leader[u]
		}
		leader[u] = u
		return u
	}
	var own []*Op
	for _, op := range h.Operations {
		if isContext(op.Operation) {
			continue
		}
		if op.Operation == "transfer" {
			if op.User == nil && op.Args.FromUser.Set {
				from := op.Args.FromUser.V
				op.User = &from
			}
			if op.Args.ToUser.Set {
				op.others = []int64{op.Args.ToUser.V}
			}
		}
		if op.User == nil && op.Args.UserID.Set {
			user := op.Args.UserID.V
			op.User = &user
		}
		if op.User == nil {
			continue
		}
		own = append(own, op)
		for _, other := range op.others {
			leader[find(other)] = find(*op.User)
		}
	}
	byLeader := map[int64]*Part{}
	var all []*Part
	for _, op := range own {
		key := find(*op.User)
		part := byLeader[key]
		if part == nil {
			part = &Part{}
			byLeader[key] = part
			all = append(all, part)
		}
		part.Operations = append(part.Operations, op)
		for _, user := range append(op.others, *op.User) {
			part.addUser(user)
		}
	}
	for _, part := range all {
		part.prepare()
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Users[0] < all[j].Users[0] })
	return all
}

func (p *Part) addUser(user int64) {
	i := sort.Search(len(p.Users), func(i int) bool { return p.Users[i] >= user })
	if i == len(p.Users) || p.Users[i] != user {
		p.Users = append(p.Users, 0)
		copy(p.Users[i+1:], p.Users[i:])
		p.Users[i] = user
	}
}

// prepare gives each reservation a place in states, and each operation of a batch its place in the order of its user.
func (p *Part) prepare() {
	places := map[reservationID]int{}
	place := func(user int64, id string) int {
		key := reservationID{user, id}
		if n, ok := places[key]; ok {
			return n
		}
		places[key] = len(p.ids)
		p.ids = append(p.ids, key)
		return places[key]
	}
	type userBatch struct {
		user  int64
		batch flexID
	}
	batches := map[userBatch][]*Op{}
	for _, op := range p.Operations {
		op.slot, op.place = -1, batchPlace{-1, 0}
		switch op.Operation {
		case "reserve", "consume", "commit", "release", "refund", "extend", "feedback":
			op.slot = place(*op.User, string(op.Args.ID))
		case "transfer":
			if op.Answer.Transfer != nil {
				op.slot = place(*op.User, fmt.Sprintf("_transfer:%d", op.Answer.Transfer.ID))
			}
		}
		// contract 6, Order: "One user's operations take effect in the order they were given, also within a batch". An operation
		// without a known outcome may come late or never, so it binds no other.
		if op.Batch != nil && op.Outcome != "unknown" {
			key := userBatch{*op.User, *op.Batch}
			batches[key] = append(batches[key], op)
		}
	}
	n := 0
	for _, ops := range batches {
		if len(ops) < 2 {
			continue
		}
		sort.SliceStable(ops, func(i, j int) bool { return ops[i].Index < ops[j].Index })
		for i, op := range ops {
			op.place = batchPlace{n, i}
		}
		n++
	}
}

// tooLarge says why a part is not checked; "" if it is.
func (p *Part) tooLarge() string {
	clients, unknowns := map[string]bool{}, 0
	for _, op := range p.Operations {
		if !modeled[op.Operation] {
			return fmt.Sprintf("operation %q is not modeled", op.Operation)
		}
		if !op.calm {
			clients[op.Process] = true
		}
		if op.Outcome == "unknown" && op.Operation != "check" && !strings.HasPrefix(op.Operation, "list_") {
			unknowns++
		}
	}
	switch {
	case len(clients) > 8:
		return fmt.Sprintf("%d clients, more than 8", len(clients))
	case len(p.Operations) > 400:
		return fmt.Sprintf("%d operations, more than 400", len(p.Operations))
	case unknowns > 6:
		return fmt.Sprintf("%d operations of unknown outcome, more than 6", unknowns)
	}
	return ""
}
