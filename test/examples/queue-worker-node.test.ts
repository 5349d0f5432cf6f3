import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { emptyDatabase } from '../support/database.ts'
import { startExample } from '../support/example.ts'
import { serve } from '../support/listening.ts'
import { PROJECT } from '../support/paths.ts'
import { startService } from '../support/service.ts'
import { rawSql } from '../support/sql.ts'

const { app, call, clock, senderToken } = await startService()
// Half a day ahead of the worker, so that what may be sent after the current hour waits at least as long.
clock.now = Date.now() + 12 * 3_600_000

const TEXT = 'Hello'
/** What the provider was asked to send, with the ids of the jobs. */
const sent: Array<{ to: string; id: unknown }> = []
/** What the provider answers to messages for these numbers. */
const ANSWERS: Record<string, number> = { '+4915100000400': 400, '+4915100000500': 500 }
const provider = await serve(async (request, response) => {
  const { to, text } = JSON.parse(Buffer.concat(await request.toArray()).toString())
  if (text === TEXT) sent.push({ to, id: request.headers['idempotency-key'] })
  response.writeHead(ANSWERS[to] ?? 200).end()
})

/** What happens before a call that names this job reaches the service. */
const beforeReserve = new Map<string, () => Promise<void>>()
const service = await app.listen({ port: 0, host: '127.0.0.1' })
const way = await serve(async (request, response) => {
  const body = Buffer.concat(await request.toArray()).toString()
  for (const [id, action] of beforeReserve) {
    if (!body.includes(id)) continue
    await action()
    beforeReserve.delete(id)
  }
  const { 'content-type': type = '', authorization = '' } = request.headers
  const headers = { 'content-type': type, authorization }
  const answer = await fetch(service + request.url, { method: 'POST', headers, body })
  response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
  response.end(await answer.text())
})

const { db, url } = await emptyDatabase()
const schema = await readFile(join(PROJECT, 'examples/queue-worker-node/schema.sql'), 'utf8')
for (const text of schema.split(/;\s*/).filter(text => text !== '')) await db.query({ text: rawSql`${text}` })
await startExample(
  'queue-worker-node',
  'worker.ts',
  {
    DATABASE_URL: url,
    PROVIDER_URL: provider,
    SMS_QUOTA_URL: way,
    SMS_QUOTA_TOKEN: senderToken,
  },
  ['pg'],
)

let users = 100
/** A user with a grant of this many units an hour. */
async function userWith(limit: number): Promise<number> {
  users += 1
  await call('POST', '/api/sms/admin/quota', { body: { user_id: users, limit, period: 'hour' } })
  return users
}

interface Job {
  userId: number
  to?: string
  /** The worker that took it has died, and its lease is over. */
  wasTaken?: boolean
}

/** Inserts a job. */
async function insert({ userId, to = '+4915112345678', wasTaken = false }: Job, id: number): Promise<void> {
  await db.query({
    text: sql`insert into sms_job (id, user_id, recipient, body, state, attempt) overriding system value
      values ($1, $2, $3, $4, $5, $6)`,
    values: [id, userId, to, TEXT, wasTaken ? 'sending' : 'waiting', wasTaken ? 1 : 0],
  })
}

/** What has become of a job, once the worker is done with it. */
async function outcomeOf(id: number): Promise<{ state: string; note: string | null; attempt: number }> {
  const text = sql`select state, note, attempt from sms_job where id = $1`
  const read = async () => (await db.query<Awaited<ReturnType<typeof outcomeOf>>>({ text, values: [id] }))[0]
  await expect.poll(async () => (await read())?.note ?? (await read())?.state).not.toMatch(/^(waiting|sending)$/)
  const job = await read()
  if (job === undefined) throw new Error('the job is gone')
  return job
}

/** A call of the sender's API for the reservation of a job, as a worker makes it. */
async function callFor(operation: 'reserve' | 'commit', userId: number, id: number): Promise<void> {
  const message = { message: { to: '+4915112345678', text: TEXT }, on_expiry: 'commit' }
  const body = { user_id: userId, id: `job-${id}`, ...(operation === 'reserve' ? message : {}) }
  const answer = await call('POST', `/api/sms/sender/quota/${operation}`, { body, token: senderToken })
  expect(answer.status).toBe(200)
}

const sentFor = (id: number) => sent.filter(message => message.id === `job-${id}`).length

async function counters(userId: number): Promise<object> {
  const { body } = await call('GET', `/api/sms/admin/quota/summary?user_id=${userId}`)
  return { used: body.used, reserved: body.reserved }
}

test('a message is sent and charged', async () => {
  const userId = await userWith(2)
  await insert({ userId }, 1)
  expect(await outcomeOf(1)).toEqual({ state: 'sent', note: null, attempt: 1 })
  expect([sentFor(1), await counters(userId)]).toEqual([1, { used: 1, reserved: 0 }])
})

test('a denied message waits until it may be sent, or is set aside', async () => {
  const userId = await userWith(1)
  await callFor('reserve', userId, 9)
  await insert({ userId }, 10)
  expect(await outcomeOf(10)).toEqual({ state: 'waiting', note: 'quota_exhausted', attempt: 1 })
  const [job] = await db.query<{ next: string }>({
    text: sql`select to_char(run_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as next from sms_job where id = 10`,
  })
  const hour = 3_600_000
  expect(Date.parse(job?.next ?? '')).toBe(Math.floor(clock.now / hour) * hour + hour)

  await insert({ userId: 99 }, 11)
  expect(await outcomeOf(11)).toEqual({ state: 'denied', note: 'no_quota', attempt: 1 })
  const body = { user_id: 98, limit: 5, starts_at: new Date(clock.now + 30 * 24 * hour).toISOString() }
  await call('POST', '/api/sms/admin/quota', { body })
  await insert({ userId: 98 }, 12)
  expect(await outcomeOf(12)).toEqual({ state: 'denied', note: 'no_quota', attempt: 1 })
  expect([sentFor(10), sentFor(11), sentFor(12)]).toEqual([0, 0, 0])
})

test('a message that the provider refuses is free, one that it may have sent is kept for a person', async () => {
  const userId = await userWith(5)
  await insert({ userId, to: '+4915100000400' }, 20)
  await insert({ userId, to: '+4915100000500' }, 21)
  await insert({ userId, to: 'nobody' }, 22)
  const refused = 'Error: the provider refused the message: 400'
  expect(await outcomeOf(20)).toEqual({ state: 'failed', note: refused, attempt: 1 })
  expect(await outcomeOf(21)).toEqual({ state: 'unknown', note: 'the provider answered 500', attempt: 1 })
  expect(await outcomeOf(22)).toMatchObject({ state: 'failed', note: expect.stringContaining('/message/to') })
  expect(await counters(userId)).toEqual({ used: 0, reserved: 1 })
})

test('a job of a worker that has died is not sent or charged again', async () => {
  const userId = await userWith(5)
  // It died before it had reserved, before it had sent or after it had, and after it had committed.
  await callFor('reserve', userId, 31)
  await callFor('reserve', userId, 32)
  await callFor('commit', userId, 32)
  for (const id of [30, 31, 32]) await insert({ userId, wasTaken: true }, id)
  expect(await outcomeOf(30)).toEqual({ state: 'sent', note: null, attempt: 2 })
  const note = 'an earlier call with this id has not said whether it sent the message'
  expect(await outcomeOf(31)).toEqual({ state: 'unknown', note, attempt: 2 })
  expect(await outcomeOf(32)).toEqual({ state: 'sent', note: null, attempt: 2 })
  expect([sentFor(30), sentFor(31), sentFor(32)]).toEqual([1, 0, 0])
  expect(await counters(userId)).toEqual({ used: 2, reserved: 1 })
})

test('a worker that is slower than its lease does not send what another worker has taken', async () => {
  const userId = await userWith(5)
  beforeReserve.set('job-40', async () => {
    await db.query({ text: sql`update sms_job set attempt = attempt + 1 where id = 40` })
    await callFor('reserve', userId, 40)
  })
  await insert({ userId }, 40)
  await expect.poll(() => beforeReserve.size).toBe(0)
  // The other worker's job is free again, and the worker under test takes it after its own.
  await db.query({ text: sql`update sms_job set run_at = now() where id = 40` })
  expect(await outcomeOf(40)).toMatchObject({ state: 'unknown', attempt: 3 })
  expect([sentFor(40), await counters(userId)]).toEqual([0, { used: 0, reserved: 1 }])
})
