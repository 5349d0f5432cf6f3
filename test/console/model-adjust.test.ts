/** The change of a limit that demand proposes, and how units are added for a time. */
import { expect, test } from 'vitest'
import {
  addedTo,
  comparedPeriod,
  type Demand,
  deltaOf,
  grantedOf,
  isException,
  proposalOf,
} from '../../console/src/model/demand.ts'
import { isBlock } from '../../console/src/model/quota-status.ts'
import {
  canRaiseForWindow,
  currentRaise,
  followingCap,
  raisesOf,
  withMarks,
} from '../../console/src/model/raised-cap.ts'
import type { SmsQuota } from '../../src/contract/quotas.ts'
import { extraGrant, isExtra } from '../../src/domain/quotas/extra-grant.ts'
import { QUOTA } from './quota-fixture.ts'

const CAP: SmsQuota = {
  ...QUOTA,
  id: 2,
  kind: 'cap',
  name: 'Ceiling',
  period: 'day',
  window_end: '2026-03-02T00:00:00.000Z',
  used: 100,
  remaining: 0,
}
const DEMAND: Demand = { committed: 90, denied: 0, busiest: null, deniedBefore: 0 }

test.each<[string, Partial<SmsQuota>, Partial<Demand>, object | null]>([
  ['nothing where nothing is missing', {}, {}, null],
  ['nothing without a limit', { limit: null }, { denied: 10 }, null],
  ['what was denied', {}, { denied: 26 }, { amount: 26, busiestOf: null }],
  ['what was denied beyond what is left', { used: 80 }, { denied: 26 }, { amount: 6, busiestOf: null }],
  ['the busiest window before', {}, { denied: 26, busiest: 210 }, { amount: 110, busiestOf: 'day' }],
  ['what was denied, if that is more', {}, { denied: 120, busiest: 210 }, { amount: 120, busiestOf: null }],
  [
    'the busiest window beyond what rolled over',
    { rolled_over: 50 },
    { busiest: 210 },
    { amount: 60, busiestOf: 'day' },
  ],
  ['no window of a year', { period: 'year' }, { denied: 1, busiest: 210 }, { amount: 1, busiestOf: null }],
])('the dialog proposes %s', (_title, quota, demand, proposal) => {
  expect(proposalOf({ ...CAP, ...quota }, { ...DEMAND, ...demand })).toEqual(proposal)
})

test.each([
  ['day', 3, true],
  ['day', 4, false],
  ['month', 1, true],
  ['month', 2, false],
  ['year', 9, true],
  [null, 9, true],
] as const)(
  'in windows of a %s, denials in %d of those before are an exception: %s',
  (period, deniedBefore, expected) => {
    expect(isException({ period, anchor: null }, { ...DEMAND, deniedBefore })).toBe(expected)
  },
)

test('without a report, too little is an exception', () => {
  expect(isException({ period: 'day', anchor: null }, null)).toBe(true)
})

test.each([
  ['year', null, null],
  ['week', null, 'week'],
  ['month', null, 'month'],
  ['month', '1', 'month'],
  // Reports have calendar months only.
  ['month', '15', null],
  [null, null, null],
] as const)('windows of a %s with the anchor %s are compared by %s', (period, anchor, compared) => {
  expect(comparedPeriod({ period, anchor })).toBe(compared)
})

test('what was granted is the usage of a cap that resets, else the report', () => {
  expect(grantedOf(CAP, DEMAND)).toBe(100)
  expect(grantedOf({ ...CAP, period: null }, DEMAND)).toBe(90)
  expect(grantedOf({ ...CAP, kind: 'grant' }, DEMAND)).toBe(90)
})

test.each([
  ['', false, 100, null, '100', false],
  ['100', false, 100, null, '200', false],
  ['100', false, -500, null, '400', true],
  ['100', true, 100, null, '', false],
  ['many', false, 100, null, '100', false],
  ['900', false, 500, 1_000, '1000', false],
] as const)('%o (decrease: %s) and %d within %s are %o', (units, isDecrease, amount, bound, sum, isLess) => {
  expect(addedTo({ units, isDecrease }, amount, bound)).toEqual({ units: sum, isDecrease: isLess })
})

test.each([
  ['1.000', true, -1_000],
  ['1 000', false, 1_000],
  ['', true, ''],
  ['-5', false, '-5'],
] as const)('the change of %o (decrease: %s) is %o', (units, isDecrease, delta) => {
  expect(deltaOf({ units, isDecrease })).toBe(delta)
})

test.each<[string, Partial<SmsQuota>, boolean]>([
  ['that resets', {}, true],
  ['of one window', { period: null }, false],
  ['without a limit', { limit: null }, false],
  ['that ends with its window', { expires_at: CAP.window_end }, false],
  ['with as many keys of metadata as the API accepts', { metadata: keys(15) }, false],
  ['with two keys fewer', { metadata: keys(14) }, true],
  ['that is a grant', { kind: 'grant' }, false],
])('a cap %s can be raised for its window: %s', (_title, cap, expected) => {
  expect(canRaiseForWindow({ ...CAP, ...cap })).toBe(expected)
})

function keys(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`key-${index}`, '']))
}

const RAISED: SmsQuota = { ...CAP, limit: 150, expires_at: CAP.window_end }
const NEXT: SmsQuota = { ...CAP, id: 3, status: 'scheduled', starts_at: '2026-03-02T00:00:00.000Z' }

test('a raised cap is followed by one with the old limit, from the end of its window on', () => {
  const calendar = { period: 'month', anchor: '15', time_zone: 'Asia/Tokyo' } as const
  const cap: SmsQuota = { ...CAP, ...calendar, metadata: { team: 'north' }, countries: ['DE'] }
  expect(followingCap(cap)).toMatchObject({
    ...calendar,
    limit: 100,
    starts_at: CAP.window_end,
    expires_at: null,
    countries: ['DE'],
    metadata: { team: 'north', continues_quota: '2' },
  })
})

test.each<[string, Partial<SmsQuota>, Partial<SmsQuota>, boolean]>([
  ['the same cap with a lower limit follows', {}, {}, true],
  ['the next one is as high', {}, { limit: 150 }, false],
  ['the next one has another name', {}, { name: 'Other' }, false],
  ['the next one is for other messages', {}, { countries: ['DE'] }, false],
  ['the next one resets on another day', {}, { anchor: '15' }, false],
  ['the next one starts later', {}, { starts_at: '2026-03-03T00:00:00.000Z' }, false],
  ['the next one counts already', {}, { status: 'active' }, false],
  ['it does not end with its window', { expires_at: null }, {}, false],
])('users see that a cap is raised where %s', (_title, raised, next, isRaised) => {
  const [first, second] = withMarks([
    { ...RAISED, ...raised },
    { ...NEXT, ...next },
  ])
  const raise = { from: 100, to: 150, until: CAP.window_end }
  expect(first && currentRaise(first)).toEqual(isRaised ? raise : null)
  expect(second?.metadata).toEqual(isRaised ? { continues_quota: '2' } : {})
})

test('a raise ends with its cap', () => {
  const metadata = { raised_from: '100' }
  expect(currentRaise({ ...RAISED, metadata })).not.toBe(null)
  for (const status of ['expired', 'deleted'] as const) expect(currentRaise({ ...RAISED, metadata, status })).toBe(null)
  expect(currentRaise({ ...RAISED, metadata, limit: 100 })).toBe(null)
})

test.each<[string, Partial<SmsQuota>, number | null]>([
  ['has its old limit', {}, 100],
  ['has another limit since', { limit: 120 }, 120],
  ['is no lower any more', { limit: 150 }, null],
  ['has no limit any more', { limit: null }, null],
  ['is on another page of quotas', { id: 9 }, 100],
])('a raise ends with what the cap that follows allows, which %s', (_title, next, from) => {
  const metadata = { raised_from: '100', continued_by: '3' }
  const items = [
    { ...RAISED, metadata },
    { ...NEXT, ...next },
  ]
  const raise = raisesOf({ items }).get(RAISED.id)
  expect(raise?.from ?? null).toBe(from)
})

test.each<[string, Partial<SmsQuota>, string | null, number]>([
  ['that does not roll over', {}, '2026-04-01T00:00:00.000Z', 100],
  ['that rolls over', { rollover_limit: 500 }, '2026-04-01T00:00:00.000Z', 99],
  ['that rolls over, and pays first already', { rollover_limit: 500, priority: 0 }, '2026-04-01T00:00:00.000Z', 0],
  ['that rolls over before they end', { rollover_limit: 500 }, '2026-04-01T00:00:00.001Z', 100],
  ['that rolls over, without an end', { rollover_limit: 500 }, null, 100],
])('extra units of a grant %s pay in the right turn', (_title, grant, end, priority) => {
  const quota: SmsQuota = { ...QUOTA, id: 9, period: 'month', window_end: '2026-04-01T00:00:00.000Z', ...grant }
  const extra = extraGrant({ quota, units: 5, end }, { name: 'n'.repeat(200), reason: 'r'.repeat(600) })
  expect(extra).toMatchObject({ user_id: quota.user_id, limit: 5, expires_at: end, priority })
  expect([extra.name.length, extra.metadata.reason.length, isExtra(extra)]).toEqual([120, 500, true])
})

test('a long name and a long reason are not cut within an emoji', () => {
  const [name, reason] = [`${'n'.repeat(119)}😀😀`, `${'r'.repeat(499)}😀`]
  const extra = extraGrant({ quota: { ...QUOTA, id: 9 }, units: 5, end: null }, { name, reason })
  expect([extra.name, extra.metadata.reason]).toEqual(['n'.repeat(119), 'r'.repeat(499)])
  const whole = extraGrant(
    { quota: { ...QUOTA, id: 9 }, units: 5, end: null },
    { name: `${'n'.repeat(118)}😀`, reason },
  )
  expect(whole.name).toBe(`${'n'.repeat(118)}😀`)
})

test.each<[Partial<SmsQuota>, boolean]>([
  [{ kind: 'cap', limit: 0, status: 'exhausted' }, true],
  [{ kind: 'cap', limit: 0, status: 'suspended' }, false],
  [{ kind: 'cap', limit: 5, status: 'exhausted' }, false],
  [{ kind: 'grant', limit: 0, status: 'exhausted' }, false],
])('%o is a block: %s', (quota, expected) => {
  expect(isBlock({ ...QUOTA, ...quota })).toBe(expected)
})
