import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MAX_LOOKAHEAD_STEPS } from '../../src/domain/basics/bounds.ts'
import { type AvailableUntil, availableUntil } from '../../src/domain/forecasts/available-until.ts'
import { headroomOf, isLive, type Quota, type QuotaDraft, roll } from '../../src/domain/quotas/quota.ts'
import { DAY_MS, type EpochMs, HOUR_MS } from '../../src/domain/time/time.ts'
import { createDraft } from '../../src/domain/units/draft.ts'
import { matchQuotas } from '../../src/domain/units/matching.ts'
import { forecast } from '../support/forecast.ts'
import { runs } from '../support/runs.ts'
import { anchorFor } from './any-anchor.ts'
import { at, created } from './fixture.ts'

const NOW = at('2026-03-18 10:20')

function quotaOf(id: number, draft: Partial<QuotaDraft>): Quota {
  return { ...created({ starts_at: NOW, ...draft }, NOW), id: 64 * id }
}

function untilOf(quotas: readonly Quota[], maxSteps?: number): AvailableUntil | null {
  const ask = { op: 'check', user_id: 7, id: '', units: 1, country: null, message_type: null, ttl_ms: 0 } as const
  const flags = { on_expiry: 'release', allow_partial: false, force: false, explain: false } as const
  return availableUntil(matchQuotas(createDraft(7, quotas, []), { ...ask, ...flags }, NOW), NOW, maxSteps)
}

/** Sends as much as possible at each beginning and end of a window of a cap, as the service would grant it. */
function naiveUnits(payable: number, caps: readonly Quota[], until: EpochMs): number {
  let held = [...caps]
  let sent = 0
  for (let now = NOW; now < until; ) {
    held = held.map(cap => roll(cap, now).quota)
    const live = held.filter(cap => isLive(cap, now))
    const units = Math.min(payable - sent, ...live.map(cap => Math.max(0, headroomOf(cap))))
    held = held.map(cap => (live.includes(cap) ? { ...cap, used: cap.used + units } : cap))
    sent += units
    const changes = held.flatMap(cap => [cap.starts_at, cap.window_end, cap.expires_at])
    now = Math.min(until, ...changes.filter(time => time !== null && time > now).map(Number))
  }
  return sent
}

const anyCap = fc
  .record({
    limit: fc.nat(40),
    period: fc.constantFrom(null, 'hour', 'day', 'week', 'month', 'year'),
    anchored: fc.nat(1_200),
    time_zone: fc.constantFrom('UTC', 'Europe/Berlin', 'Asia/Kolkata'),
    starts: fc.constantFrom(0, 0, 0, 3 * HOUR_MS, 2 * DAY_MS + 7),
    lasts: fc.constantFrom(null, null, null, HOUR_MS + 5, 4 * DAY_MS),
  })
  .map(({ starts, lasts, anchored, ...fields }) => ({
    ...fields,
    anchor: anchorFor(fields.period, anchored),
    kind: 'cap' as const,
    starts_at: NOW + starts,
    expires_at: lasts === null ? null : NOW + starts + lasts,
  }))

test('within its budget of steps the answer is the naive one, and beyond it there is none', () => {
  const bounded = fc.property(
    fc.array(anyCap, { maxLength: 5 }),
    fc.nat(3_000),
    fc.integer({ min: 1, max: 20 }),
    fc.oneof(fc.nat(60), fc.nat(3_000), fc.constant(undefined)),
    (caps, limit, days, maxSteps) => {
      const until = NOW + days * DAY_MS
      const all = [quotaOf(1, { limit, expires_at: until }), ...caps.map((cap, index) => quotaOf(index + 2, cap))]
      const expected = { at: until, units: naiveUnits(limit, all.slice(1), until) }
      const found = untilOf(all, maxSteps)
      if (found !== null || maxSteps === undefined) expect(found).toEqual(expected)
      // Each step goes through all caps at a change of one of them.
      else expect(maxSteps).toBeLessThan((caps.length + 1) * (1 + caps.length * 24 * (days + 1)))
    },
  )
  fc.assert(bounded, { numRuns: runs(300) })
})

/** Caps of a year of hours: their limits differ, so none stands for the others. */
const hourly = (count: number) =>
  Array.from({ length: count }, (_, index) => quotaOf(index + 2, { kind: 'cap', period: 'hour', limit: 1_000 + index }))
const yearly = quotaOf(1, { limit: 1_000_000_000, expires_at: NOW + 365 * DAY_MS })
const used = { first: NOW - 40 * DAY_MS, days: Array.from({ length: 28 }, () => 10) }

test('ten caps by the hour are followed for a year', () => {
  const quotas = [yearly, ...hourly(10)]
  expect(untilOf(quotas)).toMatchObject({ units: 1_000 * (365 * 24 + 1) })
  expect(forecast(quotas, used, NOW)).toMatchObject({ daily_rate: 10, runs_out_at: '2027-03-18T10:20:00.000Z' })
})

test('what takes more steps than a summary may is not computed', () => {
  const quotas = [yearly, ...hourly(100)]
  expect((100 * 365 * 24) / MAX_LOOKAHEAD_STEPS).toBeGreaterThan(1)
  expect(untilOf(quotas)).toBeNull()
  expect(forecast(quotas, used, NOW)).toBeNull()
  expect(untilOf([{ ...yearly, expires_at: NOW + 10 * DAY_MS }, ...hourly(100)])).toMatchObject({ units: 1_000 * 241 })
})
