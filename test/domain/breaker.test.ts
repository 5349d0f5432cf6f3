import { describe, expect, test } from 'vitest'
import {
  type BreakerPause,
  DEFAULT_BUDGETS,
  historyOf,
  judge,
  measure,
  pauseMsOf,
  type Slot,
} from '../../src/domain/pauses/breaker.ts'
import { replay } from '../../src/domain/pauses/breaker-replay.ts'
import { DAY_MS, HOUR_MS } from '../../src/domain/time/time.ts'
import { ATTACKS, HONEST, runAttack, runHonest, victims } from './breaker-table.ts'
import { at } from './fixture.ts'

const NOW = at('2026-03-18 10:20')
const MINUTE_MS = 60_000
const QUARTER_MS = 900_000

/** A slot that begins this many minutes before now. */
const ago = (minutes: number, sent: number, verified = 0, ms = MINUTE_MS): Slot => {
  const start = NOW - minutes * MINUTE_MS
  return { start, end: start + ms, sent, verified }
}
describe('what is counted', () => {
  test('a message is young for five minutes, and unverified afterwards, for an hour and for a day', () => {
    const slots = [ago(24 * 60 + 1, 1), ago(24 * 60, 10), ago(61, 100), ago(60, 1_000), ago(6, 10_000), ago(5, 100_000)]
    expect(measure(slots, NOW)).toMatchObject({ young: 100_000, unverified_hour: 11_000, unverified_day: 11_110 })
  })

  test('what is verified counts in the last quarter of an hour, hour and day', () => {
    const slots = [ago(61, 5, 4), ago(16, 50, 40), ago(15, 500, 400)]
    expect(measure(slots, NOW)).toMatchObject({ verified_quarter: 400, verified_hour: 440, verified_day: 444 })
    expect(measure(slots, NOW)).toMatchObject({ young: 0, unverified_hour: 110, unverified_day: 111 })
  })

  test('a quarter of an hour counts as spread evenly: a third of the last one is young', () => {
    expect(measure([ago(15, 30, 15, QUARTER_MS)], NOW)).toMatchObject({ young: 5, unverified_hour: 10 })
    // Of one that has begun, what was sent so far.
    expect(measure([ago(10, 30, 0, QUARTER_MS)], NOW)).toMatchObject({ young: 15, unverified_hour: 15 })
  })

  test('codes that are entered before the commit comes make no sum negative', () => {
    expect(measure([ago(30, 0, 5), ago(2, 3, 0)], NOW)).toMatchObject({ young: 3, unverified_hour: 0 })
  })

  test('what came back was not sent, also if it came back later than the slot in which it was', () => {
    expect(measure([ago(30, 20), ago(20, -15), ago(2, 5), ago(1, -5)], NOW)).toMatchObject({
      young: 0,
      unverified_hour: 5,
    })
    expect(measure([ago(20, -15)], NOW)).toMatchObject({ unverified_hour: 0, unverified_day: 0 })
  })

  test('what is usual is the most that was verified on one of the last 14 days before today, and in a quarter of them', () => {
    const day = (days: number, verified: number) => ({ start: NOW - days * DAY_MS, verified })
    expect(historyOf([day(15, 99), day(14, 5), day(14, 6), day(1, 7), day(0, 98)], NOW)).toEqual({
      day: 11,
      quarter: 7,
    })
  })
})

describe('which budget is exceeded', () => {
  const FEW = { day: 30, hour: 8, flight: 25, share: 0.3 }
  test.each([
    { title: '25 young ones are none too many', slots: [ago(1, 25)], trips: null },
    { title: '26 are', slots: [ago(1, 26)], trips: ['flight', 26, 25] },
    { title: 'but as many as were entered in a quarter', slots: [ago(1, 40)], quarter: 40, trips: null },
    { title: 'lately, too', slots: [ago(1, 40), ago(14, 40, 40)], trips: null },
    { title: '8 of an hour', slots: [ago(30, 8)], trips: null },
    { title: '9 of an hour', slots: [ago(30, 9)], trips: ['hour', 9, 8] },
    { title: '0.3 of those entered in the hour', slots: [ago(30, 130, 100)], trips: null },
    { title: 'more', slots: [ago(30, 131, 100)], trips: ['hour', 31, 30] },
    { title: 'a sixth of the day', slots: [ago(30, 10)], day: 200, trips: null },
    { title: '30 of a day', slots: [3, 5, 7, 9, 11].map(hour => ago(hour * 60, 6)), trips: null },
    { title: '35 of a day', slots: [3, 5, 7, 9, 11].map(hour => ago(hour * 60, 7)), trips: ['day', 35, 30] },
    { title: '0.3 of the best day', slots: [ago(300, 60)], day: 200, trips: null },
    { title: '0.3 of those entered today', slots: [ago(300, 260, 200)], trips: null },
  ])('$title', ({ slots, day = 0, quarter = 0, trips }) => {
    const evidence = judge(measure(slots, NOW), { day, quarter }, FEW)
    expect(evidence && [evidence.budget, evidence.counted, evidence.allowed]).toEqual(trips)
  })
})

test('a pause lasts an hour, twice as long each time within a day, and a day at most', () => {
  const lengths: number[] = []
  let last: BreakerPause | null = null
  for (let times = 0, from = NOW; times < 7; times++) {
    const pause: BreakerPause = { from, until: from + pauseMsOf(last, from) }
    lengths.push((pause.until - pause.from) / HOUR_MS)
    last = pause
    from = pause.until + DAY_MS - 1
  }
  expect(lengths).toEqual([1, 2, 4, 8, 16, 24, 24])
  expect(last && pauseMsOf(last, last.until + DAY_MS)).toBe(HOUR_MS)
})

test('a replay says what a pause stops, and counts it no further', () => {
  const quarter = (index: number, sent: number, verified: number): Slot => {
    const start = NOW - (NOW % QUARTER_MS) + index * QUARTER_MS
    return { start, end: start + QUARTER_MS, sent, verified }
  }
  const begin = quarter(0, 0, 0).start
  const quarters = [quarter(0, 60, 0), quarter(1, 20, 0), quarter(4, 5, 3), quarter(5, 1, 1)]
  const [first, ...others] = replay(quarters, begin, DEFAULT_BUDGETS)
  expect(first).toMatchObject({
    from: begin + QUARTER_MS,
    until: begin + 5 * QUARTER_MS,
    stopped: 25,
    stopped_verified: 3,
  })
  expect(first?.evidence).toMatchObject({ budget: 'hour', counted: 40, allowed: 15 })
  // 60 of the day are still too many when it goes on.
  expect(others).toMatchObject([{ from: begin + 6 * QUARTER_MS, until: begin + 14 * QUARTER_MS, stopped: 0 }])
  // Before the time asked for, a quarter is only history.
  expect(replay(quarters.slice(0, 1), begin + 2 * QUARTER_MS, DEFAULT_BUDGETS)).toEqual([])
})

describe('made-up traffic, of which the long test makes more', () => {
  test('honest traffic is seldom paused', () => {
    const results = HONEST.map(traffic => runHonest(traffic, 0.5, 1))
    const sum = (of: 'destinationDays' | 'pausedDays') => results.reduce((total, result) => total + result[of], 0)
    expect(sum('destinationDays')).toBeGreaterThan(10_000)
    expect(sum('pausedDays')).toBeLessThan(3)
  })

  test('attacks are stopped soon', () => {
    const attack = (name: string) => {
      const found = ATTACKS.find(one => one.name === name) ?? expect.unreachable()
      return runAttack(found, victims(10, 15, 1))
    }
    const burst = attack('a burst of 60 a minute')
    expect(burst.caught).toBe(burst.attacks)
    expect(burst.before.median).toBeLessThan(40)
    const trickle = attack('a trickle of 5 an hour')
    expect(trickle.caught).toBe(trickle.attacks)
    expect(trickle.hours).toBeLessThan(10)
  })
})
