import { expect, test } from 'vitest'
import { capsInTheWay } from '../../console/src/model/caps-in-the-way.ts'
import { messageKindOf, sendableUnits } from '../../console/src/model/sendable.ts'
import { zonedTime } from '../../console/src/model/zoned-time.ts'
import type { SmsQuota } from '../../src/contract/quotas.ts'
import { QUOTA } from './quota-fixture.ts'

const CAP = { kind: 'cap' } as const
const ANY = { country: null, message_type: null }
const TO_GERMANY = { country: 'DE', message_type: null }

test.each<[string, Partial<SmsQuota>[], typeof ANY | typeof TO_GERMANY, number | null]>([
  ['nothing without a grant', [{ ...CAP }], ANY, 0],
  ['what all grants have left', [{ used: 30 }, { reserved: 20 }], ANY, 150],
  ['units that rolled over, and overage', [{ used: 110, rolled_over: 5, overage_limit: 15 }], ANY, 10],
  ['at most the headroom of the lowest cap', [{}, { ...CAP, limit: 60 }, { ...CAP, limit: 50, used: 10 }], ANY, 40],
  ['any number with an unlimited grant', [{}, { limit: null }], ANY, null],
  ['the cap of an unlimited grant', [{ limit: null }, { ...CAP, limit: 0 }], ANY, 0],
  ['no scoped quota for a message without scope', [{ countries: ['DE'] }, { ...CAP, message_types: ['otp'] }], ANY, 0],
  ['quotas to its country', [{}, { countries: ['AT'] }, { ...CAP, countries: ['DE'], limit: 7 }], TO_GERMANY, 7],
])('a user can send %s', (_title, quotas, kind, units) => {
  expect(
    sendableUnits(
      quotas.map(quota => ({ ...QUOTA, ...quota })),
      kind,
    ),
  ).toBe(units)
})

test('a quota is judged by a message of its scope', () => {
  expect(messageKindOf(QUOTA)).toEqual(ANY)
  expect(messageKindOf({ countries: ['DE', 'AT'], message_types: ['otp'] })).toEqual({
    country: 'DE',
    message_type: 'otp',
  })
})

/** Units for this month, on the 29th. */
const MONTHLY: SmsQuota = { ...QUOTA, period: 'month', window_end: '2026-04-01T00:00:00.000Z' }
const DAILY: SmsQuota = { ...MONTHLY, id: 2, kind: 'cap', period: 'day', window_end: '2026-03-30T00:00:00.000Z' }

test.each<[string, Partial<SmsQuota>, 'reached' | 'short' | undefined]>([
  ['lets all units pass', { limit: 50, remaining: 50 }, undefined],
  ['lets part of them pass until they end', { limit: 49, remaining: 49 }, 'short'],
  ['is reached', { limit: 1_000, remaining: 0 }, 'reached'],
  ['counts other messages', { limit: 1, remaining: 0, countries: ['DE'] }, undefined],
  ['ends before the units', { limit: 1, remaining: 1, expires_at: '2026-03-30T00:00:00.000Z' }, undefined],
  ['does not start anew', { limit: 149, remaining: 149, period: null, window_end: null }, 'short'],
])('a cap that %s', (_title, cap, found) => {
  const caps = capsInTheWay([MONTHLY, { ...DAILY, ...cap }], { quota: MONTHLY, units: 50, end: MONTHLY.window_end })
  expect(caps.map(({ isReached }) => (isReached ? 'reached' : 'short'))).toEqual(found === undefined ? [] : [found])
})

test.each<[string, Partial<SmsQuota>, number | null, number]>([
  ['ends by then is sent first', {}, 200, 50],
  ['rolls over stays', { rollover_limit: 10 }, 100, 150],
  ['ends later stays', { window_end: '2026-04-02T00:00:00.000Z' }, 100, 150],
  ['is unlimited is sent instead', { limit: null, remaining: null }, null, 0],
])('of the units that a cap lets pass, what %s', (_title, other, ending, usable) => {
  const cap: SmsQuota = { ...DAILY, period: null, window_end: null, limit: 250, remaining: 250 }
  const quotas = [MONTHLY, { ...MONTHLY, id: 3, ...other }, cap]
  const found = capsInTheWay(quotas, { quota: MONTHLY, units: 200, end: MONTHLY.window_end })
  expect(found).toMatchObject([{ capacity: 250, ending, usable }])
})

test.each([
  ['Europe/Berlin', '2026-04-01T00:00:00+02:00'],
  ['UTC', '2026-03-31T22:00:00+00:00'],
  ['America/St_Johns', '2026-03-31T19:30:00-02:30'],
])('a time in %s', (zone, text) => {
  expect(zonedTime('2026-03-31T22:00:00.000Z', zone)).toBe(text)
})
