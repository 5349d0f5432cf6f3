import { expect, test } from 'vitest'
import { windowsFrom } from '../../console/src/model/next-windows.ts'
import type { Terms } from '../../console/src/model/quota-form.ts'
import { describeQuota as describe, type Formatters } from '../../console/src/pages/quota/quota-description.ts'
import { description as de } from '../../console/src/texts/de/quota-description.ts'
import { description as en } from '../../console/src/texts/en/quota-description.ts'
import { COUNTRIES, othersThan } from '../../src/domain/messages/country.ts'
import { COMMON_PERIODS } from '../../src/domain/time/period.ts'

/** Describes in English. */
const describeQuota = (terms: Terms, by: Formatters) => describe(terms, en, by)

const number = new Intl.NumberFormat('en-GB')
const dayOfYear = (locale: string, anchor: string) =>
  new Date(`2000-${anchor}T00:00:00Z`).toLocaleDateString(locale, { day: 'numeric', month: 'long', timeZone: 'UTC' })
const formatters: Formatters = {
  units: count => number.format(count),
  timestamp: at => at.slice(0, 10),
  list: items => new Intl.ListFormat('en-GB').format(items),
  dayOfYear: anchor => dayOfYear('en-GB', anchor),
  country: code => ({ DE: 'Germany', AT: 'Austria', CH: 'Switzerland' })[code] ?? code,
}

const GRANT: Terms = {
  kind: 'grant',
  limit: 1_000,
  period: null,
  anchor: null,
  time_zone: 'Europe/Berlin',
  per: null,
  counts: 'units',
  rollover_limit: 0,
  overage_limit: 0,
  starts_at: null,
  expires_at: null,
  countries: null,
  message_types: null,
}
const MONTHLY: Partial<Terms> = { period: 'month' }
const CAP: Partial<Terms> = { kind: 'cap' }
const PER_NUMBER: Partial<Terms> = { ...CAP, limit: 3, period: 'minute', per: 'recipient', counts: 'messages' }
const UNLIMITED: Partial<Terms> = { limit: null }
const ABROAD: Partial<Terms> = { kind: 'cap', limit: 10, period: 'day', countries: [...othersThan(['DE'])] }
const RESETS = 'resets on the 1st at 00:00 Europe/Berlin'

const ANCHORED = [
  ['1', 'the 1st'],
  ['2', 'the 2nd'],
  ['3', 'the 3rd'],
  ['11', 'the 11th'],
  ['15', 'the 15th'],
  ['21', 'the 21st'],
  ['28', 'the 28th'],
  ['29', 'the 29th (or the last day of the month)'],
  ['31', 'the 31st (or the last day of the month)'],
  ['01-01', '1 January'],
  ['04-01', '1 April'],
  ['12-31', '31 December'],
  ['02-29', '29 February (28 February in other years)'],
] as const

test.each<[string, Partial<Terms>]>([
  // Kinds and limits, with one window
  ['1,000 units in total', {}],
  ['1 unit in total', { limit: 1 }],
  ['0 units in total', { limit: 0 }],
  ['Unlimited units', UNLIMITED],
  ['At most 1,000 units in total; across all grants', CAP],
  ['At most 1 unit in total; across all grants', { ...CAP, limit: 1 }],
  // Periods
  ['1,000 units each hour, resets on the hour in Europe/Berlin; unused units do not roll over', { period: 'hour' }],
  ['1,000 units each day, resets at 00:00 Europe/Berlin; unused units do not roll over', { period: 'day' }],
  ['1,000 units each week, resets on Monday at 00:00 Europe/Berlin; unused units do not roll over', { period: 'week' }],
  [`1,000 units each month, ${RESETS}; unused units do not roll over`, MONTHLY],
  [
    '1,000 units each year, resets on 1 January at 00:00 Europe/Berlin; unused units do not roll over',
    { period: 'year' },
  ],
  ...ANCHORED.map(([anchor, on]): [string, Partial<Terms>] => [
    `1,000 units each ${anchor.includes('-') ? 'year' : 'month'}, resets on ${on} at 00:00 Europe/Berlin; unused units do not roll over`,
    { period: anchor.includes('-') ? 'year' : 'month', anchor },
  ]),
  ['1,000 units each day, resets at 00:00 UTC; unused units do not roll over', { period: 'day', time_zone: 'UTC' }],
  ['Unlimited units, counted each month, resets on the 1st at 00:00 Europe/Berlin', { ...UNLIMITED, ...MONTHLY }],
  [`At most 1,000 units each month, ${RESETS}; across all grants`, { ...CAP, ...MONTHLY }],
  // Rollover and overage
  [`1,000 units each month, ${RESETS}; up to 200 unused units roll over`, { ...MONTHLY, rollover_limit: 200 }],
  [
    `1,000 units each month, ${RESETS}; unused units do not roll over; overage of up to 50`,
    { ...MONTHLY, overage_limit: 50 },
  ],
  [
    `1,000 units each month, ${RESETS}; up to 1,200 unused units roll over; overage of up to 50`,
    { ...MONTHLY, rollover_limit: 1_200, overage_limit: 50 },
  ],
  ['1,000 units in total; overage of up to 50', { overage_limit: 50 }],
  // Scopes
  ['1,000 units in total to Germany', { countries: ['DE'] }],
  ['1,000 units in total to Germany, Austria and Switzerland', { countries: ['DE', 'AT', 'CH'] }],
  ['1,000 units in total to 6 countries', { countries: ['DE', 'AT', 'CH', 'FR', 'IT', 'ES'] }],
  ['1,000 units in total to all countries except Austria and Germany', { countries: [...othersThan(['AT', 'DE'])] }],
  [
    'At most 10 units each day to all countries except Germany, resets at 00:00 Europe/Berlin; across all grants',
    ABROAD,
  ],
  ['1,000 units in total to 247 countries', { countries: [...COUNTRIES].slice(0, 247) }],
  ['1,000 units in total for otp messages', { message_types: ['otp'] }],
  ['1,000 units in total for messages of 6 types', { message_types: ['a', 'b', 'c', 'd', 'e', 'f'] }],
  [
    '1,000 units in total for marketing and otp messages to Germany',
    { message_types: ['marketing', 'otp'], countries: ['DE'] },
  ],
  [`1,000 units each month to Germany, ${RESETS}; unused units do not roll over`, { ...MONTHLY, countries: ['DE'] }],
  ['Unlimited units for otp messages', { ...UNLIMITED, message_types: ['otp'] }],
  [
    'Unlimited units to Germany, counted each month, resets on the 1st at 00:00 Europe/Berlin',
    { ...UNLIMITED, ...MONTHLY, countries: ['DE'] },
  ],
  ['At most 1,000 units in total to Germany; across all grants', { ...CAP, countries: ['DE'] }],
  // Blocks
  ['Blocks all messages', { ...CAP, ...MONTHLY, limit: 0 }],
  ['Blocks all units for otp messages to Germany', { ...CAP, limit: 0, message_types: ['otp'], countries: ['DE'] }],
  [
    'Blocks all units to Germany; until 2026-05-01',
    { ...CAP, limit: 0, countries: ['DE'], expires_at: '2026-05-01T00:00:00.000Z' },
  ],
  [
    '0 units in total; until 2026-05-01, when unused units expire',
    { limit: 0, expires_at: '2026-05-01T00:00:00.000Z' },
  ],
  // What is counted, and by which values
  ['At most 3 messages each minute to one number, resets on the minute; across all grants', PER_NUMBER],
  [
    'At most 1 message each minute to any one country (only for otp messages to Germany), resets on the minute; across all grants',
    { ...PER_NUMBER, limit: 1, per: 'country', countries: ['DE'], message_types: ['otp'] },
  ],
  [
    `At most 0 units each month for each tag, ${RESETS}; across all grants`,
    { ...PER_NUMBER, ...MONTHLY, limit: 0, per: 'tag', counts: 'units' },
  ],
  ['At most 1,000 messages in total; across all grants', { ...CAP, counts: 'messages' }],
  // Dates
  ['1,000 units in total; from 2026-04-01', { starts_at: '2026-04-01T00:00:00.000Z' }],
  ['1,000 units in total; until 2026-05-01, when unused units expire', { expires_at: '2026-05-01T00:00:00.000Z' }],
  [
    'At most 1,000 units in total; across all grants; from 2026-04-01 until 2026-05-01',
    { ...CAP, starts_at: '2026-04-01T00:00:00.000Z', expires_at: '2026-05-01T00:00:00.000Z' },
  ],
  ['Unlimited units; until 2026-05-01', { ...UNLIMITED, expires_at: '2026-05-01T00:00:00.000Z' }],
])('%s', (text, terms) => {
  expect(describeQuota({ ...GRANT, ...terms }, formatters)).toBe(text)
})

test('the description of any terms starts with the units and names each setting', () => {
  for (const kind of ['grant', 'cap'] as const)
    for (const limit of kind === 'cap' ? [1_000] : [1_000, null])
      for (const period of [null, ...COMMON_PERIODS])
        for (const countries of [null, ['DE']])
          for (const message_types of [null, ['otp']])
            for (const expires_at of [null, '2026-05-01T00:00:00.000Z'])
              for (const rollover_limit of kind === 'grant' && limit !== null && period !== null ? [0, 200] : [0])
                for (const overage_limit of kind === 'grant' && limit !== null ? [0, 50] : [0]) {
                  const terms = { kind, limit, period, countries, message_types, expires_at, rollover_limit }
                  const text = describeQuota({ ...GRANT, ...terms, overage_limit }, formatters)
                  const holds = (part: string, is: boolean) => expect(text.includes(part), `${part}: ${text}`).toBe(is)
                  expect(text).toMatch(kind === 'cap' ? /^At most 1,000 units/ : /^(1,000|Unlimited) units/)
                  holds('Europe/Berlin', period !== null)
                  holds(`each ${period}`, period !== null)
                  holds('to Germany', countries !== null)
                  holds('for otp messages', message_types !== null)
                  holds('until 2026-05-01', expires_at !== null)
                  holds('unused units roll over', rollover_limit > 0)
                  holds('overage', overage_limit > 0)
                  expect(text).not.toMatch(/null|undefined| {2}| [,;]|[.]$/)
                }
})

const german: Formatters = {
  units: count => new Intl.NumberFormat('de-DE').format(count),
  timestamp: at => at.slice(0, 10),
  list: items => new Intl.ListFormat('de-DE').format(items),
  dayOfYear: anchor => dayOfYear('de-DE', anchor),
  country: code => ({ DE: 'Deutschland', AT: 'Österreich' })[code] ?? code,
}

test.each<[string, Partial<Terms>]>([
  ['1.000 Einheiten insgesamt', {}],
  ['1 Einheit insgesamt', { limit: 1 }],
  ['Sperrt alle Einheiten mit Ziel Deutschland', { ...CAP, limit: 0, countries: ['DE'] }],
  ['Sperrt alle Nachrichten', { ...CAP, limit: 0 }],
  [
    'Höchstens 3 Nachrichten pro Minute an dieselbe Nummer (nur mit Ziel Deutschland), zurückgesetzt zu jeder vollen Minute; über alle Pakete',
    { ...PER_NUMBER, countries: ['DE'] },
  ],
  [
    'Unbegrenzt viele Einheiten, gezählt pro Tag, zurückgesetzt um 00:00 Uhr Europe/Berlin',
    { ...UNLIMITED, period: 'day' },
  ],
  [
    'Höchstens 1.000 Einheiten pro Monat mit Ziel Deutschland und Österreich, zurückgesetzt am 1. um 00:00 Uhr Europe/Berlin; über alle Pakete; bis 2026-05-01',
    { ...CAP, ...MONTHLY, countries: ['DE', 'AT'], expires_at: '2026-05-01T00:00:00.000Z' },
  ],
  [
    '1.000 Einheiten pro Monat, zurückgesetzt am 31. (oder am letzten Tag des Monats) um 00:00 Uhr Europe/Berlin; ungenutzte Einheiten verfallen',
    { ...MONTHLY, anchor: '31' },
  ],
  [
    '1.000 Einheiten pro Jahr, zurückgesetzt am 1. April um 00:00 Uhr Europe/Berlin; ungenutzte Einheiten verfallen',
    { period: 'year', anchor: '04-01' },
  ],
  [
    '1.000 Einheiten pro Woche für Nachrichten vom Typ otp, zurückgesetzt am Montag um 00:00 Uhr Europe/Berlin; bis zu 1.200 ungenutzte Einheiten gehen über; Überziehung bis zu 50',
    { period: 'week', message_types: ['otp'], rollover_limit: 1_200, overage_limit: 50 },
  ],
])('in German: %s', (text, terms) => {
  expect(describe({ ...GRANT, ...terms }, de, german)).toBe(text)
})

/** The next windows of some terms, as UTC timestamps to the minute. */
function windows(terms: Partial<Terms>, at: string, max = 3) {
  const found = windowsFrom({ ...GRANT, ...terms }, Date.parse(at), max)
  return found?.map(({ start, end }) =>
    [start, end].map(at => (at === null ? null : new Date(at).toISOString().slice(0, 16))),
  )
}

test('next windows of a running quota, of a later start, and none after the expiry', () => {
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
  expect(windows({ ...MONTHLY, anchor: '31' }, at)).toEqual([
    ['2026-03-15T12:00', '2026-03-30T22:00'],
    ['2026-03-30T22:00', '2026-04-29T22:00'],
    ['2026-04-29T22:00', '2026-05-30T22:00'],
  ])
  expect(windows({ period: 'year', anchor: '04-01' }, at, 2)).toEqual([
    ['2026-03-15T12:00', '2026-03-31T22:00'],
    ['2026-03-31T22:00', '2027-03-31T22:00'],
  ])
  expect(windows({ ...MONTHLY, expires_at: '2026-03-01T00:00:00.000Z' }, at)).toEqual([])
  expect(windows({ expires_at: '2026-05-01T00:00:00.000Z' }, at)).toEqual([['2026-03-15T12:00', '2026-05-01T00:00']])
  expect(windows({}, at)).toEqual([['2026-03-15T12:00', null]])
  expect(windows({ ...MONTHLY, time_zone: 'Nowhere/Nothing' }, at)).toBeUndefined()
})
