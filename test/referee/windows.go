package main

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // calendars must not depend on the machine
)

// The calendar of windows: contract section 4, `period`, `anchor` and `time_zone`.
//
// Not modelled: hours of zones that shift by less than an hour ("where less than an hour repeats, that window is longer"), and a
// midnight that a clock passes twice.

const second = int64(time.Second / time.Microsecond)

// whole is the start of the only window of a quota without a period: "null: one window, `starts_at` to `expires_at`".
const whole = int64(0)

var zones sync.Map

func zone(name string) *time.Location {
	if z, ok := zones.Load(name); ok {
		return z.(*time.Location)
	}
	z, err := time.LoadLocation(name)
	if err != nil {
		z = time.UTC
	}
	zones.Store(name, z)
	return z
}

// windowAt is the calendar window that holds at a time; its end is exclusive.
func windowAt(period, anchor, zoneName string, at int64) (start, end int64) {
	if period == "" {
		return whole, forever
	}
	loc := zone(zoneName)
	t := time.UnixMicro(at).In(loc)
	switch period {
	case "minute", "hour":
		length := 60 * second
		if period == "hour" {
			length *= 60
		}
		_, offset := t.Zone()
		local := at + int64(offset)*second
		start = at - mod(local, length)
		return start, start + length
	case "day":
		return dayStart(t.Year(), t.Month(), t.Day(), loc), dayStart(t.Year(), t.Month(), t.Day()+1, loc)
	case "week": // "weeks on Monday"
		monday := t.Day() - (int(t.Weekday())+6)%7
		return dayStart(t.Year(), t.Month(), monday, loc), dayStart(t.Year(), t.Month(), monday+7, loc)
	case "month":
		begin := func(n int) int64 { return monthStart(t.Year(), t.Month()+time.Month(n), anchor, loc) }
		if start = begin(0); at < start {
			return begin(-1), start
		}
		return start, begin(1)
	default: // year
		begin := func(n int) int64 { return yearStart(t.Year()+n, anchor, loc) }
		if start = begin(0); at < start {
			return begin(-1), start
		}
		return start, begin(1)
	}
}

func mod(a, b int64) int64 { return ((a % b) + b) % b }

// dayStart is the first instant of a day: "A day begins at its first instant".
func dayStart(year int, month time.Month, day int, loc *time.Location) int64 {
	t := time.Date(year, month, day, 0, 0, 0, 0, loc)
	if t.Hour() != 0 || t.Minute() != 0 { // the clock jumps over midnight: the day begins with the jump
		from, to := t.ZoneBounds()
		if t.Hour() < 12 && !from.IsZero() {
			t = from
		} else if !to.IsZero() {
			t = to
		}
	}
	return t.UnixMicro()
}

// monthStart: `anchor` is a day from 1 to 31, "the last day where a month is shorter"; null is the first.
func monthStart(year int, month time.Month, anchor string, loc *time.Location) int64 {
	first := time.Date(year, month, 1, 12, 0, 0, 0, time.UTC)
	day, err := strconv.Atoi(anchor)
	if err != nil {
		day = 1
	}
	if last := first.AddDate(0, 1, -1).Day(); day > last {
		day = last
	}
	return dayStart(first.Year(), first.Month(), day, loc)
}

// yearStart: `anchor` is a month and a day; openapi: "02-29" is 28 February in other years.
func yearStart(year int, anchor string, loc *time.Location) int64 {
	month, day := 1, 1
	if parts := strings.Split(anchor, "-"); len(parts) == 2 {
		month, _ = strconv.Atoi(parts[0])
		day, _ = strconv.Atoi(parts[1])
	}
	if month == 2 && day == 29 && time.Date(year, 2, 29, 0, 0, 0, 0, time.UTC).Month() != 2 {
		day = 28
	}
	return dayStart(year, time.Month(month), day, loc)
}

// rolledTo is the quota in the window that holds at a time. Contract 4: "Rolling: each closing window carries min(`rollover_limit`,
// max(0, limit + rolled_over − used − reserved)) into the next, once for every window nobody touched; carried units carry again,
// overage is no debt". "a clock that lags behind the window counts as its start".
func (q *Quota) rolledTo(at int64) *Quota {
	if at < q.WindowEnd {
		return q
	}
	n := *q
	limited := n.Grant && n.Limit >= 0
	for at >= n.WindowEnd && n.WindowEnd < n.Expires { // contract 4, window_end: "after the end the last"
		carried := int64(0)
		if limited {
			carried = min(n.Rollover, max(0, n.Limit+n.Rolled-n.Used-n.Reserved))
		}
		untouched := n.Used == 0 && n.Reserved == 0
		settled := untouched && carried == n.Rolled
		n.Used, n.Reserved, n.Values, n.Rolled = 0, 0, nil, carried
		if settled { // further untouched windows carry the same
			n.WindowStart, n.WindowEnd = windowAt(n.Period, n.Anchor, n.Zone, at)
			break
		}
		n.WindowStart, n.WindowEnd = windowAt(n.Period, n.Anchor, n.Zone, n.WindowEnd)
	}
	return n.sealed()
}

// shownAs says whether an answer's `window_start` can be that of a window. The documents do not say whether a first, partial window
// begins with the calendar or with `starts_at`: both are accepted.
func (q *Quota) shownAs(window int64, shown Opt[instant]) bool {
	if !shown.Set || shown.Null {
		return true
	}
	at := int64(shown.V)
	const millisecond = 1000
	if window != whole && at == window {
		return true
	}
	if at < q.StartsLo-millisecond || at > q.StartsHi+millisecond {
		return false
	}
	if window == whole {
		return true
	}
	_, end := windowAt(q.Period, q.Anchor, q.Zone, window)
	return at >= window && at < end
}

func clock(at int64) string {
	if at >= forever {
		return "never"
	}
	return time.UnixMicro(at).UTC().Format("15:04:05.000")
}

func span(from, to int64) string {
	return fmt.Sprintf("%s–%s", clock(from), clock(to))
}
