import { describe, expect, test } from 'vitest'
import {
  balanceOf,
  headroomOf,
  isLive,
  overageOf,
  type Quota,
  remainingOf,
  roll,
  shownWindowEnd,
  statusOf,
} from '../../src/domain/quotas/quota.ts'
import { aQuota, at } from './fixture.ts'

const NOW = at('2026-01-10 12:00')

describe('statusOf: the first match wins', () => {
  const past = at('2026-01-05')
  const future = at('2026-01-20')
  test.each<[string, Partial<Quota>, boolean]>([
    ['active', {}, true],
    ['active', { used: 60, reserved: 39 }, true],
    ['active', { used: 100, overage_limit: 1 }, true],
    ['active', { used: 100, rolled_over: 1 }, true],
    ['active', { limit: null, used: 10 ** 12 }, true],
    ['active', { starts_at: NOW }, true],
    ['active', { expires_at: NOW + 1 }, true],
    ['exhausted', { used: 60, reserved: 40 }, true],
    ['exhausted', { limit: 0 }, true],
    ['exhausted', { used: 150 }, true],
    ['exhausted', { used: 110, overage_limit: 10 }, true],
    ['exhausted', { kind: 'cap', used: 100 }, true],
    ['scheduled', { starts_at: NOW + 1 }, false],
    ['scheduled', { starts_at: future, used: 100 }, false],
    ['suspended', { enabled: false }, false],
    ['suspended', { enabled: false, starts_at: future, used: 100 }, false],
    ['expired', { expires_at: NOW }, false],
    ['expired', { expires_at: past, enabled: false, used: 100 }, false],
    ['deleted', { deleted_at: past }, false],
    ['deleted', { deleted_at: past, expires_at: past, enabled: false, used: 100 }, false],
  ])('%s: %j', (status, fields, live) => {
    expect(statusOf(aQuota(fields), NOW)).toBe(status)
    expect(isLive(aQuota(fields), NOW)).toBe(live)
  })
})

describe('balance, headroom, remaining and overage', () => {
  test.each<[Partial<Quota>, number, number, number | null, number]>([
    // fields, balance, headroom, remaining, overage
    [{}, 100, 100, 100, 0],
    [{ used: 30, reserved: 20 }, 50, 50, 50, 0],
    [{ used: 30, reserved: 20, rolled_over: 7 }, 57, 57, 57, 0],
    [{ used: 100 }, 0, 0, 0, 0],
    [{ used: 100, overage_limit: 10 }, 0, 10, 0, 0],
    [{ used: 100, reserved: 4, overage_limit: 10 }, -4, 6, 0, 4],
    [{ used: 115, overage_limit: 10 }, -15, -5, 0, 15],
    [{ used: 115, rolled_over: 15 }, 0, 0, 0, 0],
    [{ limit: null, used: 115 }, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, null, 0],
    [{ limit: 0 }, 0, 0, 0, 0],
  ])('%j: balance %d, headroom %d, remaining %d, overage %d', (fields, balance, headroom, remaining, overage) => {
    const quota = aQuota(fields)
    expect([balanceOf(quota), headroomOf(quota)]).toEqual([balance, headroom])
    expect([remainingOf(quota), overageOf(quota)]).toEqual([remaining, overage])
  })
})

describe('shownWindowEnd', () => {
  const single = { period: null, window_end: null }
  test.each<[string, Partial<Quota>, string | null]>([
    ['the next boundary', {}, '2026-02-01'],
    ['the expiry, if that is earlier', { expires_at: at('2026-01-20') }, '2026-01-20'],
    ['the boundary, if the expiry is later', { expires_at: at('2026-03-20') }, '2026-02-01'],
    ['the boundary, if the expiry was moved to before the window', { expires_at: at('2025-12-20') }, '2026-02-01'],
    [
      'the boundary, if the expiry was moved to the start of the window',
      { expires_at: at('2026-01-01') },
      '2026-02-01',
    ],
    ['none for a single window without expiry', single, null],
    ['the expiry of a single window', { ...single, expires_at: at('2027-01-01') }, '2027-01-01'],
  ])('%s', (_, fields, end) => {
    expect(shownWindowEnd(aQuota(fields))).toBe(end === null ? null : at(end))
  })
})

describe('roll', () => {
  test.each<[string, Partial<Quota>, string, [number, string, string]]>([
    ['the next window at its first instant', {}, '2026-02-01', [1, '2026-02-01', '2026-03-01']],
    ['the window that contains now', {}, '2026-04-30 23:59:59.999', [3, '2026-04-01', '2026-05-01']],
    ['a window of an unlimited grant', { limit: null }, '2026-02-10', [1, '2026-02-01', '2026-03-01']],
    ['a window of a cap', { kind: 'cap' }, '2026-02-10', [1, '2026-02-01', '2026-03-01']],
    ['a window of a suspended quota', { enabled: false }, '2026-02-10', [1, '2026-02-01', '2026-03-01']],
    [
      'the last window of an expired quota',
      { expires_at: at('2026-02-20') },
      '2026-09-10',
      [1, '2026-02-01', '2026-03-01'],
    ],
    [
      'the last window of a quota that expired at its end',
      { expires_at: at('2026-03-01') },
      '2026-09-10',
      [1, '2026-02-01', '2026-03-01'],
    ],
    ['a window far away', {}, '2226-04-10', [2403, '2226-04-01', '2226-05-01']],
  ])('opens %s', (_, fields, now, [window_no, start, end]) => {
    const { quota } = roll(aQuota({ ...fields, used: 70, reserved: 30 }), at(now))
    const window = { window_no, window_start: at(start), window_end: at(end) }
    expect(quota).toMatchObject({ ...window, used: 0, reserved: 0, rolled_over: 0 })
  })

  test.each<[string, Partial<Quota>, string, number]>([
    ['unused units', { used: 40 }, '2026-02-10', 60],
    ['no reserved units', { used: 40, reserved: 25 }, '2026-02-10', 35],
    ['units that were carried before', { used: 20, rolled_over: 30 }, '2026-02-10', 110],
    ['no more than the rollover limit', { used: 40, rollover_limit: 50 }, '2026-02-10', 50],
    ['nothing without a rollover limit', { rolled_over: 30, rollover_limit: 0 }, '2026-02-10', 0],
    ['nothing of an unlimited grant', { limit: null, rollover_limit: 0 }, '2026-02-10', 0],
    ['idle windows', { used: 40 }, '2026-04-10', 260],
    ['idle windows up to the rollover limit', { used: 40, rollover_limit: 200 }, '2026-04-10', 200],
    ['no debt for overage', { used: 130, overage_limit: 30 }, '2026-02-10', 0],
    ['no debt for overage over idle windows', { used: 130, overage_limit: 30 }, '2026-04-10', 200],
    [
      'centuries of idle windows exactly',
      { limit: 10 ** 12, rollover_limit: 10 ** 12 - 1 },
      '2226-04-10',
      10 ** 12 - 1,
    ],
  ])('carries %s', (_, fields, now, rolledOver) => {
    expect(roll(aQuota({ rollover_limit: 500, ...fields }), at(now)).quota.rolled_over).toBe(rolledOver)
  })

  test.each<[string, Partial<Quota>, string]>([
    ['within its window', { used: 40 }, '2026-01-31 23:59:59.999'],
    ['whose clock lags', { used: 40 }, '2025-12-31'],
    ['of a single window', { period: null, window_end: null, used: 40 }, '2036-01-01'],
    ['that is deleted', { deleted_at: at('2026-01-20'), used: 40 }, '2026-05-10'],
    ['that expired within its window', { expires_at: at('2026-01-20'), used: 40 }, '2026-05-10'],
    ['that expired at the end of its window', { expires_at: at('2026-02-01'), used: 40 }, '2026-05-10'],
    ['whose expiry was moved to before its window', { expires_at: at('2025-06-01'), used: 40 }, '2026-05-10'],
    ['that has not started', { starts_at: at('2026-01-20'), window_start: at('2026-01-20') }, '2026-01-10'],
  ])('leaves a quota %s alone', (_, fields, now) => {
    const quota = aQuota(fields)
    expect(roll(quota, at(now))).toEqual({ quota, closed: null })
  })

  test('returns the window it closes, and changes only window and counters', () => {
    const quota = aQuota({
      window_no: 4,
      used: 40,
      reserved: 25,
      rolled_over: 10,
      rollover_limit: 30,
      overage_limit: 5,
    })
    const { quota: rolled, closed } = roll(quota, at('2026-04-10'))
    expect(closed).toEqual({
      window_no: 4,
      window_start: at('2026-01-01'),
      window_end: at('2026-02-01'),
      limit: 100,
      overage_limit: 5,
      rolled_over: 10,
      used: 40,
      reserved: 25,
      carried: 30,
    })
    const { window_no, window_start, window_end, used, reserved, rolled_over } = quota
    expect({ ...rolled, window_no, window_start, window_end, used, reserved, rolled_over }).toEqual(quota)
  })

  test('begins where the window ended, even if the rules of the time zone changed since', () => {
    const end = at('2026-02-01 03:00')
    const { quota } = roll(aQuota({ window_end: end }), at('2026-02-01 04:00'))
    expect(quota).toMatchObject({ window_no: 1, window_start: end, window_end: at('2026-03-01') })
  })
})
