import { expect, test } from 'vitest'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { addressViewOf, setAddress, statusOf, type UserAddress } from '../../src/domain/users/user-address.ts'

const NOW = Date.parse('2026-03-15T12:00:00.000Z')
const WANTED = { user_id: 7, address: 'ann@mail.example', language: 'en' } as const

const first = setAddress(undefined, WANTED, NOW, 1).address
const confirmed: UserAddress = { ...first, confirmed_at: NOW, version: 2 }
const refused: UserAddress = { ...confirmed, refused_at: NOW }
const withdrawn: UserAddress = { ...confirmed, address: null, confirmed_at: null, version: 3 }

test('an address is of one status', () => {
  const statuses = [undefined, withdrawn, first, confirmed, refused].map(statusOf)
  expect(statuses).toEqual(['none', 'none', 'pending', 'confirmed', 'refused'])
  expect(addressViewOf(confirmed, true)).toMatchObject({ status: 'off', email: 'ann@mail.example' })
})

test('the confirmed address is sent no link, and only gets the language', () => {
  const set = setAddress(confirmed, { ...WANTED, language: 'de' }, NOW + 1, 2)
  expect(set).toEqual({ address: { ...confirmed, language: 'de' }, mustConfirm: false })
})

test('one that waits keeps its link, which ends later', () => {
  const set = setAddress(first, WANTED, NOW + 5, 2)
  expect(set).toEqual({ address: { ...first, expires_at: NOW + 5 + DAY_MS }, mustConfirm: true })
})

test.each([
  ['another address', confirmed, { ...WANTED, address: 'new@mail.example' }],
  ['one that was refused', refused, WANTED],
  ['one that was taken back', withdrawn, WANTED],
])('%s must be confirmed, by another link', (_, before, wanted) => {
  const { address, mustConfirm } = setAddress(before, wanted, NOW, 2)
  expect(mustConfirm).toBe(true)
  expect(address).toMatchObject({
    ...wanted,
    serial: 2,
    confirmed_at: null,
    refused_at: null,
    version: before.version + 1,
  })
})
