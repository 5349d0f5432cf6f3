/** What can be handed on, which user a text names, and which changes transfers have made. */
import { expect, test } from 'vitest'
import {
  leftAfterReturn,
  meantBy,
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
  at: '2026-03-02T10:00:00.000Z',
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

test("after a return, units of a window that is over are not the giver's to send", () => {
  const [giver, receiver] = [
    { ...QUOTA, used: 60 },
    { ...QUOTA, limit: 30 },
  ]
  expect(leftAfterReturn(10, TRANSFER, { giver, receiver })).toEqual({ giver: 50, receiver: 20 })
  const next = { ...giver, window_start: '2026-04-01T00:00:00.000Z' }
  expect(leftAfterReturn(10, TRANSFER, { giver: next, receiver })).toEqual({ giver: null, receiver: 20 })
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

const NAMED = [
  { user_id: 1, user_ref: 'nord' },
  { user_id: 2, user_name: 'Nordlicht' },
  { user_id: 3, user_name: 'Nordlicht Süd' },
  { user_id: 4, user_name: 'Nordlicht Süd' },
]

test.each([
  ['nord', NAMED, 1],
  [' NORDLICHT ', NAMED, 2],
  ['Nordlicht Süd', NAMED, undefined],
  ['no', NAMED, undefined],
  ['no', NAMED.slice(0, 1), 1],
  ['no', [], undefined],
])('a filter takes for “%s” one of those found', (text, found, user) => {
  expect(meantBy(text, found)?.user_id).toBe(user)
})

const changed = (before: Partial<SmsQuota>, after: Partial<SmsQuota>, transfer_id: number | null = TRANSFER.id) => ({
  transfer_id,
  before: { ...QUOTA, ...before },
  after: { ...QUOTA, ...after },
})
const created = (transfer_id: number | null) => ({ ...changed({}, { limit: 50 }, transfer_id), before: null })
const [MOTHER, BRANCH] = [
  { user_id: 7, user_name: 'Mother' },
  { user_id: 8, user_name: 'Branch' },
]

test.each([
  ['units left', changed({ used: 0 }, { used: 50 }), { did: 'gave', units: 50, with: BRANCH }],
  ['units left by an older transfer', changed({ used: 0 }, { used: 50 }, 9), { did: 'gave', units: 50, with: null }],
  ['units came back', changed({ used: 50 }, { used: 30 }), { did: 'cameBack', units: 20, with: BRANCH }],
  ['units came back to a past window', changed({}, {}), { did: 'cameBack', units: 0, with: BRANCH }],
  ['units came', created(TRANSFER.id), { did: 'got', units: 50, with: MOTHER }],
  ['units went back', changed({ limit: 50 }, { limit: 30 }), { did: 'gaveBack', units: 20, with: MOTHER }],
  ['a grant was made by hand', created(null), null],
  ['a limit was lowered by hand', changed({ limit: 50 }, { limit: 30 }, null), null],
])('a history says that %s', (_, change, moved) => {
  const found = movedBy(change, [TRANSFER])
  if (moved === null) expect(found).toBeNull()
  else expect(found).toMatchObject(moved)
})

test('the receiver that was erased is not named', () => {
  const erased: Transfer = { ...TRANSFER, to_user_id: null, to_quota_id: null }
  expect(movedBy(changed({ used: 0 }, { used: 50 }), [erased])).toEqual({ did: 'gave', units: 50, with: null })
})
