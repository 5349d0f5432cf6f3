import { expect, test } from 'vitest'
import {
  type Breaker,
  type BreakerInput,
  breakerChangedMeanwhile,
  breakerValuesOf,
  budgetsOf,
  changedBreaker,
  effectOf,
  wrongBreakerFields,
} from '../../console/src/model/breaker-form.ts'
import { addReplayed, MAX_LISTED, NOTHING_REPLAYED } from '../../console/src/model/breaker-replay.ts'

const SAVED: Breaker = {
  mode: 'observe',
  message_types: ['login', 'otp'],
  budgets: { day: 40, hour: 15, flight: 25, share: 0.07 },
  pass_countries: ['AT', 'DE'],
  pass_users: [7, 66],
  version: 3,
  users: null,
  active_count: 0,
  active: [],
  latest: [],
}

test.each<[BreakerInput, string[]]>([
  [{}, []],
  [{ day: '1.000', share: '12,5', message_types: [] }, []],
  [{ day: '0' }, ['day']],
  [{ hour: '' }, ['hour']],
  [{ flight: '1000001' }, ['flight']],
  [{ share: '101' }, ['share']],
  [{ share: '-1' }, ['share']],
  [{ share: '' }, ['share']],
  [{ message_types: ['otp', 'News!'] }, ['message_types']],
])('of the settings with %j, %j is wrong', (input, wrong) => {
  expect(wrongBreakerFields({ ...breakerValuesOf(SAVED), ...input })).toEqual(wrong)
})

test('a share is shown in percent, and sent as it was', () => {
  for (const share of [0, 0.07, 0.125, 0.29, 0.3, 1]) {
    const values = breakerValuesOf({ ...SAVED, budgets: { ...SAVED.budgets, share } })
    expect(values.share).toMatch(/^\d+(?:\.\d)?$/)
    expect(budgetsOf(values).share).toBe(share)
  }
})

test.each<[BreakerInput, object]>([
  [{}, {}],
  // The same in another order, or typed otherwise.
  [{ message_types: ['otp', 'login'], pass_users: [66, 7], day: '40 ', share: '7.0' }, {}],
  [
    { mode: 'enforce', hour: '20', share: '30' },
    { mode: 'enforce', budgets: { hour: 20, share: 0.3 } },
  ],
  [{ message_types: [] }, { message_types: null }],
  [
    { pass_countries: ['FR', 'DE'], pass_users: [] },
    { pass_countries: ['DE', 'FR'], pass_users: [] },
  ],
])('input %j sends %j', (input, body) => {
  expect(changedBreaker(input, SAVED)).toEqual(body)
})

test('only input is in conflict that another save has changed to something else', () => {
  const saved: Breaker = { ...SAVED, mode: 'enforce', budgets: { ...SAVED.budgets, hour: 20, day: 50 } }
  expect(breakerChangedMeanwhile({ mode: 'enforce', hour: '30', flight: '30' }, SAVED, saved)).toEqual(['hour'])
  expect(breakerChangedMeanwhile({ hour: '30' }, saved, saved)).toEqual([])
})

test.each([
  ['off', 'observe', null],
  ['observe', 'enforce', 'begins'],
  ['off', 'enforce', 'begins'],
  ['enforce', 'off', 'ends'],
  ['enforce', 'enforce', null],
] as const)('from %s to %s, what is denied: %s', (before, after, effect) => {
  expect(effectOf(before, after)).toBe(effect)
})

const PASS = { pass_countries: ['DE'], pass_users: [9] }
const pause = (user_id: number, country: string, hour: number, stopped: number, stopped_verified: number) => {
  const evidence = { budget: 'flight' as const, counted: 30, allowed: 25, young: 30, unverified_hour: 0 }
  const before = { unverified_day: 0, verified_quarter: 0, verified_hour: 0, verified_day: 0 }
  return {
    ...{ user_id, country, stopped, stopped_verified },
    from: `2026-03-15T${10 + hour}:00:00.000Z`,
    until: `2026-03-15T${11 + hour}:00:00.000Z`,
    evidence: { ...evidence, ...before, usual_day: 0, usual_quarter: 0 },
  }
}

test('pages of a replay add up, without what always passes', () => {
  const first = [pause(1, 'FR', 0, 100, 0), pause(1, 'FR', 2, 50, 5), pause(1, 'DE', 0, 1_000, 900)]
  // The first destination goes on with the page.
  const second = [pause(9, 'FR', 0, 1_000, 900), pause(2, 'FR', 0, 10, 7)]
  const pages = [
    { items: first.slice(0, 1), progress: 0.25 },
    { items: [...first.slice(1), ...second], progress: 1 },
  ]
  const replayed = pages.reduce((sum, page) => addReplayed(sum, page, PASS), NOTHING_REPLAYED)
  expect(replayed).toMatchObject({ progress: 1, destinations: 2, pauses: 3, stopped: 160, entered: 12 })
  expect(replayed.listed.map(({ stopped_verified }) => stopped_verified)).toEqual([7, 5, 0])
})

test('a long replay counts all, and lists those that would have stopped most entered codes', () => {
  const items = Array.from({ length: MAX_LISTED + 200 }, (_, index) => pause(index + 10, 'FR', 0, 2_000, index))
  const halves = [items.slice(0, 600), items.slice(600)]
  const { pauses, destinations, listed } = halves.reduce(
    (sum, half) => addReplayed(sum, { items: half, progress: 1 }, PASS),
    NOTHING_REPLAYED,
  )
  expect([pauses, destinations, listed.length]).toEqual([items.length, items.length, MAX_LISTED])
  expect(listed[0]?.stopped_verified).toBe(items.length - 1)
  expect(listed.at(-1)?.stopped_verified).toBe(200)
})
