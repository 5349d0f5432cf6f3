/** What can be handed on, which user a text names, and which changes transfers have made. */
import { expect, test } from 'vitest'
import {
  movedBy,
  namedBy,
  receiverOf,
  returnableUnits,
  searchedReceiver,
  type Transfer,
  transferableUnits,
} from '../../console/src/model/transfers.ts'
import type { SmsQuota } from '../../src/contract/quotas.ts'
import { QUOTA } from './quota-fixture.ts'

const AT = '2026-03-02T10:00:00.000Z'
const TRANSFER: Transfer = {
  id: 1,
  user_id: 7,
  user_ref: null,
  user_name: 'Mother',
  quota_id: 1,
  window_start: '2026-03-01T00:00:00.000Z',
  to_user_id: 8,
  to_user_name: 'Branch',
  to_quota_id: 2,
  units: 50,
  returned: 20,
  reason: null,
  expires_at: null,
  at: AT,
  actor: '1',
}

test.each<[string, Partial<SmsQuota>, number | null]>([
  ['what is neither used nor reserved', { used: 30, reserved: 20 }, 50],
  ['what rolled over', { rolled_over: 10 }, 110],
  ['nothing past the limit', { used: 130, overage: 30, status: 'exhausted' }, 0],
  ['nothing of a cap', { kind: 'cap' }, null],
  ['nothing without a limit', { limit: null }, null],
  ['nothing while it is suspended', { status: 'suspended' }, null],
])('of a grant can go %s', (_, quota, units) => {
  expect(transferableUnits({ ...QUOTA, ...quota })).toBe(units)
})

test('what goes back is unused, and no more than has come', () => {
  expect(returnableUnits(TRANSFER, { ...QUOTA, limit: 30, used: 12, reserved: 8 })).toBe(10)
  expect(returnableUnits(TRANSFER, { ...QUOTA, limit: 500 })).toBe(30)
})

const FOUND = [
  { user_id: 13, user_ref: '132' },
  { user_id: 132, user_name: 'Branch' },
  { user_id: 140, user_ref: 'a/b' },
]

test.each([
  [' 132 ', { user_id: 132 }, '132', 132],
  ['ref:132', { ref: '132' }, '132', 13],
  ['ref:a/b', { ref: 'a/b' }, 'a/b', 140],
  ['ref:a/', { ref: 'a/' }, 'a/', undefined],
  // Several users may have the same name.
  ['Branch', null, 'Branch', undefined],
  ['a/b', null, 'a/b', undefined],
  ['ref:', null, 'ref:', undefined],
  ['1.5', null, '1.5', undefined],
])('“%s” names a receiver', (text, receiver, searched, user) => {
  expect(receiverOf(text)).toEqual(receiver)
  expect(searchedReceiver(text)).toBe(searched)
  expect(namedBy(text, FOUND)?.user_id).toBe(user)
})

const used = (before: number, after: number, at = AT) => ({
  action: 'updated',
  at,
  before: { ...QUOTA, used: before },
  after: { ...QUOTA, used: after },
})
const created = (at: string) => ({ action: 'created', at, before: null, after: { ...QUOTA, id: 2, user_id: 8 } })

test.each([
  ['units left', 1, used(0, 50), { did: 'gave', units: 50, with: { user_id: 8, user_name: 'Branch' } }],
  ['units left long ago', 1, used(0, 50, '2025-01-01T00:00:00.000Z'), { did: 'gave', units: 50, with: null }],
  ['units came back', 1, used(50, 30), { did: 'cameBack', units: 20, with: null }],
  ['units came', 2, created(AT), { did: 'got', units: 50, with: { user_id: 7, user_name: 'Mother' } }],
  ['a grant was made by hand', 2, created('2026-03-02T10:00:00.001Z'), null],
  ['a setting changed', 1, { ...used(5, 5), after: { ...QUOTA, used: 5, limit: 9 } }, null],
])('a history says that %s', (_, quota, change, moved) => {
  const found = movedBy(quota, change, [TRANSFER])
  if (moved === null) expect(found).toBeNull()
  else expect(found).toMatchObject(moved)
})

test('of two transfers of the same units at once, none is named', () => {
  expect(movedBy(1, used(0, 50), [TRANSFER, { ...TRANSFER, id: 3, to_user_id: 9 }])).toMatchObject({ with: null })
})

test('the receiver that was erased is not named', () => {
  const erased: Transfer = { ...TRANSFER, to_user_id: null, to_quota_id: null }
  expect(movedBy(1, used(0, 50), [erased])).toEqual({ did: 'gave', units: 50, with: null })
})
