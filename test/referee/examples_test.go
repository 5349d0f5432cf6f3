package main

import "fmt"

const grant10 = `"kind":"grant","limit":10`

func send(from, to int, id string, units int, more, outcome, answer string) string {
	return line(7, "s1", from, to, "consume", fmt.Sprintf(`{"id":"%s","units":%d%s}`, id, units, more), outcome, answer)
}

func reserve(from, to int, id string, units int, more, outcome, answer string) string {
	return line(7, "s1", from, to, "reserve", fmt.Sprintf(`{"id":"%s","units":%d%s}`, id, units, more), outcome, answer)
}

func settle(from, to int, op, id, more, outcome, answer string) string {
	return line(7, "s1", from, to, op, fmt.Sprintf(`{"id":"%s"%s}`, id, more), outcome, answer)
}

func granted(units, remaining int, draws string) string {
	if draws != "" {
		draws = `,"draws":[` + draws + `]`
	}
	return fmt.Sprintf(`{"granted":true,"units":%d,"remaining":%d,"replayed":false%s}`, units, remaining, draws)
}

func draw(quota, units int, kind string) string {
	return fmt.Sprintf(`{"quota_id":%d,"kind":"%s","units":%d}`, quota, kind, units)
}

func denied(remaining int, limiting string) string {
	return fmt.Sprintf(`{"granted":false,"remaining":%d,"limiting_quota_id":%s}`, remaining, limiting)
}

func of(lines ...string) history { return history{lines: lines} }

// overTheHour has a reservation of 8 of 10 units that expires half a second before the hour, a call on it after the hour, and a send of one unit.
func overTheHour(remaining int) history {
	short := fmt.Sprintf(`{"granted":true,"units":8,"remaining":2,"state":"reserved","expires_at":"%s"}`, at(2799503))
	return of(quota(1, 7, grant10+`,"period":"hour","rollover_limit":4`), reserve(2798500, 2798505, "m1", 8, `,"ttl_seconds":1`, "ok", short),
		settle(2800100, 2800105, "commit", "m1", "", "refused reservation_closed", ""), send(2800200, 2800205, "m2", 1, "", "ok", granted(1, remaining, "")))
}

func examples() []example {
	return append(append(sends(), settlings()...), others()...)
}

func sends() []example {
	return []example{
		{"a send takes units", "", of(quota(1, 7, grant10), send(0, 5, "m1", 3, "", "ok", granted(3, 7, draw(1, 3, "grant"))))},
		{"an oversold grant", "contract 6, Denied: the model says denied, quota_exhausted", of(quota(1, 7, grant10),
			send(0, 5, "m1", 6, "", "ok", granted(6, 4, "")), send(10, 15, "m2", 6, "", "ok", `{"granted":true}`))},
		{"overlapping calls, of which one fits", "", of(quota(1, 7, grant10),
			line(7, "s1", 0, 10, "consume", `{"id":"a","units":6}`, "denied quota_exhausted", denied(4, "1")),
			line(7, "s2", 0, 10, "consume", `{"id":"b","units":6}`, "ok", granted(6, 4, "")))},
		{"a denial after which nothing was taken", "contract 6, Who pays", of(quota(1, 7, grant10),
			send(0, 5, "a", 6, "", "denied quota_exhausted", ""), line(7, "s2", 10, 15, "consume", `{"id":"b","units":6}`, "ok", granted(6, 4, "")))},
		{"no grant", "", of(send(0, 5, "m1", 1, "", "denied no_quota", denied(0, "null")))},
		{"the wrong reason", "contract 6, Denied: `reason`", of(quota(1, 7, grant10), send(0, 5, "m1", 11, "", "denied cap_reached", denied(10, "1")))},
		{"grants burn by priority, then id; own units before overage", "", of(quota(1, 7, `"limit":2,"overage_limit":5`), quota(2, 7, `"limit":3,"priority":50`),
			send(0, 5, "m1", 7, "", "ok", granted(7, 3, draw(2, 3, "grant")+","+draw(1, 4, "grant"))))},
		{"the overage of an earlier grant burns before that of a later one", "contract 6, Who pays: draws [1 of quota 1, 1 of quota 2, 2 of quota 1, 1 of quota 2]", of(
			quota(1, 7, `"limit":1,"overage_limit":2`), quota(2, 7, `"limit":1,"overage_limit":5`),
			send(0, 5, "m1", 5, "", "ok", granted(5, 3, draw(1, 1, "grant")+","+draw(2, 4, "grant"))))},
		{"the wrong grant pays", "contract 6, Who pays: draws", of(quota(1, 7, grant10), quota(2, 7, `"limit":3,"priority":50`),
			send(0, 5, "m1", 2, "", "ok", granted(2, 11, draw(1, 2, "grant"))))},
		{"what ends soonest burns first", "", of(quota(1, 7, grant10), quota(2, 7, `"limit":3,"expires_at":"2027-01-01T00:00:00Z"`),
			send(0, 5, "m1", 2, "", "ok", granted(2, 11, draw(2, 2, "grant"))))},
		{"a cap names itself", "", of(quota(1, 7, grant10), quota(2, 7, `"kind":"cap","limit":3`), quota(3, 7, `"kind":"cap","limit":2`),
			send(0, 5, "m1", 4, "", "denied cap_reached", denied(2, "2")),
			send(10, 15, "m1", 2, "", "ok", granted(2, 0, draw(1, 2, "grant")+","+draw(2, 2, "cap")+","+draw(3, 2, "cap"))))},
		{"a cap names itself where no grant matches, too", "", of(quota(1, 7, grant10+`,"countries":["DE"]`), quota(2, 7, `"kind":"cap","limit":3`),
			send(0, 5, "m1", 4, "", "denied no_quota", denied(0, "2")), send(10, 15, "m2", 2, "", "denied no_quota", denied(0, "null")))},
		{"the wrong cap is named", "contract 6, Denied: `limiting_quota_id`", of(quota(1, 7, grant10), quota(2, 7, `"kind":"cap","limit":3`),
			quota(3, 7, `"kind":"cap","limit":2`), send(0, 5, "m1", 4, "", "denied cap_reached", denied(2, "3")))},
		{"scopes", "", of(quota(1, 7, grant10+`,"countries":["DE"],"message_types":["otp"]`),
			send(0, 5, "m1", 1, `,"country":"DE"`, "denied no_quota", ""), send(10, 15, "m2", 1, `,"country":"DE","message_type":"otp"`, "ok", granted(1, 9, "")))},
		{"a scope that is not heeded", "the model says denied, no_quota", of(quota(1, 7, grant10+`,"countries":["DE"]`),
			send(0, 5, "m1", 1, `,"country":"FR"`, "ok", granted(1, 9, "")))},
		{"a cap on each recipient", "", of(quota(1, 7, grant10), quota(2, 7, `"kind":"cap","limit":1,"per":"recipient","period":"hour"`),
			send(0, 5, "m1", 2, `,"recipient":"+4915112345678"`, "ok", granted(2, 0, draw(1, 2, "grant")+","+draw(2, 1, "cap"))),
			send(10, 15, "m2", 1, `,"recipient":"+49 151 12345678"`, "denied cap_reached", denied(0, "2")),
			send(20, 25, "m3", 1, `,"recipient":"+4915187654321"`, "ok", granted(1, 0, "")), send(30, 35, "m4", 1, "", "ok", granted(1, 6, "")))},
		{"one recipient too often", "denied, cap_reached, by quota 2", of(quota(1, 7, grant10), quota(2, 7, `"kind":"cap","limit":1,"per":"recipient","period":"hour"`),
			send(0, 5, "m1", 1, `,"recipient":"+4915112345678"`, "ok", ""), send(10, 15, "m2", 1, `,"recipient":"+4915112345678"`, "ok", ""))},
		{"a cap on each tag counts units", "denied, cap_reached", of(quota(1, 7, grant10), quota(2, 7, `"kind":"cap","limit":3,"per":"tag","counts":"units","period":"day"`),
			send(0, 5, "m1", 3, `,"tag":"x"`, "ok", granted(3, 0, "")), send(10, 15, "m2", 1, `,"tag":"x"`, "ok", ""))},
		{"a window's end gives units back, on either side within the clock's doubt", "", history{uncertainty: 600, lines: []string{
			quota(1, 7, grant10+`,"period":"hour"`), send(2799700, 2799710, "m1", 10, "", "ok", granted(10, 0, "")),
			send(2799800, 2799810, "m2", 10, "", "ok", granted(10, 0, "")), send(2801000, 2801001, "m3", 1, "", "denied quota_exhausted", "")}}},
		{"units of a window that is over", "contract 6, Granted: `remaining`", of(quota(1, 7, grant10+`,"period":"hour"`),
			send(0, 5, "m1", 4, "", "ok", granted(4, 6, "")), send(2800100, 2800110, "m2", 1, "", "ok", granted(1, 5, "")))},
		{"unused units carry over", "", of(quota(1, 7, grant10+`,"period":"hour","rollover_limit":4`), send(0, 5, "m1", 8, "", "ok", granted(8, 2, "")),
			send(2800100, 2800110, "m2", 1, "", "ok", granted(1, 11, "")), send(2*3600000+2800100, 2*3600000+2800110, "m3", 1, "", "ok", granted(1, 13, "")))},
		{"too many carry over", "remaining 11", of(quota(1, 7, grant10+`,"period":"hour","rollover_limit":4`), send(0, 5, "m1", 8, "", "ok", granted(8, 2, "")),
			send(2800100, 2800110, "m2", 1, "", "ok", granted(1, 13, "")))},
		{"a partial grant", "", of(quota(1, 7, grant10), send(0, 5, "m1", 12, `,"allow_partial":true`, "ok", granted(10, 0, "")))},
		{"force is booked past the limit", "", of(quota(1, 7, `"limit":2`), send(0, 5, "m1", 5, `,"force":true`, "ok",
			`{"granted":true,"units":5,"unfunded":0,"draws":[`+draw(1, 5, "grant")+`]}`), send(10, 15, "m2", 1, "", "denied quota_exhausted", denied(0, "1")))},
		{"force without a grant is unfunded", "unfunded", of(send(0, 5, "m1", 5, `,"force":true`, "ok", `{"granted":true,"units":5,"unfunded":0}`))},
		{"a repetition", "", of(quota(1, 7, grant10), send(0, 5, "m1", 3, "", "ok", granted(3, 7, "")),
			send(10, 15, "m1", 3, "", "ok", `{"granted":true,"units":3,"replayed":true,"state":"committed","committed":3}`),
			send(20, 25, "m1", 4, "", "refused idempotency_mismatch", ""), send(30, 35, "m2", 7, "", "ok", granted(7, 0, "")))},
		{"an id charged twice", "guarantees, Once per id", of(quota(1, 7, grant10), send(0, 5, "m1", 3, "", "ok", granted(3, 7, "")),
			send(10, 15, "m1", 3, "", "ok", granted(3, 4, "")))},
		{"a call of unknown outcome may come late, or never", "", of(quota(1, 7, grant10), line(7, "s2", 0, 0, "consume", `{"id":"u","units":6}`, "unknown", ""),
			send(10, 15, "m1", 1, "", "ok", granted(1, 9, "")), send(20, 25, "m2", 1, "", "ok", granted(1, 2, "")))},
		{"and takes effect once", "remaining", of(quota(1, 7, grant10), line(7, "s2", 0, 0, "consume", `{"id":"u","units":3}`, "unknown", ""),
			send(10, 15, "m1", 1, "", "ok", granted(1, 6, "")), send(20, 25, "m2", 1, "", "ok", granted(1, 2, "")))},
		{"a check takes nothing", "", of(quota(1, 7, grant10), line(7, "s1", 0, 5, "check", `{"units":4}`, "ok", granted(4, 10, draw(1, 4, "grant"))),
			send(10, 15, "m1", 10, "", "ok", granted(10, 0, "")))},
		{"what was answered before is seen by a later check", "contract 6, Denied", of(quota(1, 7, grant10), send(0, 5, "m1", 10, "", "ok", granted(10, 0, "")),
			line(7, "s2@b", 10, 15, "check", `{"units":1}`, "ok", ""))},
	}
}

func settlings() []example {
	held := reserve(0, 5, "m1", 5, "", "ok", `{"granted":true,"units":5,"remaining":5,"state":"reserved","expires_at":"`+at(600003)+`"}`)
	short := reserve(0, 5, "m1", 5, `,"ttl_seconds":1`, "ok", `{"granted":true,"units":5,"remaining":5,"state":"reserved","expires_at":"`+at(1003)+`"}`)
	return []example{
		{"settling by totals", "", of(quota(1, 7, grant10), held, settle(10, 15, "commit", "m1", `,"total_units":3`, "ok", `{"state":"reserved","committed":3,"replayed":false}`),
			settle(20, 25, "commit", "m1", `,"total_units":3`, "ok", `{"committed":3,"replayed":true}`), settle(30, 35, "release", "m1", "", "ok", `{"state":"committed","released":2,"expires_at":null}`),
			settle(40, 45, "refund", "m1", `,"total_units":1`, "ok", `{"state":"committed","refunded":1}`), send(50, 55, "m2", 1, "", "ok", granted(1, 7, "")))},
		{"a commit that adds", "committed", of(quota(1, 7, grant10), held, settle(10, 15, "commit", "m1", `,"total_units":3`, "ok", ""),
			settle(20, 25, "commit", "m1", `,"total_units":2`, "ok", `{"committed":5,"replayed":false}`))},
		{"totals beyond", "", of(quota(1, 7, grant10), held, settle(10, 15, "commit", "m1", `,"total_units":6`, "refused exceeds_reservation", ""),
			settle(20, 25, "refund", "m1", `,"total_units":1`, "refused exceeds_committed", ""), settle(30, 35, "release", "m1", "", "ok", ""),
			settle(40, 45, "commit", "m1", "", "refused reservation_closed", ""), reserve(50, 55, "m1", 5, "", "refused reservation_closed", ""))},
		{"a refund that can never be reached is beyond what is committed, too", "", of(quota(1, 7, grant10), held, settle(10, 15, "release", "m1", `,"total_units":3`, "ok", ""),
			settle(20, 25, "refund", "m1", `,"total_units":3`, "refused reservation_closed", ""), settle(30, 35, "refund", "m1", `,"total_units":3`, "refused exceeds_committed", ""))},
		{"one that a commit makes possible is not closed", "the model says refused, exceeds_committed", of(quota(1, 7, grant10), held, settle(10, 15, "release", "m1", `,"total_units":3`, "ok", ""),
			settle(20, 25, "refund", "m1", `,"total_units":2`, "refused reservation_closed", ""))},
		{"a commit after all was released", "the model says refused, reservation_closed", of(quota(1, 7, grant10), held, settle(10, 15, "release", "m1", "", "ok", ""),
			settle(20, 25, "commit", "m1", "", "ok", `{"committed":0,"replayed":true}`))},
		{"a commit with force of more than was reserved", "", of(quota(1, 7, grant10), held, settle(10, 15, "commit", "m1", `,"total_units":8,"force":true`, "ok", `{"state":"committed","units":8,"committed":8,"released":0}`),
			settle(20, 25, "commit", "m1", `,"total_units":8,"force":true`, "ok", `{"units":8,"replayed":true}`), send(30, 35, "m2", 2, "", "ok", granted(2, 0, "")))},
		{"a commit with force that books no more than was reserved", "quota_exhausted", of(quota(1, 7, grant10), held, settle(10, 15, "commit", "m1", `,"total_units":8,"force":true`, "ok", `{"units":8,"committed":8}`),
			send(20, 25, "m2", 5, "", "ok", granted(5, 0, "")))},
		{"a commit with force books again", "", of(quota(1, 7, grant10), held, settle(10, 15, "release", "m1", "", "ok", ""), send(20, 25, "m2", 10, "", "ok", granted(10, 0, "")),
			settle(30, 35, "commit", "m1", `,"force":true`, "ok", `{"state":"committed","committed":5,"released":0,"refunded":0}`), send(40, 45, "m3", 1, "", "denied quota_exhausted", denied(0, "1")))},
		{"a refund frees the units of its window only", "remaining", of(quota(1, 7, grant10+`,"period":"hour"`), send(0, 5, "m1", 5, "", "ok", ""), send(2800100, 2800105, "m2", 4, "", "ok", granted(4, 6, "")),
			settle(2800110, 2800115, "refund", "m1", "", "ok", `{"state":"refunded"}`), send(2800120, 2800125, "m3", 1, "", "ok", granted(1, 10, "")))},
		{"and no units of the next window", "", of(quota(1, 7, grant10+`,"period":"hour"`), send(0, 5, "m1", 5, "", "ok", ""), send(2800100, 2800105, "m2", 4, "", "ok", granted(4, 6, "")),
			settle(2800110, 2800115, "refund", "m1", "", "ok", `{"state":"refunded"}`), send(2800120, 2800125, "m3", 1, "", "ok", granted(1, 5, "")))},
		{"units are refunded to later draws first", "", of(quota(1, 7, `"limit":3`), quota(2, 7, `"limit":5`), send(0, 5, "m1", 5, "", "ok", granted(5, 3, draw(1, 3, "grant")+","+draw(2, 2, "grant"))),
			settle(10, 15, "refund", "m1", `,"total_units":2`, "ok", ""), send(20, 25, "m2", 4, "", "ok", granted(4, 1, draw(2, 4, "grant"))),
			admin(30, 35, 7, "list_quotas", `{}`, "ok", `{"items":[{"id":1,"used":3,"reserved":0},{"id":2,"used":4,"reserved":0}],"next_cursor":null}`))},
		{"units are committed of earlier draws first", "", of(quota(1, 7, `"limit":3`), quota(2, 7, `"limit":5`), reserve(0, 5, "m1", 5, "", "ok", ""),
			settle(10, 15, "commit", "m1", `,"total_units":2`, "ok", `{"state":"reserved","committed":2}`),
			admin(30, 35, 7, "list_quotas", `{}`, "ok", `{"items":[{"id":1,"used":2,"reserved":1},{"id":2,"used":0,"reserved":2}],"next_cursor":null}`))},
		{"an expired reservation gives back, soon or later", "", of(quota(1, 7, grant10), short, send(1100, 1105, "m2", 1, "", "ok", granted(1, 4, "")), send(1200, 1205, "m3", 1, "", "ok", granted(1, 8, "")))},
		{"not before its time", "remaining", of(quota(1, 7, grant10), short, send(500, 505, "m2", 1, "", "ok", granted(1, 9, "")))},
		{"and not twice", "remaining", of(quota(1, 7, grant10), short, send(1100, 1105, "m2", 1, "", "ok", granted(1, 9, "")), send(1200, 1205, "m3", 1, "", "ok", granted(1, 3, "")))},
		{"a call that closes it after its window may find it held there", "", overTheHour(11)},
		{"or it was closed before, and carries", "", overTheHour(13)},
		{"it carries in part", "remaining", overTheHour(12)},
		{"a call on it closes it", "the model says refused, reservation_closed", of(quota(1, 7, grant10), short, settle(1100, 1105, "commit", "m1", "", "ok", `{"committed":5}`))},
		{"or it is committed", "", of(quota(1, 7, grant10), reserve(0, 5, "m1", 5, `,"ttl_seconds":1,"on_expiry":"commit"`, "ok", ""), reserve(1100, 1105, "m1", 5, "", "ok", `{"granted":true,"replayed":true,"state":"committed"}`))},
		{"nothing expires after a consume", "expires_at", of(quota(1, 7, grant10), send(0, 5, "m1", 1, "", "ok", `{"granted":true,"expires_at":"`+at(600003)+`"}`))},
		{"it expires later than was asked", "openapi, ttl_seconds", of(quota(1, 7, grant10), reserve(0, 5, "m1", 1, "", "ok", `{"granted":true,"expires_at":"`+at(700003)+`"}`))},
		{"a consume of what was reserved", "409 idempotency_mismatch", of(quota(1, 7, grant10), held, send(10, 15, "m1", 5, "", "ok", `{"granted":true,"replayed":true}`))},
		{"no such reservation", "404 not_found", of(quota(1, 7, grant10), settle(0, 5, "commit", "m1", "", "ok", `{"committed":5}`))},
		{"a batch takes effect in its order", "", of(quota(1, 7, `"limit":1`), inBatch(0, send(0, 9, "m1", 1, "", "ok", "")), inBatch(1, send(0, 9, "m2", 1, "", "denied quota_exhausted", "")))},
		{"a batch out of order", "ILLEGAL", of(quota(1, 7, `"limit":1`), inBatch(0, send(0, 9, "m1", 1, "", "denied quota_exhausted", "")), inBatch(1, send(0, 9, "m2", 1, "", "ok", "")))},
		{"a code is verified once", "", of(quota(1, 7, grant10), send(0, 5, "m1", 1, "", "ok", ""), settle(10, 15, "feedback", "m1", `,"verified":true`, "ok", `{"verified":true,"replayed":false}`),
			settle(20, 25, "feedback", "m1", `,"verified":true`, "ok", `{"verified":true,"replayed":true}`))},
	}
}

func inBatch(index int, operation string) string {
	return fmt.Sprintf(`%s,"batch":1,"index":%d}`, operation[:len(operation)-1], index)
}

func admin(from, to, user int, op, arguments, outcome, answer string) string {
	return line(user, "admin", from, to, op, arguments, outcome, answer)
}

const basic = `{"id":4,"version":1,"slots":[{"slot":"monthly","limit":10,"period":"month"},{"slot":"daily","kind":"cap","limit":6,"period":"day"}]}`

func others() []example {
	toFrance := `,"country":"FR"`
	pause := admin(0, 5, -1, "create_pause", `{"country":"FR","user_id":null}`, "ok", `{"id":9,"country":"FR"}`)
	elsewhere := func(from int, outcome string) string {
		return line(7, "s2@b", from, from+5, "consume", fmt.Sprintf(`{"id":"b%d","units":1,"country":"FR"}`, from), outcome, "")
	}
	plan := admin(-900, -890, -1, "create_plan", basic, "ok", basic)
	theDefault := admin(-880, -870, -1, "put_default_plan", `{"plan_id":4}`, "ok", "")
	rolling := `{"id":4,"version":1,"slots":[{"slot":"hourly","limit":6,"period":"hour","rollover_limit":2}]}`
	hourly := admin(-900, -890, -1, "create_plan", rolling, "ok", rolling)
	leap := fmt.Sprintf(`{"kind":"fault","fault":"clock_step","at":1000000,"until":2000000,"by_ms":%d}`, 36*24*3600*1000)
	give := admin(0, 5, 7, "give_plan", `{"plan_id":4}`, "ok",
		`{"plan":{"id":4,"version":1},"slots":[{"slot":"monthly","quota_id":21,"outcome":"made","carried":0},{"slot":"daily","quota_id":22,"outcome":"made","carried":0}],"ended":[]}`)
	move := func(from, to, units int, outcome, answer string) string {
		return admin(from, to, 7, "transfer", fmt.Sprintf(`{"quota_id":1,"from_user_id":7,"to_user_id":8,"units":%d}`, units), outcome, answer)
	}
	moved := `{"transfer":{"id":3,"user_id":7,"quota_id":1,"to_user_id":8,"to_quota_id":31,"units":4,"returned":0},"quota":{"id":1,"used":4,"reserved":0,"remaining":6}}`
	others := func(from, units int, outcome, answer string) string {
		return line(8, "s2", from, from+5, "consume", fmt.Sprintf(`{"id":"x%d","units":%d}`, from, units), outcome, answer)
	}
	put := func(from int, fields, outcome, answer string) string {
		return admin(from, from+5, 7, "change_quota", `{"id":1,`+fields+`}`, outcome, answer)
	}
	listed := func(from int, items string) string {
		return admin(from, from+5, 7, "list_quotas", `{}`, "ok", `{"items":[`+items+`],"next_cursor":null}`)
	}
	return []example{
		{"a pause holds at once where it was made, and within two seconds elsewhere", "", of(quota(1, 7, grant10), pause, send(10, 15, "m1", 1, toFrance, "denied destination_paused", denied(0, "null")),
			elsewhere(10, "ok"), elsewhere(1000, "denied destination_paused"), elsewhere(1900, "ok"), elsewhere(2100, "denied destination_paused"))},
		{"not at once where it was made", "the model says denied, destination_paused", of(quota(1, 7, grant10), pause, send(10, 15, "m1", 1, toFrance, "ok", ""))},
		{"not after two seconds elsewhere", "the model says denied, destination_paused", of(quota(1, 7, grant10), pause, elsewhere(2100, "ok"))},
		{"a pause of another country", "contract 6, Who pays", of(quota(1, 7, grant10), pause, send(10, 15, "m1", 1, `,"country":"DE"`, "denied destination_paused", ""))},
		{"a pause that was lifted", "contract 6, Who pays", of(quota(1, 7, grant10), pause, admin(10, 20, -1, "end_pause", `{"id":9}`, "ok", ""),
			elsewhere(1000, "denied destination_paused"), elsewhere(2100, "denied destination_paused"))},
		{"a pause that was lifted holds no longer than two seconds", "", of(quota(1, 7, grant10), pause, admin(10, 20, -1, "end_pause", `{"id":9}`, "ok", ""), elsewhere(1000, "denied destination_paused"), elsewhere(2100, "ok"))},
		{"a pause is no excuse without a grant", "contract 6, Denied: `reason`", of(pause, send(10, 15, "m1", 1, toFrance, "denied destination_paused", ""))},
		{"force passes a pause, and a pause ends at its time", "", of(quota(1, 7, grant10), admin(0, 5, -1, "create_pause", `{"country":"FR","until":"`+at(500)+`"}`, "ok", `{"id":9}`),
			send(10, 15, "m1", 1, toFrance+`,"force":true`, "ok", ""), send(20, 25, "m2", 1, toFrance, "denied destination_paused", ""), send(510, 515, "m3", 1, toFrance, "ok", ""))},
		{"a plan is given", "", of(plan, give, send(10, 15, "m1", 5, "", "ok", granted(5, 1, draw(21, 5, "grant")+","+draw(22, 5, "cap"))), send(20, 25, "m2", 2, "", "denied cap_reached", denied(1, "22")))},
		{"a plan given again changes nothing", "each slot stays", of(plan, give, admin(10, 15, 7, "give_plan", `{"plan_id":4}`, "ok", `{"plan":{"id":4,"version":1},"slots":[{"slot":"monthly","quota_id":23,"outcome":"made"}]}`))},
		{"a later version keeps counters and changes by hand", "", of(plan, give, send(10, 15, "m1", 5, "", "ok", ""), admin(20, 25, 7, "change_quota", `{"id":22,"limit":7}`, "ok", `{"id":22,"limit":7,"used":5}`),
			admin(30, 35, -1, "change_plan", `{"id":4,"slots":[{"slot":"monthly","limit":20,"period":"month"},{"slot":"daily","kind":"cap","limit":9,"period":"day"}]}`, "ok", `{"id":4,"version":2}`),
			admin(40, 45, 7, "give_plan", `{"plan_id":4}`, "ok", `{"plan":{"id":4,"version":2},"slots":[{"slot":"monthly","quota_id":21,"outcome":"changed"},{"slot":"daily","quota_id":22,"outcome":"stays","kept":["limit"]}]}`),
			send(50, 55, "m2", 1, "", "ok", granted(1, 1, "")))},
		{"a slot of another period begins with what was used", "", of(plan, give, send(10, 15, "m1", 5, "", "ok", ""), admin(20, 25, -1, "change_plan",
			`{"id":4,"slots":[{"slot":"monthly","limit":10,"period":"year"}]}`, "ok", `{"id":4,"version":2}`), admin(30, 35, 7, "give_plan", `{"plan_id":4}`, "ok",
			`{"plan":{"id":4,"version":2},"slots":[{"slot":"monthly","quota_id":23,"outcome":"replaced","carried":5}],"ended":[21,22]}`), send(50, 55, "m2", 1, "", "ok", granted(1, 4, draw(23, 1, "grant"))))},
		{"and with no more", "carries 5 at most", of(plan, give, send(10, 15, "m1", 5, "", "ok", ""), admin(20, 25, -1, "change_plan",
			`{"id":4,"slots":[{"slot":"monthly","limit":10,"period":"year"}]}`, "ok", `{"id":4,"version":2}`), admin(30, 35, 7, "give_plan", `{"plan_id":4}`, "ok",
			`{"plan":{"id":4,"version":2},"slots":[{"slot":"monthly","quota_id":23,"outcome":"replaced","carried":6}]}`))},
		{"the first send gives the default plan", "", of(plan, theDefault, line(7, "s1", 990, 995, "check", `{"units":1}`, "ok", granted(1, 6, draw(0, 1, "grant")+","+draw(0, 1, "cap"))),
			send(1000, 1005, "m1", 1, "", "ok", granted(1, 5, draw(41, 1, "grant")+","+draw(42, 1, "cap"))), send(1010, 1015, "m2", 6, "", "denied cap_reached", denied(5, "42")))},
		{"two sends give it twice", "remaining 4", of(plan, theDefault, send(1000, 1005, "m1", 1, "", "ok", granted(1, 5, "")), send(1010, 1015, "m2", 1, "", "ok", granted(1, 5, "")))},
		{"a stranger after a second", "the model says granted", of(plan, theDefault, send(1000, 1005, "m1", 1, "", "denied no_quota", ""))},
		{"a stranger within a second", "", of(plan, theDefault, send(50, 55, "m1", 1, "", "denied no_quota", denied(0, "null")), send(60, 65, "m2", 1, "", "ok", granted(1, 5, "")))},
		{"a plan is given in one hour, and its first message counts in the next", "", of(hourly, theDefault, send(2799990, 2800050, "m1", 8, "", "ok", granted(8, 0, "")))},
		{"which carries nothing if both are of one hour", "denied, quota_exhausted", of(hourly, theDefault, send(2800010, 2800050, "m1", 8, "", "ok", granted(8, 0, "")))},
		{"another call at the same time may have given it", "", of(hourly, theDefault, line(7, "s2", 2799990, 2800090, "consume", `{"id":"b","units":1}`, "ok", granted(1, 0, "")),
			send(2800010, 2800050, "m1", 7, "", "ok", granted(7, 1, "")))},
		{"ids are forgotten after 35 days", "", of(quota(1, 7, grant10), send(0, 5, "m1", 3, "", "ok", ""), send(10, 15, "m2", 3, "", "ok", ""), leap,
			settle(2010, 2015, "refund", "m1", "", "refused not_found", ""), send(2020, 2025, "m1", 1, "", "ok", granted(1, 3, "")), settle(2030, 2035, "refund", "m2", "", "ok", `{"state":"refunded","refunded":3}`))},
		{"but not those that were changed since", "the model says 200", of(quota(1, 7, grant10), leap, send(2010, 2015, "m1", 3, "", "ok", ""),
			settle(2020, 2025, "refund", "m1", "", "refused not_found", ""))},
		{"what is forgotten is not answered again", "the model has", of(quota(1, 7, grant10), send(0, 5, "m1", 3, "", "ok", ""), settle(10, 15, "refund", "m1", `,"total_units":1`, "ok", ""), leap,
			send(2010, 2015, "m1", 3, "", "ok", `{"granted":true,"units":3,"replayed":false}`), send(2020, 2025, "m1", 3, "", "ok", `{"granted":true,"units":3,"replayed":true,"state":"committed","refunded":1}`))},
		{"units change hands", "", of(quota(1, 7, grant10), move(0, 5, 4, "ok", moved), others(10, 5, "denied quota_exhausted", denied(4, "31")), others(20, 4, "ok", granted(4, 0, draw(31, 4, "grant"))),
			send(30, 35, "m1", 6, "", "ok", granted(6, 0, "")), move(40, 45, 1, "refused not_enough_units", ""))},
		{"units are made", "contract 6, Granted: `remaining`", of(quota(1, 7, grant10), move(0, 5, 4, "ok", moved), send(10, 15, "m1", 6, "", "ok", granted(6, 4, "")))},
		{"units that were reserved are handed on", "are neither used nor reserved", of(quota(1, 7, grant10), reserve(0, 5, "m1", 8, "", "ok", ""), move(10, 15, 4, "ok", moved))},
		{"a limit below what is used", "", of(quota(1, 7, grant10), send(0, 5, "m1", 5, "", "ok", ""), put(10, `"limit":4`, "refused below_usage", ""),
			put(20, `"limit":4,"allow_below_usage":true`, "ok", `{"id":1,"limit":4,"used":5,"remaining":0,"overage":1,"status":"exhausted"}`), send(30, 35, "m2", 1, "", "denied quota_exhausted", denied(0, "1")))},
		{"a limit that is not lowered", "422 below_usage", of(quota(1, 7, grant10), send(0, 5, "m1", 5, "", "ok", ""), put(10, `"limit":4`, "ok", `{"id":1,"limit":4,"used":5}`))},
		{"an adjustment that is lost", "remaining 12", of(quota(1, 7, grant10), admin(0, 5, 7, "adjust_quota", `{"id":1,"delta":3,"reason":"x"}`, "ok", `{"id":1,"limit":13}`), send(10, 15, "m1", 1, "", "ok", granted(1, 9, "")))},
		{"a deleted quota pays no more, and settles", "", of(quota(1, 7, grant10), reserve(0, 5, "m1", 5, "", "ok", ""), admin(10, 15, 7, "delete_quota", `{"id":1}`, "ok", ""),
			send(20, 25, "m2", 1, "", "denied no_quota", denied(0, "null")), settle(30, 35, "commit", "m1", "", "ok", `{"state":"committed","committed":5}`), admin(40, 45, 7, "delete_quota", `{"id":1}`, "refused not_found", ""))},
		{"a suspended quota", "the model says denied, no_quota", of(quota(1, 7, grant10), put(0, `"enabled":false`, "ok", `{"id":1,"enabled":false,"status":"suspended"}`), send(10, 15, "m1", 1, "", "ok", ""))},
		{"a quota made by a call of unknown outcome", "", of(admin(0, 0, 7, "create_quota", `{"limit":10}`, "unknown", ""), send(10, 15, "m1", 1, "", "denied no_quota", ""),
			send(20, 25, "m1", 1, "", "ok", granted(1, 9, draw(51, 1, "grant"))), listed(30, `{"id":51,"kind":"grant","limit":10,"used":1,"reserved":0}`))},
		{"a quota that starts and ends while it is made", "", of(line(7, "admin", 0, 3000, "create_quota", `{"limit":6,"expires_at":"`+at(1500)+`"}`, "ok",
			`{"id":1,"limit":6,"starts_at":"`+at(1400)+`","expires_at":"`+at(1500)+`","status":"active"}`))},
		{"a call repeated with its key gets the first answer", "", of(keyed("k", admin(0, 0, 7, "create_quota", `{"limit":6,"expires_at":"`+at(1500)+`"}`, "unknown", "")),
			send(10, 15, "m1", 1, "", "ok", granted(1, 5, "")), keyed("k", admin(2000, 2005, 7, "create_quota", `{"limit":6,"expires_at":"`+at(1500)+`"}`, "ok",
				`{"id":1,"limit":6,"used":0,"expires_at":"`+at(1500)+`","status":"active"}`)))},
		{"a call repeated with its key takes effect once", "the model says denied, quota_exhausted, by quota 1", of(keyed("k", admin(0, 0, 7, "create_quota", `{"limit":6}`, "unknown", "")), send(10, 15, "m1", 1, "", "ok", granted(1, 5, "")),
			keyed("k", admin(20, 25, 7, "create_quota", `{"limit":6}`, "ok", `{"id":1,"limit":6,"used":0}`)), send(30, 35, "m2", 6, "", "ok", ""))},
		{"a reference given twice", "409 conflict", of(quota(1, 7, grant10+`,"external_ref":"order-1"`), quota(2, 7, grant10+`,"external_ref":"order-1"`))},
		{"a final read", "contract 4, used and reserved", of(quota(1, 7, grant10), send(0, 5, "m1", 4, "", "ok", ""), listed(10, `{"id":1,"kind":"grant","limit":10,"used":3,"reserved":0}`))},
		{"a quota that is lost", "guarantees, Acknowledged means durable", of(quota(1, 7, grant10), quota(2, 7, grant10), listed(10, `{"id":1,"kind":"grant","limit":10,"used":0}`))},
		{"the second page of a list has no more than it has", "", of(quota(1, 7, grant10), quota(2, 7, grant10),
			admin(10, 15, 7, "list_quotas", `{"page":2,"page_size":1}`, "ok", `{"items":[{"id":2,"kind":"grant","limit":10,"used":0}],"next_cursor":null}`))},
		{"a reservation that is lost", "guarantees, Acknowledged means durable", of(quota(1, 7, grant10), send(0, 5, "m1", 4, "", "ok", ""), admin(10, 15, 7, "list_reservations", `{}`, "ok", `{"items":[],"next_cursor":null}`))},
		{"an erased user", "", of(quota(1, 7, grant10), send(0, 5, "m1", 4, "", "ok", ""), admin(10, 15, 7, "erase_user", `{}`, "ok", ""), send(20, 25, "m2", 1, "", "denied no_quota", ""),
			admin(30, 35, 7, "create_quota", `{"limit":1}`, "refused being_erased", ""), settle(40, 45, "refund", "m1", "", "refused not_found", ""))},
		{"observe mode", "", history{head: `,"enforcement":"observe"`, lines: []string{quota(1, 7, `"limit":2`),
			send(0, 5, "m1", 3, "", "ok", `{"granted":true,"units":3,"would_deny":"quota_exhausted","draws":[`+draw(1, 3, "grant")+`]}`)}}},
	}
}
