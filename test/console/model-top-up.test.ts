/** Who of a file gets more units, and who is left out and why. */
import { expect, test } from 'vitest'
import { whyNoExtra } from '../../console/src/model/bulk-change.ts'
import { readRows } from '../../console/src/model/import-rows.ts'
import { onceEndOf, type TopUpInput } from '../../console/src/model/top-up-input.ts'
import { extrasOf, type Plan, planOf, withGiftsOf, withoutEarlier } from '../../console/src/model/top-up-plan.ts'
import type { SmsQuota } from '../../src/contract/quotas.ts'
import { parseCsv, UnclosedQuote } from '../../src/domain/csv-rows.ts'
import { QUOTA } from './quota-fixture.ts'

const NOW = Date.parse('2026-03-15T12:00:00.000Z')
const MONTH_END = '2026-03-31T22:00:00.000Z'

const MONTHLY: SmsQuota = {
  ...QUOTA,
  limit: 1_000,
  remaining: 1_000,
  period: 'month',
  time_zone: 'Europe/Berlin',
  window_start: '2026-02-28T23:00:00.000Z',
  window_end: MONTH_END,
}
const PACK: SmsQuota = { ...MONTHLY, id: 2, period: null, time_zone: 'UTC', window_end: null }
const DAILY_CAP: SmsQuota = {
  ...MONTHLY,
  id: 3,
  kind: 'cap',
  period: 'day',
  limit: 20,
  remaining: 20,
  window_end: '2026-03-15T23:00:00.000Z',
}
const INPUT: TopUpInput = {
  units: '500',
  which: 'month',
  isThisWindowOnly: true,
  onceEnd: null,
  monthZone: null,
  reason: 'Outage',
}

/** The plan for one user per list of quotas, from user 1 on. */
function plan(quotas: readonly (readonly Partial<SmsQuota>[])[], input: Partial<TopUpInput> = {}): Plan {
  const users = quotas.map((_, index) => ({ line: index + 2, user_id: index + 1, units: null }))
  const found = quotas.map(
    (list, index) => [index + 1, list.map(quota => ({ ...MONTHLY, user_id: index + 1, ...quota }))] as const,
  )
  return planOf(users, new Map(found), { ...INPUT, ...input }, NOW)
}

test.each<[string, Partial<SmsQuota>[], object]>([
  ['has no quota', [], { reason: 'noQuota' }],
  ['has only caps', [DAILY_CAP], { reason: 'onlyCaps' }],
  ['has an unlimited grant', [{ limit: null }], { reason: 'unlimited' }],
  ['has an unlimited grant of another period', [{ ...PACK, limit: null }], { reason: 'unlimited', quota: null }],
  ['has a suspended grant', [{ status: 'suspended' }], { reason: 'notLive' }],
  ['has only a grant that has ended', [{ ...PACK, status: 'expired' }], { reason: 'notLive' }],
  ['has only a one-time grant', [PACK], { reason: 'onlyOneTime' }],
  ['has a grant of another period', [PACK, { period: 'day' }], { reason: 'otherPeriod' }],
])('a user who %s is left out', (_title, quotas, why) => {
  const { gifts, left } = plan([quotas])
  expect(gifts).toEqual([])
  expect(left).toMatchObject([{ line: 2, user: '1', why }])
})

test('the grant that pays first gets the units, and the others are named', () => {
  const grants = [{ id: 9 }, { id: 8, priority: 100 }, { id: 10, priority: 1, metadata: { extends_quota: '8' } }]
  const { gifts } = plan([grants])
  expect(gifts).toMatchObject([
    { quota: { id: 8 }, units: 500, end: MONTH_END, zone: 'Europe/Berlin', notes: [{ note: 'several' }] },
  ])
  expect(plan([[...grants, { id: 11, priority: 5 }]]).gifts[0]?.quota.id).toBe(11)
})

test('the same units for the same reason are given once in a window, by any author of the reason', () => {
  const [gift] = plan([[MONTHLY]]).gifts
  const given: SmsQuota = {
    ...MONTHLY,
    id: 5,
    period: null,
    external_ref: gift?.reference ?? null,
    expires_at: MONTH_END,
    metadata: { extends_quota: String(MONTHLY.id), reason: 'Outage' },
  }
  const before = { why: { reason: 'hadBefore', at: given.created_at } }
  expect(plan([[MONTHLY, given]]).left).toMatchObject([before])
  expect(plan([[MONTHLY, given]], { reason: ' OUTAGE ' }).left).toMatchObject([before])
  // Another window, number of units or reason is another gift. Who got one in this window is asked about.
  expect(plan([[{ ...MONTHLY, window_start: MONTH_END }, given]]).gifts).toHaveLength(1)
  expect(plan([[MONTHLY, given]], { units: '400' }).gifts).toMatchObject([{ earlier: [{ id: 5 }] }])
  const other = plan([[MONTHLY, given], [MONTHLY]], { reason: 'Excuse' })
  expect(other.gifts.map(({ earlier }) => earlier.length)).toEqual([1, 0])
  const { gifts, left } = withoutEarlier(other)
  expect([gifts.map(({ line }) => line), left]).toMatchObject([
    [3],
    [{ line: 2, why: { reason: 'gotOthers', earlier: { id: 5 } } }],
  ])
  // One that ended with an earlier window, or was deleted, is none.
  for (const gone of [{ expires_at: '2026-02-28T23:00:00.000Z' }, { status: 'expired' as const }])
    expect(plan([[MONTHLY, { ...given, ...gone }]], { reason: 'Excuse' }).gifts[0]?.earlier).toEqual([])
})

test('who is left out gets units with another choice', () => {
  const first = plan([[MONTHLY], [PACK], [{ period: 'day' }], []])
  expect(first.gifts.map(({ line }) => line)).toEqual([2])
  expect(first.left.map(({ line }) => line)).toEqual([3, 4, 5])
  expect(first.offers.map(({ which, gifts }) => [which, gifts.map(({ line }) => line)])).toEqual([
    ['once', [3]],
    ['day', [4]],
  ])
  // Who had the units before gets none with the other choice either, and that is why.
  const [once] = plan([[PACK]]).offers
  const external_ref = once?.gifts[0]?.reference ?? null
  const given = { ...PACK, id: 5, external_ref, metadata: { extends_quota: String(PACK.id) } }
  expect(plan([[PACK, given]])).toMatchObject({ offers: [], left: [{ why: { reason: 'hadBefore' } }] })
  const all = first.offers.reduce(withGiftsOf, first)
  expect([all.gifts.map(({ line }) => line), all.left.map(({ line }) => line), all.offers]).toEqual([
    [2, 3, 4],
    [5],
    [],
  ])
})

test('units on a one-time grant end with the month where most monthly grants start anew, or with the grant', () => {
  const packs = { which: 'once' } as const
  expect(plan([[PACK]], packs).gifts).toMatchObject([
    { end: '2026-04-01T00:00:00.000Z', zone: 'UTC', isMonthEnd: true },
  ])
  expect(plan([[PACK], [MONTHLY]], packs).gifts).toMatchObject([{ end: MONTH_END, zone: 'Europe/Berlin' }])
  expect(plan([[PACK]], { ...packs, onceEnd: 'pack' }).gifts).toMatchObject([{ end: null, isMonthEnd: false }])
  const ends = '2027-01-10T00:00:00.000Z'
  expect(plan([[{ ...PACK, window_end: ends }]], { ...packs, onceEnd: 'pack' }).gifts).toMatchObject([{ end: ends }])
  const zones = [[PACK], [{ time_zone: 'Asia/Tokyo' }], [MONTHLY], [MONTHLY]]
  expect(plan(zones, packs).monthZone).toBe('Europe/Berlin')
  expect(onceEndOf({ ...INPUT, which: 'day' })).toBe('pack')
  expect(onceEndOf({ ...INPUT, isThisWindowOnly: false })).toBe('pack')
})

test('units from now on raise the limit', () => {
  const { gifts } = plan([[MONTHLY, { id: 5, period: null, metadata: { extends_quota: '1' } }]], {
    isThisWindowOnly: false,
  })
  expect(gifts).toMatchObject([
    { reference: null, end: null, earlier: [], notes: [{ note: 'hasExtra', extra: { id: 5 } }] },
  ])
  expect(extrasOf(gifts)).toEqual([])
})

test.each<[string, Partial<SmsQuota>[], Partial<TopUpInput>, object | null, number | null]>([
  ['none', [], {}, null, null],
  ['what is left today, and 16 days more', [DAILY_CAP], {}, { capacity: 340, ending: 1_000, isReached: false }, 0],
  [
    'the old limit after a raise',
    [
      { ...DAILY_CAP, limit: 100, remaining: 100, metadata: { continued_by: '4' } },
      { ...DAILY_CAP, id: 4, status: 'scheduled' },
    ],
    {},
    { capacity: 420, cap: { id: 4 } },
    0,
  ],
  [
    'nothing this month',
    [{ ...DAILY_CAP, period: 'month', window_end: MONTH_END, remaining: 0 }],
    {},
    { capacity: 0, isReached: true },
    0,
  ],
  [
    'nothing, ever, of a block',
    [{ ...DAILY_CAP, limit: 0, remaining: 0 }],
    { isThisWindowOnly: false },
    { capacity: 0, isReached: true },
    0,
  ],
  ['enough from tomorrow on', [{ ...DAILY_CAP, remaining: 0 }], { isThisWindowOnly: false }, { isReached: true }, 500],
  [
    'part of them',
    [{ ...DAILY_CAP, period: 'year', limit: 1_200, remaining: 1_200, window_end: '2026-12-31T23:00:00.000Z' }],
    {},
    { capacity: 1_200 },
    200,
  ],
])('a cap lets pass %s', (_title, caps, input, note, usable) => {
  const [gift] = plan([[MONTHLY, ...caps]], input).gifts
  expect(gift?.usable).toBe(usable)
  expect(gift?.notes).toMatchObject(note === null ? [] : [{ note: 'cap', units: 500, ...note }])
})

test.each<[Partial<SmsQuota>, ReturnType<typeof whyNoExtra>]>([
  [{}, null],
  [{ status: 'exhausted' }, null],
  [{ kind: 'cap' }, 'notAGrant'],
  [{ status: 'suspended' }, 'notLive'],
  [{ limit: null }, 'unlimited'],
  [{ period: null }, 'oneTime'],
])('units for one window of %o: %s', (quota, why) => {
  expect(whyNoExtra({ ...MONTHLY, ...quota })).toBe(why)
})

const read = (text: string) => readRows(parseCsv(text))

test.each([
  ['', { reason: 'noRows' }],
  ['\n\n', { reason: 'noRows' }],
  ['user_id\n', { reason: 'noRows' }],
  ['user_id,external_ref,limit\n', { reason: 'noRows' }],
  ['name,units\nAda,5\n', { reason: 'neededColumns' }],
  ['user_id,units,user_id\n', { reason: 'twice', name: 'user_id' }],
  ['user_id,external_ref,limit,colour\n1,a,5,red\n', { reason: 'unknownColumns', unknown: ['colour'] }],
])('the file %j means nothing', (text, problem) => {
  expect(read(text)).toMatchObject({ about: 'nothing', problem })
})

test('users of a file, with their units, and lines that name none', () => {
  expect(read('customer;Units\n1042; 1.000 \n7;0\n8;5\nada;5\n8;9\n')).toEqual({
    about: 'users',
    users: [{ line: 4, user_id: 8, units: 5 }],
    failures: [
      { line: 2, user: '1042', why: { reason: 'notUnits', text: '1.000' } },
      { line: 3, user: '7', why: { reason: 'notUnits', text: '0' } },
      { line: 5, user: 'ada', why: { reason: 'notAUser', text: 'ada' } },
      { line: 6, user: '8', why: { reason: 'twice' } },
    ],
  })
  expect(read('1042\n7\n')).toMatchObject({
    users: [
      { line: 1, user_id: 1042, units: null },
      { line: 2, user_id: 7 },
    ],
  })
})

test('quotas of a file, as the service takes them', () => {
  const text = 'user_id,external_ref,limit,countries,used\n1,a,,DE,5\n2,b,many,,\n3,c,5,,,,\n'
  expect(read(text)).toEqual({
    about: 'quotas',
    lines: [
      { line: 2, json: '{"user_id":1,"external_ref":"a","countries":["DE"]}' },
      { line: 3, json: '{"user_id":2,"external_ref":"b","limit":"many"}' },
    ],
    failures: [{ line: 4, cells: 7, columns: 5 }],
  })
})

test('a file of CSV with quotation marks, line breaks in cells and other separators', () => {
  expect(parseCsv('\uFEFFa\t"b\n""c"""\r\n\r\nd\te')).toEqual([
    { line: 1, cells: ['a', 'b\n"c"'] },
    { line: 4, cells: ['d', 'e'] },
  ])
  expect(() => parseCsv('a,b\n1,"2\n3,4\n')).toThrow(UnclosedQuote)
})
