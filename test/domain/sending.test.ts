import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MAX_SENDING_SCOPES } from '../../src/domain/basics/bounds.ts'
import { sendingOf } from '../../src/domain/forecasts/sending.ts'
import { type Quota, roll } from '../../src/domain/quotas/quota.ts'
import { DAY_MS, HOUR_MS } from '../../src/domain/time/time.ts'
import { decide } from '../../src/domain/units/decide.ts'
import { createDraft } from '../../src/domain/units/draft.ts'
import { runs } from '../support/runs.ts'
import { aQuota, at } from './fixture.ts'

const NOW = at('2026-01-10 10:20')

/** A quota without a period, unless the fields name one. */
const quota = (id: number, fields: Partial<Quota>) =>
  aQuota({ id, period: null, window_end: null, starts_at: NOW, window_start: NOW, created_at: NOW, ...fields })
const cap = (id: number, fields: Partial<Quota>) => quota(id, { kind: 'cap', ...fields })
const daily = { period: 'day', window_start: at('2026-01-10'), window_end: at('2026-01-11') } as const
const send = (...quotas: Quota[]) => sendingOf(7, quotas, NOW)

/** The answer to a check of one unit. */
function check(quotas: readonly Quota[], country: string | null, message_type: string | null) {
  const command = { user_id: 7, id: '', units: 1, country, message_type, ttl_ms: 0, on_expiry: 'release' } as const
  const outcome = decide(
    createDraft(7, quotas, []),
    { op: 'check', ...command, allow_partial: false, force: false, explain: false },
    NOW,
    { observe: false },
  )
  if (outcome.outcome === 'granted') return null
  if (outcome.outcome !== 'denied') throw new Error(outcome.outcome)
  const { reason, limiting_quota_id, retry_at } = outcome
  return { reason, limiting_quota_id, retry_at }
}

const COUNTRIES = ['DE', 'AT', 'NG', 'FR']
const TYPES = ['otp', 'marketing']
const someOf = (values: string[]) => fc.option(fc.subarray(values, { minLength: 1 }), { freq: 2 })
const anyQuota = fc.record({
  kind: fc.constantFrom('grant', 'grant', 'cap'),
  limit: fc.constantFrom(0, 1, 5),
  used: fc.constantFrom(0, 0, 1),
  enabled: fc.constantFrom(true, true, true, false),
  starts_at: fc.constantFrom(NOW, NOW, NOW + DAY_MS),
  countries: someOf(COUNTRIES.slice(0, 3)),
  message_types: someOf(TYPES.slice(0, 1)),
})

test('every message is answered by its row as enforcement answers it', () => {
  fc.assert(
    fc.property(fc.array(anyQuota, { maxLength: 6 }), drafts => {
      const quotas = drafts.map((fields, index) => quota(index + 1, { ...fields, kind: fields.kind as Quota['kind'] }))
      const { scopes, denial } = send(...quotas)
      for (const country of [null, ...COUNTRIES]) {
        for (const type of [null, ...TYPES]) {
          const [row] = scopes
            .filter(
              ({ countries, message_types }) =>
                (countries === null || (country !== null && countries.includes(country))) &&
                (message_types === null || (type !== null && message_types.includes(type))),
            )
            .sort((one, other) => namedBy(other) - namedBy(one))
          expect(row === undefined ? denial : row.denial).toEqual(check(quotas, country, type))
        }
      }
    }),
    { numRuns: runs(300) },
  )
})

const namedBy = ({ countries, message_types }: { countries: unknown; message_types: unknown }) =>
  Number(countries !== null) + Number(message_types !== null)

describe('scopes', () => {
  test('are only those that other quotas apply to', () => {
    const grant = quota(1, { limit: 10 })
    expect(send(grant).scopes).toEqual([])
    expect(send(grant, cap(2, { countries: ['NG'], enabled: false })).scopes).toEqual([])
    expect(
      send(
        grant,
        quota(2, { countries: ['DE', 'AT'], message_types: ['otp'] }),
        cap(3, { countries: ['AT'], limit: 2 }),
      ).scopes,
    ).toEqual([
      { countries: ['AT'], message_types: null, available: 2, denial: null },
      { countries: ['AT'], message_types: ['otp'], available: 2, denial: null },
      { countries: ['DE'], message_types: ['otp'], available: 110, denial: null },
    ])
  })

  test('are bounded', () => {
    const types = Array.from({ length: 200 }, (_, index) => quota(index + 1, { message_types: [`t${index}`] }))
    expect(send(...types).scopes).toHaveLength(MAX_SENDING_SCOPES)
  })
})

describe('available_until', () => {
  const until = (...quotas: Quota[]) => send(...quotas).available_until
  const month = quota(1, { limit: 1_000, period: 'month', window_end: at('2026-02-01') })

  test.each<[string, Quota[], ReturnType<typeof until>]>([
    ['is the end of the window of a grant', [month], { at: at('2026-02-01'), units: 1_000 }],
    ['is null without such an end', [quota(1, { limit: 5 })], null],
    ['is null without a limit', [quota(1, { limit: null, expires_at: NOW + DAY_MS })], null],
    ['counts what is left under a cap', [month, cap(2, { limit: 30, used: 4 })], { at: at('2026-02-01'), units: 26 }],
    [
      // What is left of this day, and 21 more.
      'counts each window of a cap',
      [month, cap(2, { ...daily, limit: 30, used: 25 })],
      { at: at('2026-02-01'), units: 635 },
    ],
    [
      'minds several caps at once',
      // Today the hours bind, from tomorrow on the days.
      [
        quota(1, { limit: null, expires_at: at('2026-01-13') }),
        cap(2, { ...daily, limit: 100 }),
        cap(3, { period: 'hour', window_start: at('2026-01-10 10:00'), window_end: at('2026-01-10 11:00'), limit: 6 }),
      ],
      { at: at('2026-01-13'), units: 6 * 14 + 2 * 100 },
    ],
    [
      'minds caps that start, and those that end',
      [
        month,
        cap(2, { limit: 3, expires_at: NOW + HOUR_MS }),
        cap(3, { limit: 40, starts_at: NOW + HOUR_MS, window_start: NOW + HOUR_MS }),
      ],
      { at: at('2026-02-01'), units: 43 },
    ],
    [
      'is the start of a grant that comes before',
      [month, quota(2, { starts_at: at('2026-01-12'), window_start: at('2026-01-12') })],
      { at: at('2026-01-12'), units: 1_000 },
    ],
  ])('%s', (_, quotas, expected) => {
    expect(until(...quotas.map(one => roll(one, NOW).quota))).toEqual(expected)
  })
})
