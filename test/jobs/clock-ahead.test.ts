/** All that is removed by age, while the database's clock is ahead: what is needed when it is set right is still there. */
import pino from 'pino'
import { expect, test } from 'vitest'
import { createJobs } from '../../src/background.ts'
import { loadConfig } from '../../src/config/config.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { timestampParam } from '../../src/db/connection/values.ts'
import { shardOfKey } from '../../src/db/quotas/idempotency.ts'
import { writeNames } from '../../src/db/users/principal-names.ts'
import { secretKeys } from '../../src/db/webhooks/secret-keys.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/domain/time/time.ts'
import { createPauses } from '../../src/engine/pauses.ts'
import { startSender } from '../http/sender-fixture.ts'
import { rawSql } from '../support/sql.ts'

/** The shortest times that an operator may set. */
const KEPT = ['', 'HISTORY_', 'DELETED_QUOTA_', 'AUDIT_', 'DENIAL_'].map(of => [`${of}RETENTION_DAYS`, '1'])
const SECRETS_KEY = Buffer.alloc(32, 7)
const env = { SECRETS_KEY: SECRETS_KEY.toString('base64'), EVENT_RETENTION_DAYS: '35', ...Object.fromEntries(KEPT) }
const service = await startSender({ env })
const { db, clock, call, ask, allow, someone, engine, metrics } = service
const ADMIN = '/api/sms/admin'
const AHEAD_MS = 75 * MINUTE_MS

const log = pino({ level: 'silent' })
const loaded = loadConfig({ ...env, AUTH_SECRET: 'x'.repeat(32), DATABASE_URL: service.databaseUrl })
if ('issues' in loaded) throw new Error(JSON.stringify(loaded.issues))
const now = () => clock.now
const pauses = createPauses({ db, now })
const keys = secretKeys(SECRETS_KEY, [])
const jobs = createJobs(
  {
    config: loaded.config,
    log,
    jobsDb: db,
    now,
    metrics,
    pauses,
    secretKeys: keys,
    valueKey: { bytes: null },
    idleMs: 0,
  },
  engine,
)

/** A pass of every job of the service, until it finds nothing more to do. */
async function runJobs(): Promise<void> {
  for (const job of jobs)
    for (let step = 0; step < 20; step++) if (!(await job.step(new AbortController().signal)).isBehind) break
}

/** What a test leaves and jobs remove, by the names of tables. */
const REMOVED = [
  'breaker_minute',
  'denial',
  'event',
  'increase_request',
  'increase_request_change',
  'pause',
  'pause_change',
  'principal_name',
  'quota',
  'quota_alert',
  'quota_change',
  'quota_window',
  'reservation',
  'usage',
  'usage_pending',
  'value_counter',
  'webhook_change',
  'webhook_delivery',
  'previous_secret',
]

/** How many rows each table has; of webhooks, how many secrets that sign beside others. */
async function rows(): Promise<Map<string, number>> {
  const tables = await db.query<{ name: string }>({
    text: sql`select relname as name from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace order by 1`,
  })
  const counts = new Map<string, number>()
  for (const { name } of tables) {
    const [row] = await db.query<{ count: number }>({ text: rawSql`select count(*) as count from ${name}` })
    counts.set(name, row?.count ?? 0)
  }
  const secrets = await db.query({ text: sql`select 1 from webhook where previous_secret is not null` })
  return counts.set('previous_secret', secrets.length)
}

const lost = (before: Map<string, number>, after: Map<string, number>) =>
  [...before].filter(([name, count]) => (after.get(name) ?? 0) < count).map(([name]) => name)

/** One pass while the clock is ahead of a time; then it is set right. */
async function lostByAPassAhead(at: number): Promise<string[]> {
  clock.now = at
  await runJobs()
  const before = await rows()
  clock.now += AHEAD_MS
  await runJobs()
  clock.now = at
  return lost(before, await rows())
}

/** Something of every kind that is removed by age, all of it at the same time. */
async function leaveTraces(): Promise<{ send: (id: string) => Promise<boolean> }> {
  const user_id = someone()
  const grant = await allow({ user_id, limit: 4, period: 'hour', alert_at: [50] })
  await allow({ user_id, kind: 'cap', limit: 3, period: 'hour', per: 'recipient' })
  const message = { user_id, units: 1, country: 'DE', message_type: 'otp', recipient: '+4915112345678' }
  const send = async (id: string) => (await ask('consume', { ...message, id })).body.granted
  expect([await send('a'), await send('b'), await send('c'), await send('d')]).toEqual([true, true, true, false])
  await call('PUT', `${ADMIN}/quota/${grant}`, { body: { name: 'Codes' } })

  const gone = await allow({ user_id: someone(), limit: 4, period: 'hour' })
  await call('DELETE', `${ADMIN}/quota/${gone}`)
  const { body: pause } = await call('POST', `${ADMIN}/pauses`, { body: { user_id, country: 'FR' } })
  await call('DELETE', `${ADMIN}/pauses/${pause.id}`)
  const request = { user_id, units: 10, until: null, reason: 'More' }
  const { body: asked } = await call('POST', `${ADMIN}/requests`, { body: request })
  await call('POST', `${ADMIN}/requests/${asked.id}/decline`, { body: {} })
  await writeNames(db, [{ subject: 'ann', name: 'Ann', user_id: null }], clock.now)
  const { body: webhook } = await call('POST', `${ADMIN}/webhooks`, {
    body: { url: 'https://example.com/', types: ['quota.created'] },
  })
  await call('POST', `${ADMIN}/webhooks/${webhook.id}/rotate-secret`, { body: {} })
  await db.query({
    text: sql`insert into webhook_delivery (shard, webhook_id, event_shard, number, status, next_attempt_at, created_at)
           values ($1, $2, 1, 1, 'delivered', null, $3)`,
    values: [webhook.id % 64, webhook.id, timestampParam(clock.now)],
  })
  return { send }
}

test('a pass of all jobs ahead of time removes nothing that is needed when the clock is set right', async () => {
  const from = clock.now
  const { send } = await leaveTraces()
  // In the open window, before a day has passed, and before what is kept in any case is old.
  clock.now = from + 59 * MINUTE_MS
  expect(await lostByAPassAhead(clock.now)).toEqual([])
  expect(await send('e')).toBe(false)
  clock.now = from + HOUR_MS
  expect(await send('f')).toBe(true)
  const before = await rows()
  expect(await lostByAPassAhead(from + DAY_MS - MINUTE_MS)).toEqual([])
  expect(await lostByAPassAhead(from + 35 * DAY_MS - MINUTE_MS)).toEqual([])
  expect(await lostByAPassAhead(from + 400 * DAY_MS - MINUTE_MS)).toEqual([])
  clock.now = from + 440 * DAY_MS
  await runJobs()
  expect(lost(before, await rows())).toEqual(REMOVED)
})

test('the first call of a key is known for a day, also after another call while the clock was ahead by two', async () => {
  const from = clock.now
  const [giver, receiver] = [someone(), someone()]
  const quota = await allow({ user_id: giver, limit: 100 })
  const give = (key: string) =>
    call('POST', `${ADMIN}/quota/${quota}/transfer`, {
      body: { to_user_id: receiver, units: 10, reason: 'Branch' },
      headers: { 'idempotency-key': key },
    })
  const first = await give('first')
  expect(first.status).toBe(201)
  const beside = Array.from({ length: 1_000 }, (_, n) => `k${n}`).find(
    key => shardOfKey('1', key) === shardOfKey('1', 'first'),
  )
  clock.now = from + DAY_MS - HOUR_MS + 2 * DAY_MS
  expect((await give(String(beside))).status).toBe(201)
  clock.now = from + DAY_MS - HOUR_MS
  expect((await give('first')).body.transfer).toEqual(first.body.transfer)
  clock.now = from
})
