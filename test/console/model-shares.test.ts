import { expect, test } from 'vitest'
import { destinationUsersOf, senderRange, userCountriesOf, usersToStop } from '../../console/src/model/shares.ts'

const item = (sent: number, denied: number, of: object) => ({
  committed: { units: sent, messages: sent },
  denied: { units: denied, messages: denied },
  ...of,
})

test('users of a destination have shares of what all sent, also of users who are not listed', () => {
  // The period contains the end of a month.
  const items = [
    item(10, 0, { user_id: 1, user_name: 'Acme' }),
    item(0, 0, { user_id: 2 }),
    item(30, 5, { user_id: 1, user_name: 'Acme' }),
    item(60, 0, { user_id: 3 }),
    item(0, 70, { user_id: 4 }),
  ]
  const all = destinationUsersOf(items, null)
  expect(all.users.map(({ user_id, sent, denied, share }) => [user_id, sent, denied, share])).toEqual([
    [4, 0, 70, 0],
    [3, 60, 0, 0.6],
    [1, 40, 5, 0.4],
  ])
  expect(all.users[2]?.user_name).toBe('Acme')
  expect(all.others).toBeNull()
  const top = destinationUsersOf(items, { total: 400, most: 7 })
  expect(top.users.map(({ share }) => share)).toEqual([0, 0.15, 0.1])
  expect(top.others).toEqual({ sent: 300, most: 7 })
  // A total that was read earlier is no negative rest.
  expect(destinationUsersOf(items, { total: 90, most: 7 }).others).toEqual({ sent: 0, most: 7 })
  expect(destinationUsersOf([item(0, 3, { user_id: 1 })], null).users[0]?.share).toBe(0)
})

test('countries of a user have shares of what the user sent', () => {
  const items = [item(1, 0, { country: 'DE' }), item(2, 9, { country: null }), item(1, 0, { country: 'DE' })]
  expect(userCountriesOf(items)).toEqual([
    { country: null, sent: 2, denied: 9, share: 0.5 },
    { country: 'DE', sent: 2, denied: 0, share: 0.5 },
  ])
})

test('those who are chosen are stopped, all if none is, and no user who is stopped already', () => {
  const users = [1, 2, 3].map(user_id => ({ user_id }))
  const isStopped = (id: number) => id === 2
  expect(usersToStop(users, new Set(), isStopped)).toEqual([1, 3])
  expect(usersToStop(users, new Set([2, 3]), isStopped)).toEqual([3])
  expect(usersToStop(users, new Set([2]), isStopped)).toEqual([])
})

test.each([
  ['hour', '2026-03-29T09:15:00.000Z'],
  ['day', '2026-03-28T11:00:00.000Z'],
])('the period “%s” begins on a quarter of an hour', (period, from) => {
  const now = new Date('2026-03-29T10:07:00Z')
  expect(senderRange(period === 'hour' ? 'hour' : 'day', now)).toEqual({ from, to: '2026-03-29T10:15:00.000Z' })
  for (const longer of ['week', 'month'] as const) expect(senderRange(longer, now).from < from).toBe(true)
})
