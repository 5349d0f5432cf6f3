import { expect, test } from 'vitest'
import { heldUsers } from '../../src/db/ledger/find-locked-rows.ts'

const rows = (holders: Record<string, string>) =>
  new Map(Object.entries(holders).map(([user, holder]) => [`quota ${user}`, { userId: Number(user), holder }]))

test('a user is held by a transaction that has locked the same row twice, not by two that pass by', () => {
  expect(heldUsers(rows({ 1: 'a', 2: 'b', 3: 'b' }), rows({ 1: 'b', 2: 'b', 4: 'b' }))).toEqual([new Set([2])])
})

test('users of different holders are in different groups: none waits for the lock of another', () => {
  const locked = rows({ 1: 'a', 2: 'b', 3: 'a' })
  expect(heldUsers(locked, locked)).toEqual([new Set([1, 3]), new Set([2])])
})
