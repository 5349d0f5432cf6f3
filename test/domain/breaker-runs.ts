/** Traffic before the breaker, as the job judges it, and the same as a replay sees it. */

import { USAGE_BUCKET_MS } from '../../src/domain/basics/bounds.ts'
import {
  type BreakerPause,
  type Budgets,
  type Evidence,
  HISTORY_DAYS,
  type History,
  historyOf,
  judge,
  measure,
  pauseMsOf,
  type Slot,
  YOUNG_MS,
} from '../../src/domain/pauses/breaker.ts'
import { DAY_MS, type EpochMs, HOUR_MS } from '../../src/domain/time/time.ts'
import { usageBucketOf } from '../../src/domain/units/usage.ts'
import { type Code, FIRST_DAY } from './code-traffic.ts'

const MINUTE_MS = 60_000

/** How often the job judges, and after how long every process knows a pause. */
const INTERVAL_MS = 15_000
const KNOWN_AFTER_MS = 2_000

export interface Run {
  pauses: (BreakerPause & { evidence: Evidence })[]
  /** The codes that a pause stopped. */
  stopped: Set<Code>
}

/** Counts of a destination by the minute, and by the quarter of an hour as usage has them. */
function createCounts(days: number) {
  const minutes = { sent: new Int32Array(days * 1_440), verified: new Int32Array(days * 1_440) }
  const quarters = { sent: new Int32Array(days * 96), verified: new Int32Array(days * 96) }
  /** Codes that were sent before each quarter, and verified or given back in it or later: where quarters end and minutes begin, nothing counts that. */
  const late = new Int32Array(days * 96)
  const minuteOf = (at: EpochMs) => Math.floor((at - FIRST_DAY) / MINUTE_MS)
  const quarterOf = (at: EpochMs) => Math.floor((at - FIRST_DAY) / USAGE_BUCKET_MS)
  const add = (counts: Int32Array, index: number, by = 1) => {
    counts[index] = (counts[index] ?? 0) + by
  }
  const addLate = (from: EpochMs, to: EpochMs) => {
    for (let quarter = quarterOf(from) + 1; quarter <= quarterOf(to); quarter++) add(late, quarter)
  }

  function slots({ sent, verified }: typeof minutes, from: number, to: number, width: number): Slot[] {
    const found: Slot[] = []
    for (let index = Math.max(0, from); index < to; index++) {
      const start = FIRST_DAY + index * width
      const [ofSent = 0, ofVerified = 0] = [sent[index], verified[index]]
      if (ofSent !== 0 || ofVerified > 0) found.push({ start, end: start + width, sent: ofSent, verified: ofVerified })
    }
    return found
  }

  return {
    send(at: EpochMs) {
      add(minutes.sent, minuteOf(at))
      add(quarters.sent, quarterOf(at))
    },
    verify({ at, verifiedAt }: Code) {
      add(minutes.verified, minuteOf(at))
      add(quarters.verified, quarterOf(verifiedAt))
      addLate(at, verifiedAt)
    },
    /** What came back was not sent: of its minute, and of the quarter in which it came back. */
    giveBack({ at, returnedAt }: Code) {
      add(minutes.sent, minuteOf(at), -1)
      add(quarters.sent, quarterOf(returnedAt), -1)
      addLate(at, returnedAt)
    },
    late: (now: EpochMs) => late[quarterOf(usageBucketOf(now - HOUR_MS))] ?? 0,
    /** The last hour by the minute, from the beginning of a quarter on, and before that by the quarter. */
    recent(now: EpochMs): Slot[] {
      const cut = usageBucketOf(now - HOUR_MS)
      return [
        ...slots(quarters, quarterOf(now - DAY_MS), quarterOf(cut), USAGE_BUCKET_MS),
        ...slots(minutes, minuteOf(cut), minuteOf(now) + 1, MINUTE_MS),
      ]
    },
    settle(code: Code) {
      if (code.verifiedAt <= code.returnedAt) this.verify(code)
      else this.giveBack(code)
    },
    quarters: (from: EpochMs, to: EpochMs) => slots(quarters, quarterOf(from), quarterOf(to), USAGE_BUCKET_MS),
  }
}

const settledAt = ({ verifiedAt, returnedAt }: Code) => Math.min(verifiedAt, returnedAt)

/** How many of the codes that were sent in a period that ends now are neither verified nor given back: at least as many as a budget counts. */
function createOpen(sent: readonly Code[], periodMs: number) {
  let [first, open, removedUntil] = [0, 0, 0]
  return {
    send() {
      open++
    },
    settle(code: Code) {
      if (code.at > removedUntil) open--
    },
    count(now: EpochMs) {
      removedUntil = now - periodMs
      for (let oldest = sent[first]; oldest !== undefined && oldest.at <= removedUntil; oldest = sent[++first]) {
        if (settledAt(oldest) > now) open--
      }
      return open
    },
  }
}

/** Lets a destination's codes through as the job would, with the pauses that it makes. */
export function runLive(codes: readonly Code[], days: number, budgets: Budgets): Run {
  const run: Run = { pauses: [], stopped: new Set() }
  const counts = createCounts(days + 2)
  const settled = codes.filter(code => settledAt(code) < Number.POSITIVE_INFINITY)
  settled.sort((one, other) => settledAt(one) - settledAt(other))
  const sent: Code[] = []
  const open = {
    flight: createOpen(sent, YOUNG_MS + MINUTE_MS),
    hour: createOpen(sent, HOUR_MS + USAGE_BUCKET_MS),
    day: createOpen(sent, DAY_MS + USAGE_BUCKET_MS),
  }
  let [next, nextSettled, nextOld, judgedDay] = [0, 0, 0, 0]
  let known: { day: number; history: History } | undefined

  function advance(now: EpochMs): void {
    const pause = run.pauses.at(-1)
    for (let code = codes[next]; code !== undefined && code.at <= now; code = codes[++next]) {
      if (pause !== undefined && code.at >= pause.from + KNOWN_AFTER_MS && code.at < pause.until) {
        run.stopped.add(code)
        continue
      }
      counts.send(code.at)
      sent.push(code)
      open.flight.send()
      open.hour.send()
      open.day.send()
    }
    let code = settled[nextSettled]
    for (; code !== undefined && settledAt(code) <= now; code = settled[++nextSettled]) {
      if (run.stopped.has(code)) continue
      counts.settle(code)
      open.flight.settle(code)
      open.hour.settle(code)
      open.day.settle(code)
    }
    while ((sent[nextOld]?.at ?? now) + YOUNG_MS <= now) nextOld++
  }

  function historyAt(now: EpochMs): History {
    const day = Math.floor(now / DAY_MS)
    if (known?.day !== day) {
      known = { day, history: historyOf(counts.quarters(now - (HISTORY_DAYS + 1) * DAY_MS, now), now) }
    }
    return known.history
  }

  /** Whether a budget can be exceeded: at most so much is counted, and at least so much is allowed. Most of the time nothing has to be measured. */
  function mayExceed(now: EpochMs, history: History): boolean {
    const day = Math.max(budgets.day, budgets.share * history.day)
    return (
      open.flight.count(now) > Math.max(budgets.flight, history.quarter) ||
      open.hour.count(now) > Math.max(budgets.hour, day / 6) ||
      open.day.count(now) + counts.late(now) > day
    )
  }

  function judgeAt(now: EpochMs): void {
    const last = run.pauses.at(-1) ?? null
    if (last !== null && now < last.until) return
    const isDayDue = usageBucketOf(now) !== judgedDay
    if (isDayDue) judgedDay = usageBucketOf(now)
    const isSuspicious =
      open.hour.count(now) > Math.min(budgets.hour, budgets.flight) || (isDayDue && open.day.count(now) > budgets.day)
    if (!isSuspicious) return
    const history = historyAt(now)
    if (!mayExceed(now, history)) return
    const evidence = judge(measure(counts.recent(now), now), history, budgets)
    if (evidence !== null) run.pauses.push({ from: now, until: now + pauseMsOf(last, now), evidence })
  }

  for (;;) {
    const at = Math.min(
      codes[next]?.at ?? Number.POSITIVE_INFINITY,
      (sent[nextOld]?.at ?? Number.POSITIVE_INFINITY) + YOUNG_MS,
    )
    if (at === Number.POSITIVE_INFINITY) return run
    const now = Math.ceil(at / INTERVAL_MS) * INTERVAL_MS
    advance(now)
    judgeAt(now)
  }
}

/** The codes by the quarter of an hour, as usage has them. */
export function quartersOf(codes: readonly Code[], days: number): Slot[] {
  const counts = createCounts(days + 2)
  for (const code of codes) {
    counts.send(code.at)
    if (settledAt(code) < Number.POSITIVE_INFINITY) counts.settle(code)
  }
  return counts.quarters(FIRST_DAY, FIRST_DAY + (days + 2) * DAY_MS)
}

/** The days of the traffic, from 0, on which a destination is paused for some time. */
export function pausedDaysOf(pauses: readonly BreakerPause[]): Set<number> {
  const days = new Set<number>()
  for (const { from, until } of pauses) {
    for (let at = from; at < until; at += HOUR_MS) days.add(Math.floor((at - FIRST_DAY) / DAY_MS))
  }
  return days
}
