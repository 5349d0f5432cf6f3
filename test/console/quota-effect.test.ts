import { expect, test } from 'vitest'
import { effectOf, type Terms, type Writing } from '../../console/src/pages/quota/effect.ts'
import { windowsFrom } from '../../console/src/pages/quota/next-windows.ts'

const number = new Intl.NumberFormat('en-GB')
const writing: Writing = {
  units: count => number.format(count),
  moment: at => at.slice(0, 10),
  country: code => ({ DE: 'Germany', AT: 'Austria', CH: 'Switzerland' })[code] ?? code,
}

const GRANT: Terms = {
  kind: 'grant',
  limit: 1_000,
  period: null,
  time_zone: 'Europe/Berlin',
  rollover_limit: 0,
  overage_limit: 0,
  starts_at: null,
  expires_at: null,
  countries: null,
  message_types: null,
}
const MONTHLY: Partial<Terms> = { period: 'month' }
const CAP: Partial<Terms> = { kind: 'cap' }
const UNLIMITED: Partial<Terms> = { limit: null }
const ANEW = 'starting anew on the 1st at 00:00 Europe/Berlin'

test.each<[string, Partial<Terms>]>([
  // Kinds and limits, with one window
  ['1,000 units in all', {}],
  ['1 unit in all', { limit: 1 }],
  ['0 units in all', { limit: 0 }],
  ['Unlimited units', UNLIMITED],
  ['At most 1,000 units in all; whichever grant pays', CAP],
  ['At most 1 unit in all; whichever grant pays', { ...CAP, limit: 1 }],
  // Periods
  ['1,000 units each hour, starting anew on the hour in Europe/Berlin; unused units lapse', { period: 'hour' }],
  ['1,000 units each day, starting anew at 00:00 Europe/Berlin; unused units lapse', { period: 'day' }],
  ['1,000 units each week, starting anew on Monday at 00:00 Europe/Berlin; unused units lapse', { period: 'week' }],
  [`1,000 units each month, ${ANEW}; unused units lapse`, MONTHLY],
  ['1,000 units each year, starting anew on 1 January at 00:00 Europe/Berlin; unused units lapse', { period: 'year' }],
  ['1,000 units each day, starting anew at 00:00 UTC; unused units lapse', { period: 'day', time_zone: 'UTC' }],
  ['Unlimited units, counted each month and anew on the 1st at 00:00 Europe/Berlin', { ...UNLIMITED, ...MONTHLY }],
  [`At most 1,000 units each month, ${ANEW}; whichever grant pays`, { ...CAP, ...MONTHLY }],
  // Rollover and overage
  [`1,000 units each month, ${ANEW}; unused up to 200 carry over`, { ...MONTHLY, rollover_limit: 200 }],
  [
    `1,000 units each month, ${ANEW}; unused units lapse; up to 50 more may be drawn past the limit`,
    { ...MONTHLY, overage_limit: 50 },
  ],
  [
    `1,000 units each month, ${ANEW}; unused up to 1,200 carry over; up to 50 more may be drawn past the limit`,
    { ...MONTHLY, rollover_limit: 1_200, overage_limit: 50 },
  ],
  ['1,000 units in all; up to 50 more may be drawn past the limit', { overage_limit: 50 }],
  // Scopes
  ['1,000 units in all to Germany', { countries: ['DE'] }],
  ['1,000 units in all to Germany, Austria and Switzerland', { countries: ['DE', 'AT', 'CH'] }],
  ['1,000 units in all to 6 countries', { countries: ['DE', 'AT', 'CH', 'FR', 'IT', 'ES'] }],
  ['1,000 units in all for otp messages', { message_types: ['otp'] }],
  ['1,000 units in all for messages of 6 types', { message_types: ['a', 'b', 'c', 'd', 'e', 'f'] }],
  [
    '1,000 units in all for marketing and otp messages to Germany',
    { message_types: ['marketing', 'otp'], countries: ['DE'] },
  ],
  [`1,000 units each month to Germany, ${ANEW}; unused units lapse`, { ...MONTHLY, countries: ['DE'] }],
  ['Unlimited units for otp messages', { ...UNLIMITED, message_types: ['otp'] }],
  [
    'Unlimited units to Germany, counted each month and anew on the 1st at 00:00 Europe/Berlin',
    { ...UNLIMITED, ...MONTHLY, countries: ['DE'] },
  ],
  ['At most 1,000 units in all to Germany; whichever grant pays', { ...CAP, countries: ['DE'] }],
  // Dates
  ['1,000 units in all; from 2026-04-01', { starts_at: '2026-04-01T00:00:00.000Z' }],
  ['1,000 units in all; until 2026-05-01', { expires_at: '2026-05-01T00:00:00.000Z' }],
  [
    'At most 1,000 units in all; whichever grant pays; from 2026-04-01 until 2026-05-01',
    { ...CAP, starts_at: '2026-04-01T00:00:00.000Z', expires_at: '2026-05-01T00:00:00.000Z' },
  ],
  ['Unlimited units; until 2026-05-01', { ...UNLIMITED, expires_at: '2026-05-01T00:00:00.000Z' }],
])('%s', (words, terms) => {
  expect(effectOf({ ...GRANT, ...terms }, writing)).toBe(words)
})

test('whatever the terms, the words begin with what there is, and name each that is set', () => {
  for (const kind of ['grant', 'cap'] as const)
    for (const limit of kind === 'cap' ? [1_000] : [1_000, null])
      for (const period of [null, 'hour', 'day', 'week', 'month', 'year'] as const)
        for (const countries of [null, ['DE']])
          for (const message_types of [null, ['otp']])
            for (const expires_at of [null, '2026-05-01T00:00:00.000Z'])
              for (const rollover_limit of kind === 'grant' && limit !== null && period !== null ? [0, 200] : [0])
                for (const overage_limit of kind === 'grant' && limit !== null ? [0, 50] : [0]) {
                  const terms = { kind, limit, period, countries, message_types, expires_at, rollover_limit }
                  const words = effectOf({ ...GRANT, ...terms, overage_limit }, writing)
                  const holds = (part: string, is: boolean) =>
                    expect(words.includes(part), `${part}: ${words}`).toBe(is)
                  expect(words).toMatch(kind === 'cap' ? /^At most 1,000 units/ : /^(1,000|Unlimited) units/)
                  holds('Europe/Berlin', period !== null)
                  holds(`each ${period}`, period !== null)
                  holds('to Germany', countries !== null)
                  holds('for otp messages', message_types !== null)
                  holds('until 2026-05-01', expires_at !== null)
                  holds('carry over', rollover_limit > 0)
                  holds('past the limit', overage_limit > 0)
                  expect(words).not.toMatch(/null|undefined| {2}| [,;]|[.]$/)
                }
})

/** The windows that terms open, as their zone's clock has them without saying so. */
function windows(terms: Partial<Terms>, at: string, most = 3) {
  const found = windowsFrom({ ...GRANT, ...terms }, Date.parse(at), most)
  return found?.map(({ start, end }) =>
    [start, end].map(moment => (moment === null ? null : new Date(moment).toISOString().slice(0, 16))),
  )
}

test('the next windows: of what runs, of what starts later, and none past the end', () => {
  const at = '2026-03-15T12:00Z'
  expect(windows(MONTHLY, at)).toEqual([
    ['2026-03-15T12:00', '2026-03-31T22:00'],
    ['2026-03-31T22:00', '2026-04-30T22:00'],
    ['2026-04-30T22:00', '2026-05-31T22:00'],
  ])
  const since = { ...MONTHLY, starts_at: '2026-01-10T00:00:00.000Z' }
  expect(windows(since, at, 1)).toEqual([['2026-02-28T23:00', '2026-03-31T22:00']])
  const later = { ...MONTHLY, starts_at: '2026-04-10T00:00:00.000Z', expires_at: '2026-05-10T00:00:00.000Z' }
  expect(windows(later, at)).toEqual([
    ['2026-04-10T00:00', '2026-04-30T22:00'],
    ['2026-04-30T22:00', '2026-05-10T00:00'],
  ])
  expect(windows({ ...MONTHLY, expires_at: '2026-03-01T00:00:00.000Z' }, at)).toEqual([])
  expect(windows({ expires_at: '2026-05-01T00:00:00.000Z' }, at)).toEqual([['2026-03-15T12:00', '2026-05-01T00:00']])
  expect(windows({}, at)).toEqual([['2026-03-15T12:00', null]])
  expect(windows({ ...MONTHLY, time_zone: 'Nowhere/Nothing' }, at)).toBeUndefined()
})
