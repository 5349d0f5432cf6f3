import { expect, test } from 'vitest'
import { messageKindOf, sendableUnits } from '../../src/domain/forecasts/sendable.ts'
import type { Quota } from '../../src/domain/quotas/quota.ts'
import { aQuota } from './fixture.ts'

const CAP = { kind: 'cap' } as const
const ANY = { country: null, message_type: null }
const TO_GERMANY = { country: 'DE', message_type: null }

test.each<[string, Partial<Quota>[], typeof ANY | typeof TO_GERMANY, number | null]>([
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
      quotas.map(quota => aQuota(quota)),
      kind,
    ),
  ).toBe(units)
})

test('a quota is judged by a message of its scope', () => {
  expect(messageKindOf(aQuota())).toEqual(ANY)
  expect(messageKindOf({ countries: ['DE', 'AT'], message_types: ['otp'] })).toEqual({
    country: 'DE',
    message_type: 'otp',
  })
})
