/** The client names users by references wherever it takes an id. */
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createClient, UnavailableError } from '../../client/src/main.ts'
import { openJournal } from '../../client/src/node/journal.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const url = await service.app.listen({ port: 0, host: '127.0.0.1' })
afterAll(() => service.app.close())
const admin = createClient({ url, token: service.adminToken })
const sender = createClient({ url, token: service.senderToken })

let users = 300
async function named(limit: number): Promise<{ userId: number; userRef: string }> {
  users += 1
  const userRef = `ref/${users} é`.replace(' ', '-')
  await admin.updateProfile({ userId: users, ref: userRef })
  await admin.createQuota({ userRef, limit })
  return { userId: users, userRef }
}
const used = async (userRef: string) => (await admin.summarizeQuotasOfUser({ userRef })).used

test('in bodies, paths, queries, and batches that it makes of concurrent calls', async () => {
  const [one, other] = [await named(10), await named(10)]
  const ids = ['a', 'b', 'c', 'd']
  const granted = await Promise.all(
    [one, other].flatMap(({ userRef }) => ids.map(id => sender.reserve({ userRef, id, units: 1 }))),
  )
  expect(granted).toMatchObject([...ids.map(() => one), ...ids.map(() => other)])
  expect(await sender.getReservation({ userRef: one.userRef, id: 'a' })).toMatchObject({ ...one, units: 1 })
  const { items } = await sender.listReservationsOfSender({ userRef: one.userRef })
  expect(items).toHaveLength(4)
  expect(await admin.getProfile({ userRef: one.userRef })).toMatchObject({ userId: one.userId, ref: one.userRef })
  await expect(sender.check({ userRef: 'no-user', units: 1 })).rejects.toMatchObject({ code: 'unknown_user' })
  await expect(sender.getReservation({ id: 'a' })).rejects.toThrow('userId is missing')
})

test('in a send with its reservation, which settles by the same name', async () => {
  const { userId, userRef } = await named(10)
  const input = { userRef, units: 2 }
  const sent = await sender.withReservation({ ...input, id: 'sent' }, reservation => reservation?.userId)
  expect(sent).toMatchObject({ granted: true, sent: true, value: userId, settled: { userId, userRef, committed: 2 } })
  const failed = sender.withReservation({ ...input, id: 'failed' }, () => Promise.reject(new Error('gateway')))
  await expect(failed).rejects.toThrow('gateway')
  expect(await sender.withReservation({ ...input, id: 'sent' }, () => 'again')).not.toMatchObject({ sent: true })
  expect(await used(userRef)).toBe(2)
})

test('in a lease', async () => {
  const { userRef } = await named(100)
  const lease = sender.lease({ userRef, units: 10 })
  for (let n = 0; n < 7; n++) expect(await lease.spend()).toMatchObject({ granted: true })
  await lease.close()
  expect(await used(userRef)).toBe(7)
})

test('in a debt, which is charged when the service is back', async () => {
  const { userRef } = await named(10)
  const path = join(await mkdtemp(join(tmpdir(), 'journal-')), 'debts')
  let isAway = true
  const away: typeof fetch = (input, init) =>
    isAway ? Promise.reject(new TypeError('fetch failed')) : fetch(input, init)
  const journal = await openJournal(path, { onUnknown: () => 'charge' })
  const client = createClient({ url, token: service.senderToken, fetch: away, journal, timeoutMs: 300 })
  const input = { userRef, id: 'owed', units: 3 }
  const options = { onUnavailable: 'allow-with-debt' } as const
  expect(await client.withReservation(input, () => 'sent', options)).toMatchObject({ sent: true, isDebt: true })
  expect(journal.find({ userRef, id: 'owed' })).toMatchObject({ outcome: 'sent' })
  await expect(client.reserve(input)).rejects.toThrow(UnavailableError)
  isAway = false
  await expect.poll(() => journal.debts().length, { timeout: 20_000 }).toBe(0)
  expect(await used(userRef)).toBe(3)
  await journal.close()
})
