/** Who of a file gets more units as the service says, what is asked of it, and what files mean. */
import { expect, test } from 'vitest'
import type { Api } from '../../console/src/api/types.ts'
import { whyNoExtra } from '../../console/src/model/bulk-change.ts'
import { type GiveInput, giftRequest } from '../../console/src/model/give-input.ts'
import {
  inputFor,
  planOf,
  requestsOf,
  type UserRecord,
  withGiftsOf,
  withoutEarlier,
} from '../../console/src/model/give-plan.ts'
import { COLUMN_EXAMPLES, COLUMN_NAMES, quotaTemplate } from '../../console/src/model/import-help.ts'
import { isOfUsersAlone, planLines, readRows } from '../../console/src/model/import-rows.ts'
import { zonedTime } from '../../console/src/model/zoned-time.ts'
import type { SmsQuota } from '../../src/contract/quotas.ts'
import { CsvError, parseCsv } from '../../src/domain/basics/csv-rows.ts'
import { QUOTA_COLUMNS, readQuotaRow } from '../../src/domain/quotas/quota-file.ts'
import { QUOTA } from './quota-fixture.ts'

const MONTHLY: SmsQuota = { ...QUOTA, limit: 1_000, remaining: 1_000, period: 'month', time_zone: 'Europe/Berlin' }
const INPUT: GiveInput = {
  units: '500',
  which: 'month',
  isThisWindowOnly: true,
  onceEnd: null,
  monthZone: null,
  reason: 'Outage',
}

const gift = (user_id: number, more: Partial<Api['Gift']> = {}, quota: Partial<SmsQuota> = {}): Api['Gift'] => ({
  quota: { ...MONTHLY, user_id, ...quota },
  units: 500,
  until: '2026-03-31T22:00:00.000Z',
  time_zone: 'Europe/Berlin',
  month_end: false,
  reference: `top-up-${user_id}`,
  earlier: [],
  notes: [],
  usable: null,
  ...more,
})

/** What the service says of users 1 to 5. Users 2 and 3 would get units with another choice. */
const once = gift(2, { month_end: true }, { period: null })
const RECORDS: UserRecord[] = [
  { record: 'given', user_id: 1, gift: gift(1) },
  { record: 'left_out', user_id: 2, reason: 'only_one_time', quota: once.quota, offer: once },
  {
    record: 'left_out',
    user_id: 3,
    reason: 'other_period',
    quota: { ...MONTHLY, period: 'day' },
    offer: gift(3, {}, { period: 'day' }),
  },
  { record: 'left_out', user_id: 4, reason: 'no_quota', quota: null, offer: null },
  { record: 'failed', user_id: 5, code: 'too_many_quotas', detail: 'Too many.' },
]

const plan = (records: readonly UserRecord[]) =>
  planOf(
    records.map(({ user_id }) => ({ line: user_id + 1, user_id, units: null })),
    new Map(records.map(record => [record.user_id, record])),
  )

test('who is left out gets units with another choice', () => {
  const first = plan(RECORDS)
  expect(first.gifts.map(({ line }) => line)).toEqual([2])
  expect(first.left.map(({ line, reason }) => [line, reason])).toEqual([
    [3, 'only_one_time'],
    [4, 'other_period'],
    [5, 'no_quota'],
    [6, 'refused'],
  ])
  expect(first.offers.map(({ which, gifts }) => [which, gifts.map(({ line }) => line)])).toEqual([
    ['once', [3]],
    ['day', [4]],
  ])
  const [ofPack, ofDay] = first.offers.map(offer => inputFor(offer, INPUT))
  expect(ofPack).toEqual({ ...INPUT, which: 'once', onceEnd: 'month', monthZone: 'Europe/Berlin' })
  expect(ofDay).toEqual({ ...INPUT, which: 'day', onceEnd: 'pack' })
  const all = first.offers.reduce(withGiftsOf, first)
  expect([all.gifts.map(({ line }) => line), all.left.map(({ line }) => line), all.offers]).toEqual([
    [2, 3, 4],
    [5, 6],
    [],
  ])
  // A request for each choice, so that all are given as they were shown.
  const common = { reason: 'Outage', again: false }
  expect(requestsOf(all.gifts, common)).toEqual([
    { ...common, users: [{ user_id: 1, units: 500 }], period: 'month', until: 'window_end' },
    {
      ...common,
      users: [{ user_id: 2, units: 500 }],
      period: null,
      until: 'month_end',
      time_zone: 'Europe/Berlin',
    },
    { ...common, users: [{ user_id: 3, units: 500 }], period: 'day', until: 'window_end' },
  ])
  const raised = planOf(
    [{ line: 2, user_id: 1, units: 5 }],
    new Map([[1, { record: 'given', user_id: 1, gift: gift(1, { reference: null, until: null }) }]]),
  )
  expect(requestsOf(raised.gifts, common)).toMatchObject([{ period: 'month', until: 'for_good' }])
})

test('who already got units can be left out', () => {
  const earlier = { ...MONTHLY, id: 5 }
  const { gifts, left } = withoutEarlier(
    plan([
      { record: 'given', user_id: 1, gift: gift(1, { earlier: [earlier] }) },
      { record: 'given', user_id: 2, gift: gift(2) },
    ]),
  )
  expect([gifts.map(({ line }) => line), left]).toMatchObject([
    [3],
    [{ line: 2, user: '1', reason: 'got_others', quota: { id: 5 } }],
  ])
})

test.each<[Partial<GiveInput>, object]>([
  [{}, { units: 500, period: 'month', until: 'window_end' }],
  [{ isThisWindowOnly: false }, { until: 'for_good' }],
  [{ which: 'once' }, { period: null, until: 'month_end' }],
  [
    { which: 'once', onceEnd: 'pack' },
    { period: null, until: 'window_end' },
  ],
  [
    { which: 'once', isThisWindowOnly: false },
    { period: null, until: 'window_end' },
  ],
  [{ which: 'once', monthZone: 'Asia/Tokyo' }, { time_zone: 'Asia/Tokyo' }],
])('the input %o asks for %o', (input, request) => {
  const users = [
    { user_id: 7, units: 20 },
    { user_id: 8, units: null },
  ]
  const asked = giftRequest(users, { ...INPUT, ...input })
  expect(asked).toMatchObject({ users: [{ user_id: 7, units: 20 }, { user_id: 8 }], reason: 'Outage', ...request })
})

test.each([
  ['Europe/Berlin', '2026-04-01T00:00:00+02:00'],
  ['UTC', '2026-03-31T22:00:00+00:00'],
  ['America/St_Johns', '2026-03-31T19:30:00-02:30'],
])('a time in %s', (zone, text) => {
  expect(zonedTime('2026-03-31T22:00:00.000Z', zone)).toBe(text)
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
  ['user_id,external_ref,LIMIT,Limit\n1,a,5,6\n', { reason: 'twice', name: 'limit' }],
  ['name,units\nAda,5\n', { reason: 'neededColumns' }],
  ['user_id,units,user_id\n', { reason: 'twice', name: 'user_id' }],
  ['user_id,external_ref,limit,colour\n1,a,5,red\n', { reason: 'unknownColumns', unknown: ['colour'] }],
])('the file %j means nothing', (text, problem) => {
  expect(read(text)).toMatchObject({ about: 'nothing', problem })
})

test('a file of plans is for the import, and one of users with a plan of their own is not', () => {
  expect(read('user_id,Plan\n7,Basic\n8,3\n7,Gold\n')).toMatchObject({
    about: 'quotas',
    of: 'plans',
    lines: [
      { line: 2, json: '{"user_id":7,"plan":"Basic"}' },
      { line: 3, json: '{"user_id":8,"plan":3}' },
    ],
    failures: [{ line: 4, fault: { reason: 'repeated', earlier: 2 } }],
  })
  expect(read('user_id,plan,external_ref,limit\n7,Basic,,\n8,,a,5\n')).toMatchObject({ of: 'both' })
  expect(read('user_id,plan,units\n7,Basic,5\n')).toMatchObject({ about: 'users', users: [{ user_id: 7, units: 5 }] })
})

test('the help has an example of each column, which the import reads as the column means it', () => {
  expect(COLUMN_NAMES).toEqual(QUOTA_COLUMNS)
  expect(
    readQuotaRow(
      COLUMN_NAMES,
      COLUMN_NAMES.map(name => COLUMN_EXAMPLES[name]),
    ),
  ).toMatchObject({
    value: {
      id: 4711,
      user_id: 1042,
      limit: 1000,
      countries: ['DE', 'AT'],
      message_types: ['otp'],
      alert_at: [80, 100],
      enabled: true,
      metadata: { contract: 'K-1' },
      allow_below_usage: true,
      plan: 'Basic',
    },
  })
})

test('the template is a file of two new quotas', () => {
  const content = read(quotaTemplate())
  expect(content).toMatchObject({ about: 'quotas', of: 'quotas', failures: [], lines: [{ line: 2 }, { line: 3 }] })
  const quotas = 'lines' in content ? content.lines.map(({ json }) => JSON.parse(json)) : []
  expect(quotas).toMatchObject([
    { user_id: 1042, kind: 'grant', external_ref: 'contract-1042', alert_at: [80, 100], metadata: { contract: 'K-1' } },
    { user_id: 1042, kind: 'cap', external_ref: 'abroad-1042', countries: ['FR', 'ES'] },
  ])
})

test.each([
  ['1042\n7\n', true],
  ['customer,company\n1042,Example Ltd\nada,\n', true],
  ['customer,units\n1042,5\n', false],
  ['customer\nada\n', false],
])('whether the users of %j can get a plan: %s', (text, can) => {
  const content = read(text)
  expect('users' in content && isOfUsersAlone(content.users)).toBe(can)
})

test('a plan for the users of a list is what a file of plans says', () => {
  const [list, file] = [read('customer\n1042\n7\n'), read('user_id,plan\n1042,3\n7,3\n')]
  expect('users' in list && planLines(list.users, 3)).toEqual('lines' in file && file.lines)
})

test('users of a file, with their units, and lines that name none', () => {
  expect(read('customer;Units\n1042; 1.000 \n7;0\n8;5\nada;5\n8;9\n')).toEqual({
    about: 'users',
    users: [{ line: 4, user_id: 8, units: 5 }],
    failures: [
      { line: 2, reason: 'not_units', user: '1042', text: '1.000' },
      { line: 3, reason: 'not_units', user: '7', text: '0' },
      { line: 5, reason: 'not_a_user', user: 'ada', text: 'ada' },
      { line: 6, reason: 'twice', user: '8', text: '4' },
    ],
  })
  expect(read('1042\n7\n')).toMatchObject({
    users: [
      { line: 1, user_id: 1042, units: null },
      { line: 2, user_id: 7 },
    ],
  })
})

test.each([
  // Of several columns that could name users or units, the surest one counts.
  ['customer,user_id\nAda,7\n', [{ line: 2, user_id: 7, units: null }]],
  ['user_id,amount,units\n7,9.99,5\n', [{ line: 2, user_id: 7, units: 5 }]],
  [' USER_ID ;\u00A0Units\n 7\u00A0;5\n', [{ line: 2, user_id: 7, units: 5 }]],
  [
    "sep=;\nuser_id;units;;\n'7;5;;\n\n8;6;;\n",
    [
      { line: 3, user_id: 7, units: 5 },
      { line: 5, user_id: 8, units: 6 },
    ],
  ],
  // Users with ids of their own, such as those of another system.
  ['id,user_id,email\n1,7,a@b\n', [{ line: 2, user_id: 7, units: null }]],
])('the users of %j', (text, users) => {
  expect(read(text)).toEqual({ about: 'users', users, failures: [] })
})

test.each([
  // A thousands separator must not become a cell of its own.
  ['user_id,units\n7,1,000\n', { line: 2, reason: 'too_many_cells', user: '7', text: '3' }],
  ['7\n8,5\n', { line: 2, reason: 'too_many_cells', user: '8', text: '2' }],
  ['user_id\n007\n', { line: 2, reason: 'not_a_user', user: '007', text: '007' }],
  ['user_id\n7.0\n', { line: 2, reason: 'not_a_user', user: '7.0', text: '7.0' }],
  ['user_id\n1,2E+11\n', { line: 2, reason: 'too_many_cells', user: '1', text: '2' }],
  ['user_id;units\n7;1e3\n', { line: 2, reason: 'not_units', user: '7', text: '1e3' }],
  ['user_id\n-0\n', { line: 2, reason: 'not_a_user', user: '-0', text: '-0' }],
  ['user_id;units\n7;\\N\n', { line: 2, reason: 'not_units', user: '7', text: '\\N' }],
  ['user_id;units\n7;\n', { line: 2, reason: 'not_units', user: '7', text: '' }],
])('a line of %j gives nothing', (text, failure) => {
  expect(read(text)).toMatchObject({ failures: [failure] })
})

test('quotas of a file, as the service takes them', () => {
  const text =
    'USER_ID, External_Ref ,limit,countries,used,\n1,a,,DE,5,\n2,b,many,,,,,\n3,c,5,,,,x\n4,d,5,,,x\n1,a,7\n5,#N/A,5\n'
  expect(read(text)).toEqual({
    about: 'quotas',
    of: 'quotas',
    lines: [
      { line: 2, json: '{"user_id":1,"external_ref":"a","countries":["DE"]}' },
      { line: 3, json: '{"user_id":2,"external_ref":"b","limit":"many"}' },
    ],
    failures: [
      { line: 4, fault: { reason: 'too_many_cells', cells: 7, columns: 6 } },
      { line: 5, fault: { reason: 'nameless_column', column: 6 } },
      { line: 6, fault: { reason: 'repeated', earlier: 2 } },
      { line: 7, fault: { reason: 'lost', column: 'external_ref', text: '#N/A' } },
    ],
  })
})

test('a file of CSV with quotation marks, line breaks in cells and other separators', () => {
  expect(parseCsv('\uFEFFa\t"b\n""c"""\r\n\r\nd\te')).toEqual([
    { line: 1, cells: ['a', 'b\n"c"'] },
    { line: 4, cells: ['d', 'e'] },
  ])
  expect(() => parseCsv('a,b\n1,"2\n3,4\n')).toThrow(CsvError)
})
