import { describe, expect, test } from 'vitest'
import { type AtRisk, byUrgency, riskOf, runsOutSoon, type Suspect } from '../../src/domain/at-risk.ts'
import type { Denial } from '../../src/domain/denial.ts'
import { NO_PAUSES, pausesByCountry } from '../../src/domain/pause.ts'
import type { Quota } from '../../src/domain/quota.ts'
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts'
import { aQuota, at } from './fixture.ts'

const NOW = at('2026-01-10 12:00')
const END = at('2026-02-01')
const DENIAL: Denial = {
  user_id: 7,
  id: 'message',
  op: 'consume',
  units: 5,
  country: null,
  message_type: null,
  allow_partial: false,
  reason: 'quota_exhausted',
  remaining: 0,
  limiting_quota_id: 64,
  retry_at: null,
  skipped: 0,
}
const NIGERIA = { ...DENIAL, country: 'NG' }
const block = aQuota({ id: 128, kind: 'cap', limit: 0, countries: ['NG'], period: null, window_end: null })
const full = aQuota({ used: 100, alerted: [80, 100] })
const almost = aQuota({ used: 98, reserved: 1, name: 'Almost', alerted: [80] })
const trial = aQuota({ name: 'Trial', period: null, window_end: null, expires_at: NOW + 3 * DAY_MS })
const risk = (of: Partial<Suspect>, pauses = NO_PAUSES) =>
  riskOf({ user_id: 7, quotas: [aQuota()], denials: [], runsOutAt: null, ...of }, pauses, NOW)

type Case = [what: string, of: Partial<Suspect>, found: Partial<AtRisk> | null]
const blocked = { state: 'blocked', reason: 'quota_exhausted', until: END, sendable: 0 } as const

describe('a user', () => {
  test.each<Case>([
    ['with units left is not at risk', {}, null],
    ['without quotas who asked for nothing is not at risk', { quotas: [] }, null],
    [
      'without quotas who was denied is blocked',
      { quotas: [], denials: [DENIAL] },
      { state: 'blocked', reason: 'no_quota' },
    ],
    ['who would be denied again is blocked', { quotas: [full], denials: [DENIAL] }, { ...blocked, quota: full }],
    ['who can send again is not', { denials: [DENIAL] }, null],
    ['with a used-up quota is blocked', { quotas: [full] }, { ...blocked, quota: full }],
    ['with a used-up quota beside another is not', { quotas: [full, aQuota({ id: 192 })] }, null],
    [
      'who asked for more units than there are is blocked',
      { denials: [{ ...DENIAL, units: 101 }] },
      { state: 'blocked', reason: 'quota_exhausted', quota: null, sendable: 100, until: null },
    ],
    ['who would have taken fewer is not', { denials: [{ ...DENIAL, units: 101, allow_partial: true }] }, null],
    ['who is blocked by a cap of 0 is so on purpose', { quotas: [aQuota(), block], denials: [NIGERIA] }, null],
    [
      'who is so, and has no units, is blocked',
      { quotas: [full, block], denials: [NIGERIA, DENIAL] },
      { ...blocked, quota: full },
    ],
    [
      'with a cap that is used up is blocked',
      { quotas: [aQuota(), { ...full, id: 256, kind: 'cap' }] },
      { reason: 'cap_reached' },
    ],
    [
      'near a limit is near it, below 100%',
      { quotas: [almost] },
      { state: 'near_limit', quota: almost, used_percent: 99, until: END },
    ],
    [
      'who has other units can send them',
      { quotas: [almost, aQuota({ id: 192 })] },
      { state: 'near_limit', sendable: 101 },
    ],
    ['whose limit was raised is not near it', { quotas: [{ ...almost, limit: 200 }] }, null],
    [
      'whose units run out in time runs out',
      { runsOutAt: NOW + DAY_MS },
      { state: 'running_out', until: NOW + DAY_MS },
    ],
    ['whose units ran out before is not running out', { runsOutAt: NOW - 1 }, null],
    ['whose grant ends is at risk', { quotas: [trial] }, { state: 'ending', quota: trial, until: NOW + 3 * DAY_MS }],
    ['whose grant ends later is not', { quotas: [{ ...trial, expires_at: NOW + 8 * DAY_MS }] }, null],
    ['whose extra units end is not', { quotas: [{ ...trial, metadata: { extends_quota: '1' } }] }, null],
    ['whose cap ends is not', { quotas: [aQuota(), { ...trial, id: 192, kind: 'cap' }] }, null],
    ['whose grant is suspended is not', { quotas: [{ ...trial, enabled: false }] }, null],
    [
      'is at the most urgent of several risks',
      { quotas: [almost, trial], runsOutAt: NOW + DAY_MS },
      { state: 'near_limit' },
    ],
  ])('%s', (_what, of, found) => {
    const { quota, ...others } = found ?? {}
    const result = risk(of)
    if (found === null) expect(result).toBeNull()
    else
      expect(result).toMatchObject({
        user_id: 7,
        ...others,
        ...(quota ? { quota: { id: quota.id } } : { quota: result?.quota }),
      })
  })

  test('whose messages are paused is so on purpose', () => {
    const pause = { id: 1, user_id: 7, country: 'NG', message_types: null, until: NOW + 1, reason: null }
    const denials = [{ ...NIGERIA, units: 101 }]
    expect(risk({ denials }, pausesByCountry([pause]))).toBeNull()
    expect(risk({ denials }, pausesByCountry([{ ...pause, until: NOW }]))).toMatchObject({ state: 'blocked' })
  })
})

describe('units run out soon', () => {
  const past = (units: number) => ({ first: NOW - 30 * DAY_MS, days: Array.from({ length: 28 }, () => units) })
  const pack: Partial<Quota> = { period: null, window_end: null }
  const cap = (fields: Partial<Quota>) => aQuota({ id: 128, kind: 'cap', ...fields })
  const daily = { period: 'day', window_start: at('2026-01-10'), window_end: at('2026-01-11'), limit: 5 } as const

  test.each<[string, Quota[], number, number | null]>([
    ['at the rate of the last weeks', [aQuota({ ...pack, used: 70 })], 10, 3],
    ['not if they last longer than a week', [aQuota(pack)], 10, null],
    ['not without a rate', [aQuota(pack)], 0, null],
    ['not because of a cap that resets within the week', [aQuota({ ...pack, limit: 1_000 }), cap(daily)], 10, null],
    ['behind such a cap, when the grants have none left', [aQuota({ ...pack, used: 70 }), cap(daily)], 10, 3],
    ['because of a cap for long', [aQuota({ ...pack, limit: 1_000 }), cap({ used: 80 })], 10, 2],
  ])('%s', (_what, quotas, rate, days) => {
    const found = runsOutSoon(quotas, past(rate), NOW)
    if (days === null) expect(found).toBeNull()
    else expect(Math.abs((found ?? 0) - (NOW + days * DAY_MS))).toBeLessThan(HOUR_MS)
  })

  test('not in the first week of use', () => {
    expect(runsOutSoon([aQuota({ ...pack, used: 99 })], { ...past(10), first: NOW - DAY_MS }, NOW)).toBeNull()
  })
})

test('the most urgent come first: of quotas near their limit the fullest, else the nearest in time', () => {
  const none = { reason: null, quota: null, used_percent: null, sendable: null, until: null }
  const users: AtRisk[] = [
    { ...none, user_id: 1, state: 'ending', until: 5 },
    { ...none, user_id: 2, state: 'ending', until: 4 },
    { ...none, user_id: 3, state: 'near_limit', used_percent: 80, until: 1 },
    { ...none, user_id: 4, state: 'near_limit', used_percent: 95, until: 2 },
    { ...none, user_id: 6, state: 'blocked' },
    { ...none, user_id: 5, state: 'blocked' },
    { ...none, user_id: 7, state: 'blocked', until: 9 },
    { ...none, user_id: 8, state: 'running_out', until: 9 },
  ]
  expect(byUrgency(users).map(({ user_id }) => user_id)).toEqual([7, 5, 6, 4, 3, 8, 2, 1])
})
