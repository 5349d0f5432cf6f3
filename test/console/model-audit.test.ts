/** The list of administrators' changes: by how much each moves a limit, its line of CSV, and the ranges of days that select them. */
import { expect, test } from 'vitest'
import { type Change, CSV_HEAD, csvLineOf, differenceOf } from '../../console/src/model/audit.ts'
import { dayRange, dayRangeOf } from '../../console/src/model/time-ranges.ts'
import { QUOTA } from './quota-fixture.ts'

const CHANGE: Change = {
  resource: 'quota',
  thing_id: 1,
  user_id: 7,
  user_ref: 'K-7',
  user_name: null,
  action: 'updated',
  version: 2,
  at: '2026-03-10T12:00:00.000Z',
  actor: 'ann',
  request_id: 'call-1',
  reason: null,
  transfer_id: null,
  before: QUOTA,
  after: QUOTA,
}
const extra = { ...QUOTA, name: '=1+1', limit: 20, metadata: { extends_quota: '1', reason: 'Campaign' } }
const updated = (before: object, after: object): Partial<Change> => ({
  before: { ...QUOTA, ...before },
  after: { ...QUOTA, ...after },
})

test.each<[string, Partial<Change>, ReturnType<typeof differenceOf>]>([
  ['a larger limit', updated({ limit: 100 }, { limit: 600 }), 500],
  ['a smaller limit', updated({ limit: 100 }, { limit: 40 }), -60],
  ['more overage', updated({}, { overage_limit: 30 }), 30],
  ['overage in place of the limit', updated({ overage_limit: 0 }, { limit: 90, overage_limit: 10 }), null],
  ['no limit any more', updated({}, { limit: null }), 'unlimited'],
  ['a limit again', updated({ limit: null }, { limit: 100 }), null],
  ['another name', updated({}, { name: 'Package' }), null],
  ['extra units', { action: 'created', before: null, after: extra }, 20],
  ['a new grant', { action: 'created', before: null }, 100],
  ['a new grant without a limit', { action: 'created', before: null, after: { ...QUOTA, limit: null } }, 'unlimited'],
  ['a new cap', { action: 'created', before: null, after: { ...QUOTA, kind: 'cap' } }, null],
  ['a grant of a transfer', { action: 'created', before: null, transfer_id: 5 }, null],
  ['a deleted quota', { action: 'deleted' }, null],
  ['a record without overage', { before: { limit: 5 }, after: { limit: 8 } }, 3],
  ['a plan', { resource: 'plan', action: 'updated' }, null],
])('%s is a difference', (_title, change, expected) => {
  expect(differenceOf({ ...CHANGE, ...change })).toBe(expected)
})

test.each<[string, Partial<Change>, string]>([
  [
    'an adjustment',
    {
      ...updated({ version: 1, remaining: 100 }, { limit: 600, version: 2, remaining: 600 }),
      reason: 'Goodwill, once',
    },
    'ann,Ann Lee,quota,1,,7,K-7,,updated,100,600,500,"Goodwill, once",limit,call-1,,',
  ],
  [
    'extra units, whose name is no formula',
    { action: 'created', before: null, after: extra },
    `ann,Ann Lee,quota,1,'=1+1,7,K-7,,created,,20,20,Campaign,,call-1,,`,
  ],
  [
    'no limit any more',
    updated({}, { limit: null, name: 'Free' }),
    'ann,Ann Lee,quota,1,Free,7,K-7,,updated,100,unlimited,unlimited,,name limit,call-1,,',
  ],
  [
    'a pause',
    {
      resource: 'pause',
      thing_id: 3,
      user_id: null,
      user_ref: null,
      action: 'created',
      before: null,
      after: { country: 'NG', reason: 'Pumped codes', version: 1 },
    },
    'ann,Ann Lee,pause,3,NG,,,,created,,,,Pumped codes,,call-1,,',
  ],
  [
    'a decided request',
    {
      resource: 'increase_request',
      thing_id: 4,
      action: 'approved',
      before: { units: 5, reason: 'Sale' },
      after: { units: 5, reason: 'Sale', note: 'Fine' },
    },
    'ann,Ann Lee,increase_request,4,,7,K-7,,approved,,,,Fine,,call-1,,',
  ],
  [
    'a webhook that the service changed',
    {
      resource: 'webhook',
      thing_id: 5,
      user_id: null,
      user_ref: null,
      request_id: null,
      before: { enabled: true, version: 1 },
      after: { enabled: false, version: 2 },
    },
    'ann,Ann Lee,webhook,5,,,,,updated,,,,,enabled,,,',
  ],
])('%s as a line of CSV', (_title, change, line) => {
  expect(csvLineOf({ ...CHANGE, ...change }, 'Ann Lee')).toBe(`2026-03-10T12:00:00.000Z,${line}\n`)
  expect(CSV_HEAD.split(',')).toHaveLength(18)
})

const day = (month: number, date: number) => new Date(2026, month - 1, date).toISOString()

test.each([
  ['today', [3, 18], [3, 19]],
  ['yesterday', [3, 17], [3, 18]],
  ['last7Days', [3, 12], [3, 19]],
  ['lastWeek', [3, 9], [3, 16]],
  ['thisMonth', [3, 1], [4, 1]],
] as const)('%s is a range of whole days, from a Wednesday on', (name, [month, from], [toMonth, to]) => {
  const wednesday = new Date(2026, 2, 18, 15, 30)
  const range = { from: day(month, from), to: day(toMonth, to) }
  expect(dayRange(name, wednesday)).toEqual(range)
  expect(dayRangeOf(range, wednesday)).toBe(name)
  expect(dayRangeOf({ ...range, to: null }, wednesday)).toBe(null)
})

test.each([
  [
    [3, 16],
    [3, 9],
    [3, 16],
  ],
  [
    [3, 22],
    [3, 9],
    [3, 16],
  ],
  [
    [3, 2],
    [2, 23],
    [3, 2],
  ],
] as const)('on %o the last week is the one from Monday to Sunday before', ([month, date], from, to) => {
  const range = { from: day(from[0], from[1]), to: day(to[0], to[1]) }
  expect(dayRange('lastWeek', new Date(2026, month - 1, date, 0, 1))).toEqual(range)
})
