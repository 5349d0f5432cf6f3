/** Whether a user can send, and why not: what follows from the answers of a summary. */
import { expect, test } from 'vitest'
import {
  answerTo,
  blockingCaps,
  boundingCap,
  type DeniedAnswer,
  headlineOf,
  remainsBeyond,
  startsLater,
  whyDenied,
} from '../../console/src/model/answers.ts'
import type { Answer } from '../../console/src/model/scopes.ts'

type Denial = NonNullable<Answer['denial']>
type Summary = Parameters<typeof whyDenied>[1]
type Cap = Summary['caps'][number]

const LATER = '2026-03-24T00:00:00.000Z'
const denial = (reason: Denial['reason'], retry_at: string | null = null): Denial => ({
  reason,
  limiting_quota_id: null,
  retry_at,
})
const general = (given: Partial<Answer>): Answer => ({
  countries: null,
  message_types: null,
  available: given.denial ? 0 : 100,
  denial: null,
  ...given,
})
const NO_QUOTA = denial('no_quota')
const GERMANY = general({ countries: ['DE'], available: 500 })

test.each<[string, Partial<Answer>, Answer[], Answer, Answer[]]>([
  ['the answer to all messages', {}, [], general({}), []],
  ['without those that say the same', {}, [general({ countries: ['DE'] })], general({}), []],
  ['beside one with other units', {}, [GERMANY], general({}), [GERMANY]],
  [
    'what is covered, where the others are not',
    { denial: NO_QUOTA },
    [GERMANY],
    GERMANY,
    [general({ denial: NO_QUOTA })],
  ],
  [
    'a general block, beside any others',
    { denial: denial('quota_exhausted') },
    [],
    general({ denial: denial('quota_exhausted') }),
    [],
  ],
  [
    'what can be sent in spite of a block of all others',
    { denial: denial('cap_reached') },
    [GERMANY],
    GERMANY,
    [general({ denial: denial('cap_reached') })],
  ],
  [
    'what can be sent first, where nothing can now',
    { denial: NO_QUOTA },
    [
      general({ countries: ['FR'], denial: NO_QUOTA }),
      general({ countries: ['AT'], denial: denial('no_quota', LATER) }),
    ],
    general({ countries: ['AT'], denial: denial('no_quota', LATER) }),
    [general({ countries: ['FR'], denial: NO_QUOTA }), general({ denial: NO_QUOTA })],
  ],
])('the headline is %s', (_title, own, scopes, main, others) => {
  const { available, denial: ownDenial } = general(own)
  expect(headlineOf({ available, denial: ownDenial, scopes })).toEqual({ main, others })
})

test('only a grant that will start is something to wait for', () => {
  expect(startsLater({ denial: denial('no_quota', LATER) })).toBe(true)
  for (const other of [null, NO_QUOTA, denial('cap_reached', LATER)]) expect(startsLater({ denial: other })).toBe(false)
})

const CAP: Cap = {
  quota_id: 1,
  name: null,
  period: 'day',
  anchor: null,
  time_zone: 'UTC',
  counts: 'units',
  countries: null,
  message_types: null,
  limit: 100,
  used: 100,
  reserved: 0,
  remaining: 0,
  window_end: null,
  alert_at: [],
}
const CLOSED: Cap = { ...CAP, quota_id: 2, limit: 0, used: 0, countries: ['NG'] }
const GRANT: Summary['breakdown'][number] = {
  countries: null,
  message_types: null,
  limit: 500,
  used: 0,
  reserved: 0,
  remaining: 500,
}

test.each<[string, Partial<Answer>, Partial<Summary>, object]>([
  ['all units are used up', { denial: denial('quota_exhausted') }, {}, { reason: 'exhausted' }],
  ['the grants are for other messages', { denial: NO_QUOTA }, { breakdown: [GRANT] }, { reason: 'notCovered' }],
  [
    'the quotas are suspended',
    { denial: NO_QUOTA },
    { by_status: { suspended: 1, expired: 1 }, caps: [CAP] },
    { reason: 'suspended' },
  ],
  ['there are only caps', { denial: NO_QUOTA }, { by_status: { expired: 1 }, caps: [CAP] }, { reason: 'capsOnly' }],
  ['all have ended', { denial: NO_QUOTA }, { by_status: { expired: 2 } }, { reason: 'expired' }],
  ['there are none', { denial: NO_QUOTA }, {}, { reason: 'none' }],
  [
    'caps are used up',
    { denial: denial('cap_reached') },
    { caps: [CAP, { ...CAP, remaining: 1 }, CLOSED] },
    { reason: 'usedUp', caps: [CAP] },
  ],
  [
    'a cap was made to block',
    { denial: denial('cap_reached'), countries: ['NG'] },
    { caps: [CAP, CLOSED] },
    { reason: 'closed', cap: CLOSED },
  ],
])('messages are denied because %s', (_title, given, summary, why) => {
  const answer = general(given)
  if (answer.denial === null) throw new Error('the table needs denials')
  const denied: DeniedAnswer = { ...answer, denial: answer.denial }
  expect(whyDenied(denied, { caps: [], breakdown: [], by_status: {}, ...summary })).toEqual(why)
})

const WIDE: Cap = { ...CAP, quota_id: 9, limit: 200, remaining: 150 }

test.each<[string, number | null, Cap[], grants: (number | null)[], bounding: number | null]>([
  ['fewer units than the cap has room for', 50, [WIDE], [100], null],
  ['more than the cap has room for', 51, [WIDE], [100], 9],
  ['any number on a grant without a limit', 1, [WIDE], [null], 9],
  ['more than the narrower of two', 500, [WIDE, { ...WIDE, quota_id: 10, remaining: 20 }], [100], 10],
  [
    'more than a cap on messages, which no number of units compares with',
    500,
    [{ ...WIDE, counts: 'messages' }],
    [0],
    null,
  ],
  ['more than a cap for others', 500, [{ ...WIDE, countries: ['NG'] }], [0], null],
  ['no number', null, [WIDE], [1_000], null],
])('of %s, a cap says how many go now', (_title, units, caps, grants, bounding) => {
  const breakdown = grants.map(remaining => ({ ...GRANT, remaining }))
  expect(boundingCap(general({}), { caps, breakdown }, units)?.quota_id ?? null).toBe(bounding)
})

test.each([
  [{ countries: ['NG'], message_types: null }, [1, 2]],
  [{ countries: ['DE'], message_types: ['otp'] }, [1]],
  [{ countries: null, message_types: null }, [1]],
])('the caps in the way of %o are %o', (scope, ids) => {
  expect(blockingCaps(scope, { caps: [CAP, CLOSED] }).map(({ quota_id }) => quota_id)).toEqual(ids)
})

test.each<[string, number | null, number | null]>([
  ['more than can be sent', 20, 500],
  ['as much as can be sent', 500, null],
  ['any number', null, null],
])('what remains in the grants is said if it is %s', (_title, sendable, remaining) => {
  const breakdown = [GRANT, { ...GRANT, countries: ['FR'] }]
  expect(remainsBeyond({ countries: null, message_types: null }, sendable, { breakdown })).toBe(remaining)
})

test.each([
  ['DE', 500, true],
  ['FR', 100, true],
  [undefined, 100, true],
  [null, 100, true],
])('to the country %s, %d units can be sent', (country, available, canDiffer) => {
  const scopes = [{ ...GERMANY, message_types: ['otp'], available: 1 }, GERMANY]
  expect(answerTo(country, { available: 100, denial: null, scopes })).toEqual({ available, denial: null, canDiffer })
})

test.each([
  ['DE', false],
  [undefined, true],
] as const)('with scopes of countries alone, the country %s leaves it open: %s', (country, canDiffer) => {
  expect(answerTo(country, { available: 100, denial: null, scopes: [GERMANY] }).canDiffer).toBe(canDiffer)
})
