import { expect, test } from 'vitest'
import {
  codesOf,
  holdsFor,
  type PauseValues,
  pausedUsersOf,
  pauseTerms,
  wrongFields,
} from '../../console/src/model/pauses.ts'

const NOW = Date.parse('2026-03-15T12:00:00Z')
const FILLED: PauseValues = {
  who: 'one',
  user: '7',
  countries: ['FR', 'BE'],
  message_types: ['otp'],
  until: '2026-03-15T12:00:01.000Z',
  reason: ' Fraud ',
}

test.each<[Partial<PauseValues>, string[]]>([
  [{}, []],
  [{ user: 'ref:k-1', message_types: [], until: '' }, []],
  [{ who: 'all', user: '' }, []],
  [{ user: '' }, ['user_id']],
  [{ user: 'Ann' }, ['user_id']],
  [{ countries: [] }, ['country']],
  [{ message_types: ['otp', 'News!'] }, ['message_types']],
  [{ until: '2026-03-15T12:00:00.000Z' }, ['until']],
  [{ until: 'tomorrow' }, ['until']],
  [{ reason: ' ' }, ['reason']],
])('of a form with %j, %j is wrong', (fields, wrong) => {
  expect(wrongFields({ ...FILLED, ...fields }, NOW)).toEqual(wrong)
})

test('what is left empty is no limit of a pause', () => {
  expect(pauseTerms(FILLED)).toEqual({ message_types: ['otp'], until: '2026-03-15T12:00:01.000Z', reason: 'Fraud' })
  expect(pauseTerms({ ...FILLED, message_types: [], until: '' })).toMatchObject({ message_types: null, until: null })
})

test.each([
  [null, 'FR', null, true],
  [null, 'FR', 'otp', true],
  [['otp'], 'FR', 'otp', true],
  [['otp'], 'FR', 'news', false],
  [['otp'], 'FR', null, false],
  [null, 'DE', null, false],
  [null, null, null, false],
])(
  'a pause of France and %j holds for a message to %s of type %s: %s',
  (message_types, country, message_type, holds) => {
    expect(holdsFor({ country: 'FR', message_types }, { country, message_type })).toBe(holds)
  },
)

test.each([
  ['flight', { period: 'flight', codes: 30, entered: 0 }],
  ['hour', { period: 'hour', codes: 30 + 20 + 4, entered: 4 }],
  ['day', { period: 'day', codes: 30 + 50 + 9, entered: 9 }],
] as const)('the codes that exceeded the budget %s are those of its period', (budget, codes) => {
  const figures = { young: 30, unverified_hour: 19.7, unverified_day: 50, verified_quarter: 1, verified_hour: 4 }
  const evidence = { budget, counted: 1, allowed: 1, ...figures, verified_day: 9, usual_day: 0, usual_quarter: 0 }
  expect(codesOf(evidence)).toEqual(codes)
})

test('a country is paused for a user by a pause of all types only', () => {
  const some = [
    { user_id: 7, message_types: null },
    { user_id: 8, message_types: ['otp'] },
    { user_id: null, message_types: ['otp'] },
  ]
  expect(pausedUsersOf(some)).toEqual({ all: false, users: new Set([7]) })
  expect(pausedUsersOf([{ user_id: null, message_types: null }])).toEqual({ all: true, users: new Set() })
})
