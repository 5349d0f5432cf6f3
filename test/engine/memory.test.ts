import { describe, expect, test } from 'vitest'
import type { Stored } from '../../src/db/ledger/rows.ts'
import type { Allowance } from '../../src/domain/quotas/quota.ts'
import type { Reservation } from '../../src/domain/units/reservation.ts'
import { createMemory, type Memory } from '../../src/engine/memory.ts'
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
  verified: false,
  draws: [],
  created_at: 0,
  expires_at: 0,
  seq: committed,
})

/** Users first…last whose quotas are remembered. */
function heldOf(memory: Memory, first: number, last: number): number[] {
  const users = Array.from({ length: last - first + 1 }, (_, index) => first + index)
  return users.filter(user => memory.quotasOf(user) !== undefined)
}

/** This many quotas of a user, as one object: the bounds count them, and these tests look at no field. */
function quotas(count: number): Stored<Allowance>[] {
  return Array(count).fill({ ...aQuota(), seq: 0 })
}

describe('reservations', () => {
  test('are kept, the last 8,192, each as it was last remembered', () => {
    const memory = createMemory()
    for (let n = 0; n < 8_192; n++) memory.rememberReservation(reservation(`m${n}`))
    memory.rememberReservation(reservation('m0', 1))
    expect(memory.reservation(7, 'm0')?.committed).toBe(1)
    memory.rememberReservation(reservation('m8192'))
    expect(memory.reservation(7, 'm0')).toBe(undefined)
    expect(memory.reservation(7, 'm1')?.id).toBe('m1')
    expect(memory.reservation(7, 'm8192')?.id).toBe('m8192')
    expect(memory.reservation(8, 'm1')).toBe(undefined)
  })

  test('are forgotten one by one, and remembered again', () => {
    const memory = createMemory()
    for (const id of ['m1', 'm2']) memory.rememberReservation(reservation(id))
    memory.forgetReservation(7, 'm1')
    memory.forgetReservation(8, 'm2')
    memory.forgetReservation(7, 'unknown')
    expect([memory.reservation(7, 'm1'), memory.reservation(7, 'm2')?.id]).toEqual([undefined, 'm2'])
    memory.rememberReservation(reservation('m1', 2))
    expect(memory.reservation(7, 'm1')?.committed).toBe(2)
  })

  test('stay within their bound when they are forgotten and remembered over and over', () => {
    const memory = createMemory()
    for (let n = 0; n < 8_192; n++) memory.rememberReservation(reservation(`m${n}`))
    for (let n = 0; n < 8_192; n++) {
      memory.forgetReservation(7, 'again')
      memory.rememberReservation(reservation('again', n))
    }
    expect(memory.reservation(7, 'again')?.committed).toBe(8_191)
    const held = Array.from({ length: 8_192 }, (_, n) => memory.reservation(7, `m${n}`)).filter(Boolean)
    expect(held).toHaveLength(0)
  })
})

describe('quotas', () => {
  test('are kept of 65,536 users; one more, and the eighth that is known for longest is dropped', () => {
    const memory = createMemory()
    for (let user = 0; user < 65_536; user++) memory.rememberQuotas(user, [])
    expect(memory.quotasOf(0)).toEqual([])
    memory.rememberQuotas(2, [])
    memory.rememberQuotas(65_536, [])
    // 57,344 users: to be asked for, or remembered again, keeps none of the others.
    expect(heldOf(memory, 0, 65_536)).toEqual(Array.from({ length: 57_344 }, (_, index) => 8_193 + index))
    for (let user = 100_000; user < 108_192; user++) memory.rememberQuotas(user, [])
    expect(memory.quotasOf(8_193)).toEqual([])
    memory.rememberQuotas(200_000, [])
    expect([8_193, 16_385, 16_386, 65_536, 200_000].map(user => memory.quotasOf(user) !== undefined)).toEqual([
      false,
      false,
      true,
      true,
      true,
    ])
  })

  test('are 262,144 at most; one more, and those of the users known for longest are dropped', () => {
    const memory = createMemory()
    const many = quotas(4_096)
    for (let user = 0; user < 64; user++) memory.rememberQuotas(user, many)
    // The same user again is no more quotas.
    memory.rememberQuotas(0, many)
    expect(heldOf(memory, 0, 63)).toHaveLength(64)
    memory.rememberQuotas(64, quotas(1))
    // 55 × 4,096 + 1 fit into 229,376.
    expect(heldOf(memory, 0, 64)).toEqual(Array.from({ length: 56 }, (_, index) => 9 + index))
  })

  test('of forgotten users make room for others', () => {
    const memory = createMemory()
    const many = quotas(4_096)
    for (let user = 0; user < 64; user++) memory.rememberQuotas(user, many)
    memory.forgetUsers([0, 3, 99])
    memory.rememberQuotas(0, many)
    memory.rememberQuotas(64, many)
    expect(heldOf(memory, 0, 64)).toHaveLength(64)
    memory.forgetAll()
    for (let user = 0; user < 64; user++) memory.rememberQuotas(user, many)
    expect(heldOf(memory, 0, 64)).toHaveLength(64)
  })

  test('of a user that has more than that are kept alone', () => {
    const memory = createMemory()
    memory.rememberQuotas(1, [])
    memory.rememberQuotas(2, quotas(262_145))
    expect([memory.quotasOf(1), memory.quotasOf(2)?.length]).toEqual([undefined, 262_145])
    memory.rememberQuotas(3, quotas(1))
    expect([memory.quotasOf(2), memory.quotasOf(3)?.length]).toEqual([undefined, 1])
  })

  test('are forgotten of the named users, whose reservations stay', () => {
    const memory = createMemory()
    for (const user of [6, 7, 8]) memory.rememberQuotas(user, quotas(user))
    memory.rememberReservation(reservation('m1'))
    memory.forgetUsers([7, 8, 9])
    expect(heldOf(memory, 6, 9)).toEqual([6])
    expect(memory.reservation(7, 'm1')?.id).toBe('m1')
  })
})

test('forgetAll empties it, and it fills again', () => {
  const memory = createMemory()
  for (let n = 0; n < 10_000; n++) memory.rememberReservation(reservation(`m${n}`))
  memory.rememberQuotas(7, [])
  memory.forgetAll()
  expect([memory.quotasOf(7), memory.reservation(7, 'm9999')]).toEqual([undefined, undefined])
  for (let n = 0; n < 8_192; n++) memory.rememberReservation(reservation(`n${n}`))
  expect(memory.reservation(7, 'n0')?.id).toBe('n0')
})
