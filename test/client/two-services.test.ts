/** What one of two services on one database has done is answered by the other one, if the answer of the first is not there. */
import { expect, test } from 'vitest'
import { createClient } from '../../client/src/main.ts'
import { freshDatabase } from '../support/database.ts'
import { startService } from '../support/service.ts'

const database = await freshDatabase()
const services = [
  await startService({ database: Promise.resolve(database) }),
  await startService({ database: Promise.resolve(database) }),
]
const urls = await Promise.all(services.map(({ app }) => app.listen({ port: 0, host: '127.0.0.1' })))
const [service] = services
if (service === undefined) throw new Error('there is no service')
const { adminToken, senderToken } = service

/** The first call of a path reaches its service, and what comes back is lost. */
function losing(ways: (forward: () => Promise<Response>) => Promise<Response>): {
  fetch: typeof fetch
  to: string[]
} {
  const to: string[] = []
  return {
    to,
    async fetch(input, init) {
      to.push(new URL(String(input)).origin)
      const { signal: _, ...rest } = init ?? {}
      return to.length === 1 ? ways(() => fetch(input, rest)) : fetch(input, init)
    },
  }
}
const WAYS = [
  ['lost', (forward: () => Promise<Response>) => forward().then(() => Promise.reject(new TypeError('reset')))],
  [
    'late',
    async (forward: () => Promise<Response>) => {
      setImmediate(() => forward())
      throw new TypeError('reset')
    },
  ],
  [
    'doubled and lost',
    (forward: () => Promise<Response>) =>
      Promise.all([forward(), forward()]).then(() => Promise.reject(new TypeError('reset'))),
  ],
] as const

test.each(WAYS)('an answer that is %s is given again by the other service', async (name, way) => {
  const admin = createClient({ url: urls, token: adminToken })
  const userId = 100 + WAYS.findIndex(([other]) => other === name)
  const creating = losing(way)
  const create = createClient({ url: urls, token: adminToken, fetch: creating.fetch })
  const quota = await create.createQuota({ userId, limit: 10 })
  expect(new Set(creating.to).size).toBe(2)
  const consuming = losing(way)
  const consume = createClient({ url: urls, token: senderToken, fetch: consuming.fetch })
  expect(await consume.consume({ userId, id: 'm', units: 3 })).toMatchObject({ granted: true, replayed: false })
  expect(new Set(consuming.to).size).toBe(2)
  const reserving = losing(way)
  const reserve = createClient({ url: urls, token: senderToken, fetch: reserving.fetch })
  expect(await reserve.reserve({ userId, id: 'r', units: 2 })).toMatchObject({ granted: true, replayed: false })
  const settling = losing(way)
  const settle = createClient({ url: urls, token: senderToken, fetch: settling.fetch })
  expect(await settle.commit({ userId, id: 'r' })).toMatchObject({ state: 'committed', committed: 2 })
  // What is late may still arrive.
  await expect.poll(async () => (await admin.summarizeQuotasOfUser({ userId })).reserved).toBe(0)
  expect(await admin.summarizeQuotasOfUser({ userId })).toMatchObject({ used: 5, limit: 10 })
  const { items } = await admin.listQuotas({ userId })
  expect(items.map(({ id }) => id)).toEqual([quota.id])
})
