import { expect, test } from 'vitest'
import type { Stored } from '../../src/db/ledger/rows.ts'
import type { Reservation } from '../../src/domain/reservation.ts'
import { createMemory } from '../../src/engine/memory.ts'
import { aQuota } from '../domain/fixture.ts'

const reservation = (id: string, committed = 0): Stored<Reservation> => ({
  user_id: 7,
  id,
  op: 'reserve',
  asked: 2,
  country: null,
  message_type: null,
  allow_partial: false,
  force: false,
  would_deny: null,
  units: 2,
  committed,
  released: 0,
  refunded: 0,
  on_expiry: 'release',
  expired: false,
  draws: [],
  created_at: 0,
  expires_at: 0,
  seq: committed,
})

test('keeps the last 512 reservations, each as it was last remembered', () => {
  const memory = createMemory()
  for (let n = 0; n < 512; n++) memory.rememberReservation(reservation(`m${n}`))
  memory.rememberReservation(reservation('m0', 1))
  expect(memory.reservation(7, 'm0')?.committed).toBe(1)
  memory.rememberReservation(reservation('m512'))
  expect(memory.reservation(7, 'm0')).toBe(undefined)
  expect(memory.reservation(7, 'm1')?.id).toBe('m1')
  expect(memory.reservation(7, 'm512')?.id).toBe('m512')
  expect(memory.reservation(8, 'm1')).toBe(undefined)
})

test('keeps the quotas of the 1,024 most recently used users', () => {
  const memory = createMemory()
  for (let user = 0; user < 1_024; user++) memory.rememberQuotas(user, [])
  expect(memory.quotasOf(0)).toEqual([])
  memory.rememberQuotas(1_024, [])
  expect([0, 1, 2, 1_024].map(user => memory.quotasOf(user) !== undefined)).toEqual([true, false, true, true])
})

test('keeps 4,096 quotas at most: those of the most recently used users', () => {
  const memory = createMemory()
  const quotas = Array.from({ length: 200 }, (_, index) => ({ ...aQuota({ id: 64 * (index + 1) }), seq: 0 }))
  for (let user = 0; user < 20; user++) memory.rememberQuotas(user, quotas)
  // The same user again is no more quotas, and is then the most recently used.
  memory.rememberQuotas(0, quotas)
  const held = () => Array.from({ length: 22 }, (_, user) => user).filter(user => memory.quotasOf(user) !== undefined)
  expect(held()).toHaveLength(20)
  memory.rememberQuotas(0, quotas)
  memory.rememberQuotas(20, quotas)
  memory.rememberQuotas(21, quotas.slice(0, 97))
  expect(held()).toEqual([0, ...Array.from({ length: 17 }, (_, index) => index + 3), 20, 21])
  // Users that are forgotten make room.
  memory.forgetUsers([0, 3, 99])
  memory.rememberQuotas(1, quotas)
  memory.rememberQuotas(2, quotas)
  expect(held()).toEqual([1, 2, ...Array.from({ length: 16 }, (_, index) => index + 4), 20, 21])
  memory.forgetAll()
  for (let user = 0; user < 20; user++) memory.rememberQuotas(user, quotas)
  expect(held()).toHaveLength(20)
})

test('keeps the quotas of a user that has more than that, alone', () => {
  const memory = createMemory()
  memory.rememberQuotas(1, [])
  const many = Array.from({ length: 5_000 }, (_, index) => ({ ...aQuota({ id: 64 * (index + 1) }), seq: 0 }))
  memory.rememberQuotas(2, many)
  expect([memory.quotasOf(1), memory.quotasOf(2)?.length]).toEqual([undefined, 5_000])
})

test('forgetAll empties it, and it fills again', () => {
  const memory = createMemory()
  for (let n = 0; n < 600; n++) memory.rememberReservation(reservation(`m${n}`))
  memory.rememberQuotas(7, [])
  memory.forgetAll()
  expect([memory.quotasOf(7), memory.reservation(7, 'm599')]).toEqual([undefined, undefined])
  for (let n = 0; n < 512; n++) memory.rememberReservation(reservation(`n${n}`))
  expect(memory.reservation(7, 'n0')?.id).toBe('n0')
})
