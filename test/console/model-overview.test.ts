/** What the overview puts first: who is blocked, who runs out, where unusually many messages go, and what just happened. */
import { expect, test } from 'vitest'
import {
  blockedUntil,
  blockedUsersOf,
  deniedOf,
  groupsOf,
  sendableBeside,
  stillBlocking,
  whyBlocked,
} from '../../console/src/model/blocked-users.ts'
import { kindOf, linesOf, NO_EVENTS, purposeOf, withNew } from '../../console/src/model/events.ts'
import { isWithinMinutes, runOutWithinDays } from '../../console/src/model/run-out.ts'
import { blocksAll, destinationsOf, enteredShares, isUnusual } from '../../console/src/model/traffic.ts'
import type { SmsQuota } from '../../src/contract/quotas.ts'
import { QUOTA } from './quota-fixture.ts'

type Summary = Parameters<typeof runOutWithinDays>[0]
type Denial = Parameters<typeof blockedUsersOf>[0]['denials'][number]
type Alert = Parameters<typeof blockedUsersOf>[0]['alerts'][number]
type Cap = Summary['caps'][number]

const NOW = '2026-03-10T12:00:00.000Z'
const after = (days: number) => new Date(Date.parse(NOW) + days * 86_400_000).toISOString()

const SUMMARY: Summary = {
  user_id: 7,
  as_of: NOW,
  available: 30,
  available_until: null,
  default_plan: null,
  limit: 100,
  used: 70,
  reserved: 0,
  overage: 0,
  unlimited: false,
  remaining: 30,
  denial: null,
  scopes: [],
  paused: [],
  caps: [],
  breakdown: [],
  by_status: {},
  next_reset: null,
  next_expiry: null,
  forecast: null,
}
const CAP: Cap = {
  quota_id: 2,
  name: 'Block',
  period: null,
  anchor: null,
  time_zone: 'UTC',
  counts: 'units',
  countries: ['NG'],
  message_types: null,
  limit: 0,
  used: 0,
  reserved: 0,
  remaining: 0,
  window_end: null,
  alert_at: [],
}
const forecast = (days: number | null, units = days) => ({
  daily_rate: 10,
  runs_out_at: days === null ? null : after(days),
  units_run_out_at: units === null ? null : after(units),
})

test.each<[string, Partial<Summary>, object | null]>([
  ['no forecast', {}, null],
  ['units that do not run out', { forecast: forecast(null) }, null],
  ['nothing to send now', { forecast: forecast(0) }, null],
  ['more than a week', { forecast: forecast(7.01) }, null],
  [
    'three days',
    { forecast: forecast(3) },
    { runsOutAt: after(3), left: 30, unused: 0, isSoon: false, missing: { units: 40, until: after(7) } },
  ],
  ['some minutes', { forecast: forecast(0.01) }, { isSoon: true }],
  [
    'a reset before the week is over',
    { forecast: forecast(3), next_reset: { at: after(5), units: 100 } },
    { missing: { units: 20, until: after(5) } },
  ],
  [
    'a reset before that',
    { forecast: forecast(3), next_reset: { at: after(2), units: 100 } },
    { missing: { units: 40, until: after(7) } },
  ],
  ['a cap that resets', { forecast: forecast(2, null), caps: [{ ...CAP, period: 'day' }] }, null],
  [
    'units behind a cap that resets',
    { forecast: forecast(2, 6), remaining: 60, caps: [{ ...CAP, period: 'week' }] },
    { runsOutAt: after(6), left: 60 },
  ],
  ['a cap for long', { forecast: forecast(2, 6), caps: [{ ...CAP, period: 'month' }] }, { runsOutAt: after(2) }],
  ['units that end before', { forecast: forecast(3), available: 920 }, { unused: 890 }],
  ['less than a day’s units that end before', { forecast: forecast(3), available: 40 }, { unused: 0 }],
])('running out, with %s', (_title, summary, found) => {
  const rows = runOutWithinDays({ ...SUMMARY, ...summary })
  if (found === null) expect(rows).toEqual([])
  else expect(rows).toEqual([expect.objectContaining({ user_id: 7, dailyRate: 10, ...found })])
})

test('an estimate within 15 minutes is soon', () => {
  const in15 = new Date(Date.parse(NOW) + 15 * 60_000)
  expect(isWithinMinutes(in15.toISOString(), NOW)).toBe(false)
  expect(isWithinMinutes(new Date(in15.getTime() - 1).toISOString(), NOW)).toBe(true)
})

const sum = (asked: number, denied = 0) => ({ asked, denied, sent: asked - denied, messages: 9, verified: 8 })

test.each([
  ['new', { asked: 20, denied: 0, usual: 0 }, true],
  ['new, but few', { asked: 19, denied: 0, usual: 0 }, false],
  ['three times as much', { asked: 300, denied: 299, usual: 100 }, true],
  ['not three times as much', { asked: 299, denied: 0, usual: 100 }, false],
  ['denied altogether', { asked: 300, denied: 300, usual: 0 }, false],
  ['before the week is loaded', { asked: 300, denied: 0, usual: null }, false],
])('a destination that is %s', (_title, destination, expected) => {
  expect(isUnusual(destination)).toBe(expected)
})

test('unusual destinations come first, then those with most units, beside a day of the week before', () => {
  const sums = new Map([
    ['DE', sum(700)],
    ['NG', sum(60)],
    [null, sum(800, 5)],
  ])
  const usual = new Map([
    ['DE', sum(4_900)],
    [null, sum(5_600)],
  ])
  expect(destinationsOf(sums, usual)).toEqual([
    { key: 'NG', asked: 60, denied: 0, usual: 0, messages: 9, verified: 8 },
    { key: null, asked: 800, denied: 5, usual: 800, messages: 9, verified: 8 },
    { key: 'DE', asked: 700, denied: 0, usual: 700, messages: 9, verified: 8 },
  ])
  expect(destinationsOf(sums, undefined).map(({ key, usual }) => [key, usual])).toEqual([
    [null, null],
    ['DE', null],
    ['NG', null],
  ])
})

test('the shares of entered codes are those of all periods, and none without feedback', () => {
  const of = (messages: number, verified: number) => ({ ...sum(0), messages, verified })
  const week = new Map([
    ['FR', of(900, 850)],
    ['NG', of(40, 0)],
    [null, of(5_000, 0)],
  ])
  const day = new Map([
    ['FR', of(100, 62)],
    ['DE', of(500, 400)],
    ['AT', of(0, 0)],
  ])
  expect(enteredShares([day, week])).toEqual([
    { country: 'FR', messages: 1_000, verified: 912 },
    { country: 'DE', messages: 500, verified: 400 },
    { country: 'NG', messages: 40, verified: 0 },
  ])
  expect(enteredShares([new Map([['FR', of(900, 0)]])])).toEqual([])
})

test('a destination is blocked by a cap that blocks all messages there', () => {
  const types = { countries: null, message_types: ['otp'] }
  expect([blocksAll('country', BLOCK), blocksAll('message_type', { ...BLOCK, ...types })]).toEqual([true, true])
  const both = { ...BLOCK, message_types: ['otp'] }
  expect([blocksAll('country', both), blocksAll('message_type', both)]).toEqual([false, false])
  expect(blocksAll('country', { ...BLOCK, status: 'suspended' })).toBe(false)
})

const DENIAL: Denial = {
  denial_id: 'den_1',
  op: 'consume',
  id: 'message',
  user_id: 7,
  at: '2026-03-10T11:30:00.000Z',
  units: 5,
  allow_partial: false,
  reason: 'quota_exhausted',
  limiting_quota_id: 1,
  country: null,
  message_type: null,
  remaining: 0,
  retry_at: after(1),
  skipped: 0,
}
const exhausted = (quota: Partial<SmsQuota>): SmsQuota => ({
  ...QUOTA,
  user_id: 7,
  status: 'exhausted',
  remaining: 0,
  ...quota,
})
const BLOCK = exhausted({ id: 2, kind: 'cap', limit: 0, countries: ['NG'] })
const alert = (quota: SmsQuota): Alert => ({ quota, percent: 100, at: NOW })
const blocks = (alerts: SmsQuota[], denials: Denial[]) => ({
  alerts: alerts.map(alert),
  denials,
  from: NOW,
  hasMore: false,
})

test('those without intent come first, then those with most denials; a quota with overage is not used up', () => {
  const users = blockedUsersOf(
    blocks(
      [{ ...BLOCK, user_id: 1 }, exhausted({ user_id: 2 }), { ...QUOTA, user_id: 3 }],
      [
        { ...DENIAL, user_id: 4 },
        { ...DENIAL, user_id: 4 },
        { ...DENIAL, user_id: 5, skipped: 9 },
      ],
    ),
  )
  expect(users.map(({ user_id }) => user_id)).toEqual([5, 4, 2, 1])
})

test.each([
  [[], 0, false],
  [[0, 0], 2, false],
  [[0, 3], 5, true],
  [[null], 1, true],
  [Array.from({ length: 30 }, () => 0), 30, true],
])('denials of which the log left out %o are %d', (skipped, count, isAtLeast) => {
  const denials = skipped.map(left => ({ ...DENIAL, skipped: left }))
  expect(deniedOf({ user_id: 7, usedUp: [], denials })).toEqual({ count, isAtLeast })
})

const denied = { reason: 'quota_exhausted', limiting_quota_id: 1, retry_at: null } as const
const NIGERIA = {
  countries: ['NG'],
  message_types: null,
  available: 0,
  denial: { ...denied, reason: 'cap_reached' },
} as const

test.each<[string, Partial<Denial>, Partial<Summary>, boolean]>([
  ['still denied', {}, { denial: denied }, true],
  ['granted now', {}, {}, false],
  ['of more units than there are', { units: 31 }, {}, true],
  ['that may be partial', { units: 31, allow_partial: true }, {}, false],
  ['after the summary', { at: after(1) }, {}, true],
  ['to a country that is blocked', { country: 'NG' }, { scopes: [{ ...NIGERIA, countries: ['NG'] }] }, true],
  ['to another country', { country: 'DE' }, { scopes: [{ ...NIGERIA, countries: ['NG'] }] }, false],
])('a denial %s', (_title, denial, summary, isBlocking) => {
  const user = { user_id: 7, denials: [{ ...DENIAL, ...denial }], usedUp: [] }
  expect(stillBlocking(user, { ...SUMMARY, ...summary }).denials.length > 0).toBe(isBlocking)
})

test('users who are blocked on purpose stand apart, and so do those who can send again', () => {
  const used = exhausted({ id: 1, window_end: after(2) })
  const users = [
    { user_id: 1, denials: [], usedUp: [BLOCK] },
    { user_id: 2, denials: [], usedUp: [BLOCK, used] },
    { user_id: 3, denials: [DENIAL], usedUp: [] },
    { user_id: 4, denials: [{ ...DENIAL, limiting_quota_id: 2, country: 'NG' }], usedUp: [] },
  ]
  const summaries = new Map<number, Summary>([
    [3, SUMMARY],
    [4, { ...SUMMARY, caps: [CAP], scopes: [{ ...NIGERIA, countries: ['NG'] }] }],
  ])
  const { now, onPurpose, again } = groupsOf(users, summaries)
  expect([now, onPurpose, again].map(group => group.map(({ user_id }) => user_id))).toEqual([[2], [1, 4], [3]])
  // What was not intended comes first.
  expect(now[0]?.blocking.usedUp.map(({ id }) => id)).toEqual([1, 2])
  expect(onPurpose[1]?.blocking.blocks).toEqual([{ id: 2, kind: 'cap', name: 'Block' }])
})

test('why and until when a user is blocked', () => {
  const byBlock = { ...DENIAL, limiting_quota_id: 2 }
  const isByBlock = ({ limiting_quota_id }: Denial) => limiting_quota_id === 2
  const used = exhausted({ window_end: after(2) })
  expect(whyBlocked(DENIAL, { usedUp: [], isByBlock })).toBe(DENIAL)
  expect(whyBlocked(byBlock, { usedUp: [], isByBlock })).toBe('block')
  expect(whyBlocked(null, { usedUp: [BLOCK], isByBlock })).toBe('block')
  expect(whyBlocked(null, { usedUp: [BLOCK, used], isByBlock })).toBe('exhausted')
  expect(blockedUntil(DENIAL, { usedUp: [used] })).toBe(after(1))
  expect(blockedUntil(null, { usedUp: [exhausted({ window_end: after(3) }), used, BLOCK] })).toBe(after(2))
  expect(blockedUntil(null, { usedUp: [BLOCK] })).toBe(null)
})

test('what a user can send beside a quota is the answer to messages that it counts', () => {
  const summary = { ...SUMMARY, scopes: [{ ...NIGERIA, countries: ['NG'], available: 3 }] }
  expect(sendableBeside(BLOCK, summary)).toBe(3)
  expect(sendableBeside(QUOTA, summary)).toBe(30)
  expect(sendableBeside({ ...QUOTA, countries: ['FR'] }, summary)).toBe(30)
})

test.each<[Partial<SmsQuota>, string]>([
  [{}, 'grant'],
  [{ metadata: { extends_quota: '1' } }, 'extra'],
  [{ kind: 'cap' }, 'cap'],
  [{ kind: 'cap', limit: 0 }, 'block'],
])('a new quota %o is a %s', (quota, purpose) => {
  expect(purposeOf({ ...QUOTA, ...quota })).toBe(purpose)
})

type Event = Parameters<typeof kindOf>[0]

const created = (index: number, quota: Partial<SmsQuota> = {}): Event => ({
  id: `evt_${index}`,
  type: 'quota.created',
  at: NOW,
  user_id: 7,
  sequence: index,
  data: { quota: { ...QUOTA, ...quota } },
})
const alarm: Event = {
  id: 'evt_alarm',
  type: 'quota.threshold_reached',
  at: NOW,
  user_id: 7,
  sequence: 0,
  data: { quota: QUOTA, percent: 100, sendable: { units: 0, country: null, message_type: null } },
}
const several = (count: number, from: number, quota?: (index: number) => Partial<SmsQuota>) =>
  Array.from({ length: count }, (_, index) => created(from + index, quota?.(index)))

test('events are counted by the day, what happened and who did it, also those that are no longer listed', () => {
  expect(kindOf(created(1, { updated_by: 'ann' }))).not.toBe(kindOf(created(1, { updated_by: 'ben' })))
  expect(kindOf(created(1, { kind: 'cap', limit: 0 }))).not.toBe(kindOf(created(1, { kind: 'cap' })))
  const first = withNew(NO_EVENTS, several(60, 0))
  expect(first.events.map(({ id }) => id).slice(0, 2)).toEqual(['evt_59', 'evt_58'])
  expect([first.events.length, first.count, first.older.get(kindOf(created(1)))]).toEqual([10, 60, 50])
  // The line goes on counting.
  const second = withNew(first, several(5, 60))
  expect(linesOf(second.events, second.older)).toMatchObject([{ key: kindOf(created(1)), older: 55 }])
  // Kinds that are no longer listed are forgotten.
  const next = withNew(
    second,
    several(50, 100, index => ({ updated_by: `person ${index}` })),
  )
  expect([next.events.length, next.count, next.older.size]).toEqual([50, 115, 0])
})

test.each([1, 20, 100])(
  'an import of 100 quotas is one line, and an alarm before it stays, when %i are read at once',
  size => {
    const items = [alarm, ...several(100, 1)]
    let feed = NO_EVENTS
    for (let read = 0; read < items.length; read += size) feed = withNew(feed, items.slice(read, read + size))
    const lines = linesOf(feed.events, feed.older)
    expect(lines.map(({ events, older }) => [events[0]?.type, events.length + older])).toEqual([
      ['quota.created', 100],
      ['quota.threshold_reached', 1],
    ])
    expect(feed).toMatchObject({ count: 101, read: 101 })
  },
)

test('the raise of a cap stays one action, however many quotas are changed after it', () => {
  const cap = { id: 5, kind: 'cap', expires_at: after(1), updated_by: 'ann' } as const
  const metadata = { raised_from: '100', continued_by: '6' }
  const updated = (index: number, quota: Partial<SmsQuota>): Event => ({
    id: `evt_${index}`,
    type: 'quota.updated',
    at: NOW,
    user_id: 7,
    sequence: index,
    data: { quota: { ...QUOTA, ...cap, ...quota } },
  })
  const raise = [
    created(1, { ...cap, id: 6, limit: 100 }),
    updated(2, { limit: 100, metadata }),
    updated(3, { limit: 500, metadata }),
  ]
  const many = Array.from({ length: 60 }, (_, index) => updated(10 + index, { id: 100 + index }))
  const { events, older } = withNew(NO_EVENTS, [...raise, ...many])
  const [changes, action] = linesOf(events, older)
  expect(changes).toMatchObject({ older: 50, isOneAction: false })
  expect(action?.events.map(({ id }) => id)).toEqual(['evt_3', 'evt_2', 'evt_1'])
})
