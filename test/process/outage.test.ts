import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { freshDatabase } from '../support/database.ts'
import { createSite } from '../support/process.ts'

const QUOTA = '/api/sms/admin/quota'
const site = await createSite()
const { url, db } = await freshDatabase()
const network = await createNetwork(url)
const service = await site.start({
  DATABASE_URL: network.url,
  AUTH_SECRET: 'a secret for tests only, long enough for HS256',
})
afterAll(() => network.cut())

let made = 0
const create = (key: string) =>
  service.call('POST', QUOTA, { body: { user_id: 7, limit: 5, name: key }, headers: { 'idempotency-key': key } })
const quotasNamed = (name: string) => db.query({ text: sql`select id from quota where name = $1`, values: [name] })

const unavailable = (detail: RegExp) => ({
  status: 503,
  headers: { 'content-type': 'application/problem+json; charset=utf-8', 'retry-after': '1' },
  body: { code: 'unavailable', detail: expect.stringMatching(detail) },
})

async function expectNotReady(): Promise<void> {
  const ready = () => service.call('GET', '/readyz')
  await expect.poll(ready).toMatchObject(unavailable(/^the database does not answer$/))
}

async function expectRecovery(): Promise<void> {
  const ready = async () => (await service.call('GET', '/readyz')).status
  await expect.poll(ready).toBe(200)
  expect(await create(`recovered-${made++}`)).toMatchObject({ status: 201 })
}

test('without its database the service answers 503, stays alive, and recovers by itself', async () => {
  expect(await create('before')).toMatchObject({ status: 201 })
  await network.cut()
  const outage = Date.now()
  await expectNotReady()
  expect(await create('meanwhile')).toMatchObject(unavailable(/repeat the call/))
  expect(await service.call('GET', `${QUOTA}/list`)).toMatchObject(unavailable(/repeat the call/))
  expect(await service.call('GET', '/livez')).toMatchObject({ status: 200, body: { status: 'ok' } })
  // A refused connection fails at once: no call waits for a timeout.
  expect(Date.now() - outage).toBeLessThan(20_000)
  await network.restore()
  await expectRecovery()
  expect(await quotasNamed('meanwhile')).toEqual([])
  expect(await create('meanwhile')).toMatchObject({ status: 201 })
})

test('if the confirmation of a commit is lost, the call fails with 503, and its repetition creates nothing twice', async () => {
  network.loseConfirmationOf('never-confirmed')
  expect(await create('never-confirmed')).toMatchObject(unavailable(/repeat the call/))
  const rows = await quotasNamed('never-confirmed')
  expect(rows).toHaveLength(1)
  expect(await create('never-confirmed')).toMatchObject({ status: 201, body: rows[0] })
  expect(await quotasNamed('never-confirmed')).toEqual(rows)
})

test('calls time out if the database does not respond', async () => {
  network.silent = true
  const [, creation] = await Promise.all([expectNotReady(), create('silence')])
  expect(creation).toMatchObject(unavailable(/repeat the call/))
  expect(await service.call('GET', '/livez')).toMatchObject({ status: 200 })
  network.silent = false
  await expectRecovery()
  expect(await create('silence')).toMatchObject({ status: 201 })
  expect(await quotasNamed('silence')).toHaveLength(1)
})

/** A proxy between the service and its database that a test can interrupt. */
async function createNetwork(databaseUrl: string) {
  const target = new URL(databaseUrl)
  const [folder, port] = [target.searchParams.get('host'), Number(target.port || 5432)]
  const sockets = new Set<Socket>()
  let losing: string | undefined
  const state = { silent: false }

  const server = createServer(client => {
    const database =
      folder === null ? connect(port, target.hostname) : connect(`${folder}/.s.PGSQL.${target.port || 5432}`)
    let isConcerned = false
    let lost = false
    for (const [socket, other] of [
      [client, database],
      [database, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
    client.on('data', chunk => {
      isConcerned ||= losing !== undefined && chunk.includes(losing)
      if (isConcerned && chunk.includes('commit\0')) {
        losing = undefined
        lost = true
      }
      if (!state.silent) database.write(chunk)
    })
    database.on('data', chunk => {
      if (lost) client.destroy()
      else if (!state.silent) client.write(chunk)
    })
  })
  const listen = (port: number) => once(server.listen(port, '127.0.0.1'), 'listening')
  await listen(0)
  const address = server.address() as AddressInfo

  const proxyUrl = new URL(databaseUrl)
  proxyUrl.hostname = '127.0.0.1'
  proxyUrl.port = String(address.port)
  proxyUrl.searchParams.delete('host')
  return Object.assign(state, {
    url: proxyUrl.href,
    /** Forwards the commit of the next transaction that sends this text, and drops its confirmation. */
    loseConfirmationOf(text: string) {
      losing = text
    },
    async cut() {
      const closed = once(server.close(), 'close')
      for (const socket of sockets) socket.destroy()
      await closed
    },
    restore: () => listen(address.port),
  })
}
