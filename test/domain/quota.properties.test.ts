import fc from 'fast-check'
import { expect, test } from 'vitest'
import { alertedBy } from '../../src/domain/quotas/alerts.ts'
import { changeQuota, type Quota, roll } from '../../src/domain/quotas/quota.ts'
import { averageMs, COMMON_PERIODS } from '../../src/domain/time/period.ts'
import { nextBoundary } from '../../src/domain/time/window.ts'
import { runs } from '../support/runs.ts'
import { anchorFor } from './any-anchor.ts'
import { at, created } from './fixture.ts'

const units = fc.oneof(fc.nat(20), fc.nat(10 ** 12))

/** A time without use that gives some dozens of windows. */
const MAX_WINDOWS = 40

interface Case {
  quota: Quota
  /** Three ascending timestamps; the first may lie before the quota's window. */
  times: [number, number, number]
}

const anyCase: fc.Arbitrary<Case> = fc
  .record({
    period: fc.constantFrom(null, ...COMMON_PERIODS),
    anchored: fc.nat(1_200),
    time_zone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/St_Johns', 'Australia/Lord_Howe', 'Pacific/Apia'),
    limit: fc.option(units),
    counters: fc.record({ used: units, reserved: units, rolled_over: units, window_no: fc.nat(99) }),
    rollover: units,
    starts_at: fc.integer({ min: at('2006-10-01'), max: at('2012-01-10') }),
    lifetime: fc.option(fc.double({ min: 0.001, max: 1.5, noNaN: true })),
    timestamps: fc.array(fc.double({ min: -0.1, max: 1, noNaN: true }), { minLength: 3, maxLength: 3 }),
    deleted: fc.boolean(),
  })
  .map(({ period, anchored, time_zone, limit, counters, rollover, starts_at, lifetime, timestamps, deleted }) => {
    const reach = MAX_WINDOWS * averageMs(period ?? 'year')
    const rollover_limit = period === null || limit === null ? 0 : rollover
    const expires_at = lifetime === null ? null : starts_at + Math.ceil(lifetime * reach)
    const anchor = anchorFor(period, anchored)
    const quota = created({ period, anchor, time_zone, limit, rollover_limit, starts_at, expires_at }, starts_at)
    const [first = 0, second = 0, third = 0] = timestamps
      .map(share => starts_at + Math.floor(share * reach))
      .sort((one, other) => one - other)
    const deleted_at = deleted && counters.window_no % 4 === 0 ? starts_at : null
    return { quota: { ...quota, ...counters, deleted_at }, times: [first, second, third] }
  })

/** Rolls window by window. */
function rolledOneByOne(quota: Quota, now: number): Quota {
  const { period, anchor, time_zone, limit, rollover_limit, expires_at, deleted_at } = quota
  let { window_no, window_start, window_end, used, reserved, rolled_over, alerted } = quota
  while (period !== null && window_end !== null && window_end <= now && deleted_at === null) {
    if (expires_at !== null && window_end >= expires_at) break
    const unused = limit === null ? 0 : Math.max(0, limit + rolled_over - used - reserved)
    window_no += 1
    window_start = window_end
    window_end = nextBoundary({ period, anchor, time_zone }, window_start)
    rolled_over = Math.min(rollover_limit, unused)
    used = 0
    reserved = 0
    alerted = []
  }
  return { ...quota, window_no, window_start, window_end, used, reserved, rolled_over, alerted }
}

test('rolling in one step equals rolling window by window', () => {
  fc.assert(
    fc.property(anyCase, ({ quota, times: [, , now] }) => {
      expect(roll(quota, now).quota).toEqual(rolledOneByOne(quota, now))
    }),
    { numRuns: runs(1500) },
  )
})

test('rolling twice equals rolling once, with or without steps in between', () => {
  fc.assert(
    fc.property(anyCase, ({ quota, times: [, between, now] }) => {
      const { quota: rolled } = roll(quota, now)
      expect(roll(rolled, now)).toEqual({ quota: rolled, closed: null })
      expect(roll(roll(quota, between).quota, now).quota).toEqual(rolled)
    }),
    { numRuns: runs(1000) },
  )
})

test('a window never goes back, even if the clock does', () => {
  fc.assert(
    fc.property(anyCase, ({ quota, times: [early, , late] }) => {
      const { quota: rolled, closed } = roll(quota, late)
      expect(rolled.window_no).toBeGreaterThanOrEqual(quota.window_no)
      expect(rolled.window_start).toBeGreaterThanOrEqual(quota.window_start)
      expect(closed === null).toBe(rolled.window_no === quota.window_no)
      expect(roll(rolled, early).quota).toEqual(rolled)
    }),
    { numRuns: runs(1000) },
  )
})

test('a quota whose expiry is removed is as if it had never been set', () => {
  fc.assert(
    fc.property(anyCase, ({ quota, times: [, ended, now] }) => {
      fc.pre(quota.deleted_at === null && quota.expires_at !== null)
      const revived = changeQuota(roll(quota, ended).quota, { expires_at: null }, { now, actor: 'bob' })
      const untouched = roll({ ...quota, expires_at: null }, now).quota
      // The generated counters did not emit any alerts.
      const changed = { alerted: alertedBy(untouched), version: 2, updated_at: now, updated_by: 'bob' }
      expect(revived).toMatchObject({ outcome: 'changed', quota: { ...untouched, ...changed } })
    }),
    { numRuns: runs(500) },
  )
})

test('a change with all current values changes nothing', () => {
  fc.assert(
    fc.property(anyCase, ({ quota, times: [, , now] }) => {
      const { user_id, kind, period, anchor, time_zone, limit, rollover_limit, starts_at, expires_at, metadata } = quota
      const patch = { user_id, kind, period, anchor, time_zone, limit, rollover_limit, starts_at, expires_at, metadata }
      expect(changeQuota(quota, patch, { now, actor: 'bob' })).toEqual({ outcome: 'unchanged' })
    }),
    { numRuns: runs(200) },
  )
})
