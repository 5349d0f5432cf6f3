/** The client names users by references wherever it takes an id. */
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { createClientOn } from '../../client/src/client.ts'
import { createClient, UnavailableError } from '../../client/src/main.ts'
import { openJournal } from '../../client/src/node/journal.ts'
import { freshDatabase } from '../support/database.ts'
import { createQuickEraser, finishErasures } from '../support/erasure.ts'
import { startService } from '../support/service.ts'
import { FAST } from '../support/timers.ts'

const database = freshDatabase()
const service = await startService({ database })
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

test('in a lease of a user who is erased meanwhile: there is nothing left to settle, so it closes', async () => {
  const { userId, userRef } = await named(100)
  const lease = sender.lease({ userRef, units: 10 })
  expect(await lease.spend()).toMatchObject({ granted: true })
  await admin.eraseUser({ userId, force: 'true' })
  await finishErasures(createQuickEraser({ ...service, now: () => service.clock.now, watched: async () => [] }))
  await lease.close()
})

/** A client whose service is away at first, with a journal, and what the service has answered. */
async function owing(at: string, onRefused: (error: unknown) => void = () => {}) {
  const path = join(await mkdtemp(join(tmpdir(), 'journal-')), 'debts')
  const journal = await openJournal(path, {
    onUnknown: () => 'charge',
    onRefused: (_debt, error) => onRefused(error),
  })
  const network = { isAway: true, answers: [] as string[] }
  const away: typeof fetch = async (input, init) => {
    if (network.isAway) throw new TypeError('fetch failed')
    const response = await fetch(input, init)
    network.answers.push(await response.clone().text())
    return response
  }
  const client = createClientOn(FAST, { url: at, token: service.senderToken, fetch: away, journal })
  return { client, journal, network }
}

const DEBT = { onUnavailable: 'allow-with-debt' } as const
const noRoute = () => Promise.reject(new Error('no route'))

test('in a debt, which is charged when the service is back', async () => {
  const { userRef } = await named(10)
  const { client, journal, network } = await owing(url)
  const input = { userRef, id: 'owed', units: 3 }
  expect(await client.withReservation(input, () => 'sent', DEBT)).toMatchObject({ sent: true, isDebt: true })
  expect(journal.find({ userRef, id: 'owed' })).toMatchObject({ outcome: 'sent' })
  await expect(client.reserve(input)).rejects.toThrow(UnavailableError)
  // Of a reference that no user has, there is nothing to give back.
  await expect(client.withReservation({ ...input, userRef: 'no-user' }, noRoute, DEBT)).rejects.toThrow('no route')
  network.isAway = false
  await expect.poll(() => journal.debts().length, { timeout: 20_000 }).toBe(0)
  expect(await used(userRef)).toBe(3)
  await journal.close()
})

test('in a debt of a user that there is no more: it can never be booked, so it leaves the journal, and is reported once', async () => {
  const refused: unknown[] = []
  const { client, journal, network } = await owing(url, error => refused.push(error))
  await client.withReservation({ userRef: 'erased', id: 'owed', units: 3 }, () => 'sent', DEBT)
  network.isAway = false
  await expect.poll(() => journal.debts().length, { timeout: 20_000 }).toBe(0)
  expect(refused).toMatchObject([{ code: 'unknown_user' }])
  await journal.close()
})

test('in a debt of a user that the service makes later, because it has made too many', async () => {
  const env = { AUTO_USERS: 'true', DEFAULT_PLAN_USERS_PER_MINUTE: '1' }
  const maker = await startService({ database, env })
  const at = await maker.app.listen({ port: 0, host: '127.0.0.1' })
  onTestFinished(() => maker.app.close())
  await createClient({ url: at, token: service.senderToken }).reserve({ userRef: 'only', id: 'm', units: 1 })
  const { client, journal, network } = await owing(at)
  const input = { userRef: 'further', id: 'owed', units: 3 }
  await client.withReservation(input, () => 'sent', DEBT)
  network.isAway = false
  const denials = () => network.answers.filter(answer => answer.includes('"granted":false')).length
  await expect.poll(denials, { timeout: 20_000 }).toBeGreaterThan(1)
  expect(journal.debts()).toMatchObject([{ outcome: 'sent' }])
  await admin.updateProfile({ userId: 299, ref: 'further' })
  await expect.poll(() => journal.debts().length, { timeout: 20_000 }).toBe(0)
  const { committed, unfunded } = await sender.getReservation({ userRef: 'further', id: 'owed' })
  expect([committed, unfunded]).toEqual([3, 3])
  await journal.close()
})
