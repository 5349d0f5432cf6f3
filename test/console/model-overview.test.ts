/** What the overview puts first: whether all is well, what needs a decision, where unusually many messages go, and what just happened. */
import { expect, test } from 'vitest'
import type { Api } from '../../console/src/api/types.ts'
import { kindOf, linesOf, purposeOf } from '../../console/src/model/events.ts'
import { decisionsOf, FINDINGS, findingsOf } from '../../console/src/model/overview.ts'
import { isWithinMinutes } from '../../console/src/model/run-out.ts'
import { blocksAll, destinationsOf } from '../../console/src/model/traffic.ts'
import type { SmsQuota } from '../../src/contract/quotas.ts'
import { isUnusual } from '../../src/domain/forecasts/unusual-traffic.ts'
import { QUOTA } from './quota-fixture.ts'

type Overview = Api['Overview']

const NOW = '2026-03-10T12:00:00.000Z'
const after = (days: number) => new Date(Date.parse(NOW) + days * 86_400_000).toISOString()

const WELL: Overview = {
  as_of: NOW,
  not_ready: null,
  unread: [],
  pauses: { count: 0, items: [] },
  breaker: { tripped: 0, observed: 0, is_more: false, items: [] },
  webhooks: { failing: 0, items: [] },
  customers: { blocked: 0, near_limit: 0, running_out: 0, ending: 0, is_more: false, complete_until: null, items: [] },
  requests: { open: 0, is_more: false, items: [] },
  destinations: { unusual: 0, items: [] },
  usage: null,
  events: [],
}

test('all is well where nothing is found, and not where a part is not known', () => {
  expect(findingsOf(WELL)).toEqual([])
  const part = 'pauses' as const
  const unread = { ...WELL, pauses: null, unread: [{ part, reason: 'failed' as const }] }
  expect(findingsOf(unread)).toMatchObject([{ kind: 'unread', count: 1, isUrgent: true }])
})

test('what is not well comes in a fixed order, with where it leads and whether there may be more', () => {
  const all: Overview = {
    ...WELL,
    not_ready: 'the disk is full',
    unread: [{ part: 'usage', reason: 'timed_out' }],
    pauses: { count: 2, items: [] },
    breaker: { tripped: 1, observed: 3, is_more: false, items: [] },
    webhooks: { failing: 1, items: [] },
    customers: { blocked: 4, near_limit: 5, running_out: 6, ending: 7, is_more: true, complete_until: null, items: [] },
    requests: { open: 200, is_more: true, items: [] },
    destinations: { unusual: 1, items: [] },
  }
  expect(findingsOf(all).map(({ kind }) => kind)).toEqual([...FINDINGS])
  expect(findingsOf(all).map(({ count, isMore = false }) => (isMore ? `${count}+` : String(count)))).toEqual([
    '1',
    '1',
    '2',
    '1',
    '1',
    '4+',
    '5+',
    '6+',
    '7+',
    '200+',
    '1',
    '3',
  ])
  const hrefs = Object.fromEntries(findingsOf(all).map(({ kind, href }) => [kind, href]))
  expect(hrefs).toMatchObject({
    service: null,
    near_limit: '/users?view=at_risk&state=near_limit',
    requests: '/requests',
  })
})

test('what a person decides comes in the same order, and pauses that are over need no decision', () => {
  const pause = (id: number, of: object): Api['Pause'] => ({
    ...{ id, user_id: 7, country: 'NG', message_types: null, until: null, reason: null, origin: 'breaker' },
    ...{ evidence: null, observed: false, active: true, created_at: NOW, created_by: 'sms-quota' },
    ...{ lifted_at: null, lifted_by: null, ...of },
  })
  const items = [pause(1, { observed: true, active: false }), pause(2, {}), pause(3, { active: false })]
  const destination = { country: 'TO', asked: 60, denied: 0, usual: 1 }
  const decisions = decisionsOf({
    ...WELL,
    breaker: { tripped: 2, observed: 1, is_more: false, items },
    destinations: { unusual: 1, items: [destination] },
  })
  expect(decisions).toEqual([
    { kind: 'trip', pause: items[1] },
    { kind: 'unusual', destination },
    { kind: 'observed', pause: items[0] },
  ])
  expect(decisionsOf({ ...WELL, breaker: null, webhooks: null, requests: null, destinations: null })).toEqual([])
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

test('a destination is blocked by a cap that blocks all messages there', () => {
  const types = { countries: null, message_types: ['otp'] }
  expect([blocksAll('country', BLOCK), blocksAll('message_type', { ...BLOCK, ...types })]).toEqual([true, true])
  const both = { ...BLOCK, message_types: ['otp'] }
  expect([blocksAll('country', both), blocksAll('message_type', both)]).toEqual([false, false])
  expect(blocksAll('country', { ...BLOCK, status: 'suspended' })).toBe(false)
})

const exhausted = (quota: Partial<SmsQuota>): SmsQuota => ({
  ...QUOTA,
  user_id: 7,
  status: 'exhausted',
  remaining: 0,
  ...quota,
})
const BLOCK = exhausted({ id: 2, kind: 'cap', limit: 0, countries: ['NG'] })
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
const several = (count: number, from: number, quota?: (index: number) => Partial<SmsQuota>) =>
  Array.from({ length: count }, (_, index) => created(from + index, quota?.(index)))

test('three events of one kind on a day are one line, also with others between them', () => {
  expect(kindOf(created(1, { updated_by: 'ann' }))).not.toBe(kindOf(created(1, { updated_by: 'ben' })))
  expect(kindOf(created(1, { kind: 'cap', limit: 0 }))).not.toBe(kindOf(created(1, { kind: 'cap' })))
  const bens = created(9, { updated_by: 'ben' })
  const lines = linesOf([created(3), bens, ...several(2, 1)])
  expect(lines.map(({ events }) => events.length)).toEqual([3, 1])
  expect(linesOf(several(2, 1)).map(({ events }) => events.length)).toEqual([1, 1])
})

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
  const many = Array.from({ length: 20 }, (_, index) => updated(10 + index, { id: 100 + index }))
  const [changes, action] = linesOf([...raise, ...many].toReversed())
  expect(changes).toMatchObject({ events: { length: 20 }, isOneAction: false })
  expect(action?.events.map(({ id }) => id)).toEqual(['evt_3', 'evt_2', 'evt_1'])
})
