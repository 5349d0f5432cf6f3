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
		{"the wrong grant pays", "contract 6, Who pays: draws", of(quota(1, 7, grant10), quota(2, 7, `"limit":3,"priority":50`),
			send(0, 5, "m1", 2, "", "ok", granted(2, 11, draw(1, 2, "grant"))))},
		{"what ends soonest burns first", "", of(quota(1, 7, grant10), quota(2, 7, `"limit":3,"expires_at":"2027-01-01T00:00:00Z"`),
			send(0, 5, "m1", 2, "", "ok", granted(2, 11, draw(2, 2, "grant"))))},
		{"a cap names itself", "", of(quota(1, 7, grant10), quota(2, 7, `"kind":"cap","limit":3`), quota(3, 7, `"kind":"cap","limit":2`),
			send(0, 5, "m1", 4, "", "denied cap_reached", denied(2, "2")),
			send(10, 15, "m1", 2, "", "ok", granted(2, 0, draw(1, 2, "grant")+","+draw(2, 2, "cap")+","+draw(3, 2, "cap"))))},
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
		{"a commit after all was released", "the model says refused, reservation_closed", of(quota(1, 7, grant10), held, settle(10, 15, "release", "m1", "", "ok", ""),
			settle(20, 25, "commit", "m1", "", "ok", `{"committed":5}`))},
		{"a commit with force books again", "", of(quota(1, 7, grant10), held, settle(10, 15, "release", "m1", "", "ok", ""), send(20, 25, "m2", 10, "", "ok", granted(10, 0, "")),
			settle(30, 35, "commit", "m1", `,"force":true`, "ok", `{"state":"committed","committed":5,"released":0,"refunded":0}`), send(40, 45, "m3", 1, "", "denied quota_exhausted", denied(0, "1")))},
		{"a refund frees the units of its window only", "remaining", of(quota(1, 7, grant10+`,"period":"hour"`), send(0, 5, "m1", 5, "", "ok", ""), send(2800100, 2800105, "m2", 4, "", "ok", granted(4, 6, "")),
			settle(2800110, 2800115, "refund", "m1", "", "ok", `{"state":"refunded"}`), send(2800120, 2800125, "m3", 1, "", "ok", granted(1, 9, "")))},
		{"units are refunded to later draws first", "", of(quota(1, 7, `"limit":3`), quota(2, 7, `"limit":5`), send(0, 5, "m1", 5, "", "ok", granted(5, 3, draw(1, 3, "grant")+","+draw(2, 2, "grant"))),
			settle(10, 15, "refund", "m1", `,"total_units":2`, "ok", ""), send(20, 25, "m2", 4, "", "ok", granted(4, 1, draw(2, 4, "grant"))))},
		{"an expired reservation gives back, soon or later", "", of(quota(1, 7, grant10), short, send(1100, 1105, "m2", 1, "", "ok", granted(1, 4, "")), send(1200, 1205, "m3", 1, "", "ok", granted(1, 8, "")))},
		{"not before its time", "remaining", of(quota(1, 7, grant10), short, send(500, 505, "m2", 1, "", "ok", granted(1, 9, "")))},
		{"and not twice", "remaining", of(quota(1, 7, grant10), short, send(1100, 1105, "m2", 1, "", "ok", granted(1, 9, "")), send(1200, 1205, "m3", 1, "", "ok", granted(1, 3, "")))},
		{"a call on it closes it", "the model says refused, reservation_closed", of(quota(1, 7, grant10), short, settle(1100, 1105, "commit", "m1", "", "ok", `{"committed":5}`))},
		{"or it is committed", "", of(quota(1, 7, grant10), reserve(0, 5, "m1", 5, `,"ttl_seconds":1,"on_expiry":"commit"`, "ok", ""), reserve(1100, 1105, "m1", 5, "", "ok", `{"granted":true,"replayed":true,"state":"committed"}`))},
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

func others() []example { return nil }
