package main

import (
	"testing"
	"time"
)

func TestWindows(t *testing.T) {
	for _, e := range []struct{ period, anchor, zone, at, from, to string }{
		{"minute", "", "UTC", "2026-09-21T14:13:20Z", "2026-09-21T14:13:00Z", "2026-09-21T14:14:00Z"},
		{"hour", "", "UTC", "2026-09-21T14:00:00Z", "2026-09-21T14:00:00Z", "2026-09-21T15:00:00Z"},
		{"hour", "", "Asia/Kolkata", "2026-09-21T14:13:20Z", "2026-09-21T13:30:00Z", "2026-09-21T14:30:00Z"},
		{"hour", "", "Europe/Berlin", "2026-10-25T01:10:00Z", "2026-10-25T01:00:00Z", "2026-10-25T02:00:00Z"},    // 2 o'clock again
		{"day", "", "Europe/Berlin", "2026-10-25T12:00:00Z", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"},     // 25 hours
		{"day", "", "America/Sao_Paulo", "2018-11-04T12:00:00Z", "2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"}, // no midnight
		{"week", "", "UTC", "2026-09-27T23:59:59Z", "2026-09-21T00:00:00Z", "2026-09-28T00:00:00Z"},
		{"month", "", "UTC", "2026-12-31T23:00:00Z", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"},
		{"month", "31", "UTC", "2026-03-30T00:00:00Z", "2026-02-28T00:00:00Z", "2026-03-31T00:00:00Z"},
		{"month", "15", "UTC", "2026-03-14T00:00:00Z", "2026-02-15T00:00:00Z", "2026-03-15T00:00:00Z"},
		{"year", "04-01", "UTC", "2026-03-14T00:00:00Z", "2025-04-01T00:00:00Z", "2026-04-01T00:00:00Z"},
		{"year", "02-29", "UTC", "2027-03-14T00:00:00Z", "2027-02-28T00:00:00Z", "2028-02-29T00:00:00Z"},
	} {
		at, _ := time.Parse(time.RFC3339, e.at)
		from, to := windowAt(e.period, e.anchor, e.zone, at.UnixMicro())
		show := func(us int64) string { return time.UnixMicro(us).UTC().Format(time.RFC3339) }
		if show(from) != e.from || show(to) != e.to {
			t.Errorf("%s %s %s at %s: %s–%s, not %s–%s", e.period, e.anchor, e.zone, e.at, show(from), show(to), e.from, e.to)
		}
	}
}
