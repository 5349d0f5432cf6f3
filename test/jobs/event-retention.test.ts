/** The removal of old events, on a real database. */
import { describe, expect, test } from 'vitest'
import { nodesOf, planOf, type Statement } from '../../bench/explain.ts'
import { createWebhook, updateWebhook } from '../../src/admin/webhooks/webhooks.ts'
import type { Database, Transaction } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { BY_KEYS_IN_ORDER } from '../../src/db/connection/transaction-settings.ts'
import { appendEvents } from '../../src/db/outbox/writes.ts'
import { removeEvents } from '../../src/db/webhooks/event-retention.ts'
import { quotaIdOf, SHARDS, shardFrom, shardOf } from '../../src/domain/basics/shard.ts'
import type { OutboxEvent } from '../../src/domain/events/outbox-event.ts'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { viewOf } from '../../src/domain/units/view.ts'
import { createEventRetention } from '../../src/jobs/event-retention.ts'
import { PartsFailed } from '../../src/jobs/isolation.ts'
import { createJobRunner } from '../../src/jobs/runner.ts'
import { aQuota } from '../domain/fixture.ts'
import { databaseOfOnePostgres, freshDatabase, impatientDatabase } from '../support/database.ts'
import { neighbours, openTransaction, START, someone } from '../support/engine.ts'
import { SOME_SECRET } from '../support/secrets.ts'

const log = { info() {}, warn() {}, error() {} }
const RETENTION = 7 * DAY_MS

/** An outbox of its own for each test, since a webhook concerns all shards. */
async function createOutbox() {
  const { db, url } = await freshDatabase()
  const retention = createEventRetention({ db, now: () => START, retentionMs: RETENTION })
  /** Emits one event for each user, in one transaction, at this many days before the start. */
  const emit = (daysAgo: number, ...users: number[]) =>
    db.transaction(tx => {
      const events = users.map((user_id): OutboxEvent => {
        const quota = aQuota({ user_id, id: quotaIdOf(1, shardOf(user_id)) })
        return { user_id, type: 'quota.updated', data: { quota: { ...view, id: quota.id, user_id } } }
      })
      return appendEvents(tx, events, START - daysAgo * DAY_MS)
    })
  return {
    db,
    url,
    retention,
    emit,
    prune: (now = START) => retention.removeOnce(now),
    /** The numbers that are left of a shard, and up to which they were removed. */
    async left(user: number) {
      const rows = await db.query<{ number: number }>({
        text: sql`select number from event where shard = $1 order by number`,
        values: [shardOf(user)],
      })
      const [head] = await db.query<{ pruned: number }>({
        text: sql`select pruned from shard_head where shard = $1`,
        values: [shardOf(user)],
      })
      return { numbers: rows.map(({ number }) => number), pruned: head?.pruned }
    },
    async sequences(user: number) {
      const rows = await db.query<{ sequence: number }>({
        text: sql`select sequence from event where user_id = $1 order by number`,
        values: [user],
      })
      return rows.map(({ sequence }) => sequence)
    },
  }
}

const view = viewOf(aQuota({}), START)

describe('events are removed', async () => {
  const { db, emit, prune, left } = await createOutbox()

  test('once a later one of their shard is older than the retention time, too', async () => {
    const user = someone(10)
    for (const days of [10, 9, 8, 1]) await emit(days, user)
    expect(await prune()).toEqual({ removed: 2, isBehind: false })
    expect(await left(user)).toEqual({ numbers: [3, 4], pruned: 2 })
    expect(await prune()).toEqual({ removed: 0, isBehind: false })
    expect(await prune(START + 6 * DAY_MS)).toEqual({ removed: 1, isBehind: false })
    expect(await left(user)).toEqual({ numbers: [4], pruned: 3 })
    expect(await prune(START + 60 * DAY_MS)).toEqual({ removed: 0, isBehind: false })
    expect(await left(user)).toEqual({ numbers: [4], pruned: 3 })
  })

  test('at the retention time, to the millisecond', async () => {
    const user = someone(11)
    for (const days of [8, 7, 6]) await emit(days, user)
    expect(await prune(START - 1)).toEqual({ removed: 0, isBehind: false })
    expect(await prune(START)).toEqual({ removed: 1, isBehind: false })
  })

  test('in pages, oldest first', async () => {
    const [user, other] = [someone(13), someone(13)]
    const webhooks = { ids: [], positions: SHARDS.map(() => 1_000) }
    const page = () => removeEvents(db, shardOf(user), START - RETENTION, webhooks, 3)
    for (const days of [30, 29, 28, 27]) await emit(days, user, other)
    expect(await page()).toEqual({ removed: 3, isFull: true })
    expect(await left(user)).toEqual({ numbers: [4, 5, 6, 7, 8], pruned: 3 })
    expect(await page()).toEqual({ removed: 3, isFull: true })
    expect(await page()).toEqual({ removed: 1, isFull: false })
    expect(await left(user)).toEqual({ numbers: [8], pruned: 7 })
  })

  test('also those that belong to no user', async () => {
    const user = someone(12)
    for (const days of [10, 9]) await emit(days, user)
    await db.query({
      text: sql`update event set user_id = null, sequence = null where shard = $1 and number = 1`,
      values: [shardOf(user)],
    })
    expect(await prune()).toEqual({ removed: 1, isBehind: false })
  })
})

test('the sequences of a user go on, without gaps and repetitions', async () => {
  const { emit, prune, sequences } = await createOutbox()
  const [user = 0, other = 0] = neighbours(2)
  for (const days of [12, 11, 10]) await emit(days, user)
  await emit(9, other)
  await prune()
  expect(await sequences(user)).toEqual([])
  await emit(1, user, user, other)
  await emit(0, user)
  expect(await sequences(user)).toEqual([4, 5, 6])
  expect(await sequences(other)).toEqual([1, 2])
})

test('a sequence counted on from a removed event grows beside the removal of the next', async () => {
  const { emit, prune, sequences } = await createOutbox()
  const user = someone()
  for (const days of [12, 11, 10, 1]) await emit(days, user)
  await Promise.all([prune(), emit(0, user), prune(), emit(0, user)])
  await prune(START + 30 * DAY_MS)
  await emit(0, user)
  expect(await sequences(user)).toEqual([6, 7])
})

describe('a webhook', async () => {
  const author = (daysAgo: number) => ({ now: START - daysAgo * DAY_MS, actor: 'ada', requestId: 'test' })
  const create = async (db: Database, daysAgo: number) => {
    const webhook = await createWebhook(db, { url: 'https://example.com/' }, SOME_SECRET, author(daysAgo))
    if (webhook === undefined) throw new Error('no webhook')
    return webhook.id
  }
  const moveTo = (db: Database, id: number, shard: number, number: number) =>
    db.query({
      text: sql`update webhook_cursor set positions[$2 + 1] = $3 where webhook_id = $1`,
      values: [id, shard, number],
    })

  test('that is enabled keeps events until they are fanned out to it', async () => {
    const { db, emit, prune, left } = await createOutbox()
    const user = someone()
    const id = await create(db, 300)
    for (const days of [200, 199, 198, 197]) await emit(days, user)
    expect(await prune()).toEqual({ removed: 0, isBehind: false })
    await moveTo(db, id, shardOf(user), 2)
    expect(await prune()).toEqual({ removed: 2, isBehind: false })
    await moveTo(db, id, shardOf(user), 4)
    expect(await prune()).toEqual({ removed: 1, isBehind: false })
    expect(await left(user)).toEqual({ numbers: [4], pruned: 3 })
  })

  test('keeps events whose deliveries are pending', async () => {
    const { db, emit, prune, left } = await createOutbox()
    const user = someone()
    const id = await create(db, 300)
    for (const days of [200, 199, 198, 197]) await emit(days, user)
    await moveTo(db, id, shardOf(user), 4)
    const deliver = (number: number, status: string) =>
      db.query({
        text: sql`insert into webhook_delivery
                 (shard, webhook_id, event_shard, number, status, next_attempt_at, created_at)
               values ($1, $2, $3, $4, $5, $6, now())`,
        values: [
          id % 64,
          id,
          shardOf(user),
          number,
          status,
          status === 'pending' ? new Date(START).toISOString() : null,
        ],
      })
    await deliver(1, 'delivered')
    await deliver(2, 'pending')
    expect(await prune()).toEqual({ removed: 1, isBehind: false })
    expect(await left(user)).toEqual({ numbers: [2, 3, 4], pruned: 1 })
    await db.query({ text: sql`update webhook_delivery set status = 'failed', next_attempt_at = null` })
    expect(await prune()).toEqual({ removed: 2, isBehind: false })
  })

  test('that was disabled keeps events for the retention time only', async () => {
    const { db, emit, prune } = await createOutbox()
    const user = someone()
    const id = await create(db, 300)
    for (const days of [200, 199]) await emit(days, user)
    await updateWebhook(db, id, { enabled: false }, author(6))
    expect(await prune()).toEqual({ removed: 0, isBehind: false })
    expect(await prune(START + DAY_MS)).toEqual({ removed: 1, isBehind: false })
  })
})

test('several processes remove the same events, beside writers, and none twice', async () => {
  const { db, emit, left, sequences } = await createOutbox()
  const users = neighbours(5)
  for (let days = 60; days > 20; days--) await emit(days, ...users)
  const webhooks = { ids: [], positions: SHARDS.map(() => 1_000) }
  const [first = 0] = users
  const page = () => removeEvents(db, shardOf(first), START - RETENTION, webhooks, 50)
  const results = await Promise.all([page(), page(), emit(0, ...users), page(), page(), page(), emit(0, ...users)])
  for (let more = true; more; ) more = (await page()).isFull
  const removed = results.reduce((sum, result) => sum + (result?.removed ?? 0), 0)
  expect(removed).toBeLessThan(200)
  const { numbers, pruned } = await left(first)
  expect([numbers[0], pruned]).toEqual([200, 199])
  for (const user of users.slice(0, -1)) expect(await sequences(user)).toEqual([41, 42])
})

test('a shard whose outbox is locked keeps no other shard back', async () => {
  const { db, url, emit, prune, left } = await createOutbox()
  const [locked = 0, free = 0] = [someone(3), someone(60)]
  for (const user of [locked, free]) for (const days of [10, 9]) await emit(days, user)
  const holding = await openTransaction(db, tx =>
    tx.query({ text: sql`select 1 from shard_head where shard = 3 for update` }),
  )
  const hasty = createEventRetention({ db: impatientDatabase(url), now: () => START, retentionMs: RETENTION })
  await expect(hasty.removeOnce(START)).rejects.toBeInstanceOf(PartsFailed)
  expect(await left(free)).toEqual({ numbers: [2], pruned: 1 })
  expect(await left(locked)).toEqual({ numbers: [1, 2], pruned: 0 })
  await holding.commit()
  expect(await prune()).toEqual({ removed: 1, isBehind: false })
})

test('as a job it removes until the runner stops', async () => {
  const { emit, retention, left } = await createOutbox()
  const user = someone()
  for (const days of [10, 9]) await emit(days, user)
  const jobs = createJobRunner([retention], { log })
  jobs.start()
  await expect.poll(() => left(user)).toEqual({ numbers: [2], pruned: 1 })
  await jobs.stop()
})

describe('a page is read by keys', async () => {
  const { db } = await databaseOfOnePostgres()
  const shard = shardFrom(5)
  await db.query({ text: sql`analyze event, webhook_delivery, shard_head` })
  await db.query({
    text: sql`insert into event (shard, number, user_id, sequence, type, at, data)
           select n % 64, n / 64 + 1, n, 1, 'quota.updated', $1::timestamptz, '{}' from generate_series(0, 63999) n`,
    values: [new Date(START - 30 * DAY_MS).toISOString()],
  })

  async function statements(): Promise<Statement[]> {
    const sent: Statement[] = []
    const tx: Transaction = {
      isCluster: false,
      async query(one) {
        if (one.text !== BY_KEYS_IN_ORDER) sent.push(one)
        return []
      },
    }
    const webhooks = { ids: [64], positions: SHARDS.map(() => 5_000) }
    await removeEvents({ ...db, transaction: work => work(tx) }, shard, START, webhooks, 100).catch(() => {})
    return sent
  }

  test.each([false, true])('with statistics: %s', async analyzed => {
    if (analyzed) await db.query({ text: sql`analyze event` })
    const sent = await statements()
    const rolledBack = db.transaction(async tx => {
      await tx.query({ text: BY_KEYS_IN_ORDER })
      const nodes: ReturnType<typeof nodesOf> = []
      for (const { text, values = [] } of sent) nodes.push(...nodesOf(await planOf(tx, { text, values })))
      const scans = nodes.filter(node => ['event', 'webhook_delivery'].includes(node['Relation Name'] ?? ''))
      const accesses = scans.filter(node => node['Index Name'] !== undefined || node['Node Type'].endsWith('Scan'))
      throw new Error(accesses.map(node => `${node['Index Name']} ${node['Actual Rows']}`).join(', '))
    })
    await expect(rolledBack).rejects.toThrow(/^webhook_delivery_pkey 0, event_pkey 101, event_pkey 100$/)
  })
})
