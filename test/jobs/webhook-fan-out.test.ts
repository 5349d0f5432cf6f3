/** Fan-out of events to deliveries by ranges of event numbers, and redelivery since a time. */
import { expect, test } from 'vitest'
import { openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { timestampParam } from '../../src/db/connection/values.ts'
import { redeliverSince } from '../../src/db/webhooks/delivery-lists.ts'
import { fanOut, nextRanges } from '../../src/db/webhooks/fan-out.ts'
import type { WhenLow } from '../../src/domain/webhooks/webhook.ts'
import { createDispatcher } from '../../src/jobs/webhook-dispatcher.ts'
import { freshDatabase } from '../support/database.ts'
import { addWebhook, PLAIN } from '../support/secrets.ts'
import { rawSql } from '../support/sql.ts'

const { db, url } = await freshDatabase()
const NOW = Date.parse('2026-03-15T12:00:00.000Z')
const MINUTE = 60_000
const log = { info() {}, warn() {}, error() {} }
const positions = (of: Record<number, number>) => Array.from({ length: 64 }, (_, shard) => of[shard] ?? 0)

const aWebhook = (types: string[] | null = null, url = 'http://127.0.0.1:1/', only_when_low: WhenLow | null = null) =>
  addWebhook(db, { url, types, only_when_low }, NOW)

/** Adds events to a shard; every hundredth is `quota.deleted`, the others are `quota.updated`. One each minute back from `NOW`. */
async function addEvents(shard: number, count: number): Promise<void> {
  await db.query({
    text: sql`with head as (update shard_head set last_event = last_event + $2 where shard = $1 returning last_event)
      insert into event (shard, number, type, at, data)
      select $1, last_event - $2 + n, case when n % 100 = 0 then 'quota.deleted' else 'quota.updated' end,
        $3::timestamptz - ($2 - n) * interval '1 minute', '{}'
      from head, generate_series(1, $2::int) n`,
    values: [shard, count, timestampParam(NOW)],
  })
}

interface Row {
  event_shard: number
  number: number
}
const deliveriesOf = (id: number) =>
  db.query<Row>({
    text: sql`select event_shard, number from webhook_delivery where webhook_id = $1 order by event_shard, number`,
    values: [id],
  })
const numbers = (shard: number, from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => ({ event_shard: shard, number: from + index }))

test.each([
  ['nothing is new', {}, {}, 10, []],
  [
    'all fits',
    {},
    { 1: 3, 5: 2 },
    10,
    [
      { shard: 5, after: 0, until: 2 },
      { shard: 1, after: 0, until: 3 },
    ],
  ],
  [
    'one shard has much',
    { 2: 7 },
    { 2: 1_000, 3: 1 },
    10,
    [
      { shard: 3, after: 0, until: 1 },
      { shard: 2, after: 7, until: 16 },
    ],
  ],
  ['shards share evenly', {}, { 1: 100, 2: 100, 3: 100 }, 9, [1, 2, 3].map(shard => ({ shard, after: 0, until: 3 }))],
  [
    'there are more shards than events to read',
    {},
    { 1: 9, 2: 9, 3: 9 },
    2,
    [1, 2].map(shard => ({ shard, after: 0, until: 1 })),
  ],
  ['the outbox ends before the cursor, after a fail-over', { 1: 9 }, { 1: 5 }, 10, []],
] as const)('the next page where %s', (_, after, ends, limit, expected) => {
  expect(nextRanges(positions(after), positions(ends), limit)).toEqual(expected)
})

test('each event gets one delivery, page by page, in two processes', async () => {
  const id = await aWebhook()
  await addEvents(3, 95)
  await addEvents(7, 5)
  let pages = 0
  const run = async () => {
    while (await fanOut(db, id, NOW, 10)) pages += 1
  }
  await Promise.all([run(), run()])
  await run()
  expect(pages).toBeGreaterThanOrEqual(9)
  expect(await deliveriesOf(id)).toEqual([...numbers(3, 1, 95), ...numbers(7, 1, 5)])
})

test('a filter that selects almost nothing reads no more than a page at a time', async () => {
  const id = await aWebhook(['quota.deleted'])
  await addEvents(11, 1_000)
  for (let page = 1; page < 10; page++) {
    expect(await fanOut(db, id, NOW, 100)).toBe(true)
    expect(await deliveriesOf(id)).toEqual(
      [...numbers(11, 1, page)].map(({ number }) => ({ event_shard: 11, number: number * 100 })),
    )
  }
  expect(await fanOut(db, id, NOW, 100)).toBe(false)
  expect(await deliveriesOf(id)).toHaveLength(10)
})

test('a webhook that is disabled or deleted keeps its cursor', async () => {
  const id = await aWebhook()
  await db.query({ text: sql`update webhook set enabled = false where id = $1`, values: [id] })
  await addEvents(12, 1)
  expect(await fanOut(db, id, NOW)).toBe(false)
  expect(await deliveriesOf(id)).toEqual([])
})

test('redelivery begins at the first event of its time in each shard, also where earlier events are not kept', async () => {
  await addEvents(20, 300)
  await addEvents(21, 300)
  await db.query({ text: sql`delete from event where shard = 21 and number <= 250` })
  const id = await aWebhook()
  const since = NOW - 99 * MINUTE
  expect(await redeliverSince(db, id, since, NOW, 'all', 40)).toBe(100 + 50 + (await countSince(since)))
  const rows = await deliveriesOf(id)
  expect(rows.filter(row => row.event_shard === 20)).toEqual(numbers(20, 201, 300))
  expect(rows.filter(row => row.event_shard === 21)).toEqual(numbers(21, 251, 300))
  // Again: the same deliveries, due again.
  expect(await redeliverSince(db, id, since, NOW + MINUTE)).toBe(rows.length)
  expect(await deliveriesOf(id)).toEqual(rows)
  expect(await redeliverSince(db, id, NOW + MINUTE, NOW)).toBe(0)
})

/** Events of the other shards since a time. */
async function countSince(since: number): Promise<number> {
  const [row] = await db.query<{ count: number }>({
    text: sql`select count(*) from event where at >= $1 and shard not in (20, 21)`,
    values: [timestampParam(since)],
  })
  return row?.count ?? 0
}

test('redelivery takes only the types of the webhook', async () => {
  const id = await aWebhook(['quota.deleted'])
  await addEvents(25, 300)
  const seen = await redeliverSince(db, id, NOW - 10_000 * MINUTE, NOW)
  expect(seen).toBe((await deliveriesOf(id)).length)
  // The cursor was set before these events: fan-out delivers them.
  expect((await deliveriesOf(id)).filter(row => row.event_shard === 25)).toEqual([])
})

/** What is left by all quotas, and the limit of the quota that warns; `undefined`: an event of a version that did not write it. */
const LEFT: [units: number | null | undefined, limit: number | null, byUnits: boolean, byShare: boolean][] = [
  [99, 1_000, true, true],
  [100, 1_000, false, false],
  [0, 10, true, true],
  // A pack of 10 beside one of 1,000.
  [902, 10, false, false],
  [20, 10, true, false],
  [500, 10_000, false, true],
  [null, 10, false, false],
  [null, null, false, false],
  [undefined, 10, true, true],
]

test('a webhook gets thresholds only when little is left, sent again too, and other events as ever', async () => {
  const webhooks = await Promise.all(
    [{ units: 100 }, { share: 0.1 }, { units: 100, share: 0.1 }].map(low => aWebhook(null, undefined, low)),
  )
  const data = LEFT.map(([units, limit]) => ({
    quota: { limit },
    ...(units === undefined ? {} : { sendable: { units } }),
  }))
  await addEvents(27, 1 + LEFT.length)
  await db.query({
    text: sql`update event set type = 'quota.threshold_reached', data = $1::jsonb -> (number::int - 2) where shard = 27 and number > 1`,
    values: [JSON.stringify(data)],
  })
  const taken = [
    LEFT.map(([, , byUnits]) => byUnits),
    LEFT.map(([, , , byShare]) => byShare),
    LEFT.map(([, , byUnits, byShare]) => byUnits || byShare),
  ].map(rows => [{ event_shard: 27, number: 1 }, ...numbers(27, 2, 1 + rows.length).filter((_, row) => rows[row])])
  for (const [index, id] of webhooks.entries()) {
    expect(await fanOut(db, id, NOW)).toBe(false)
    expect(await deliveriesOf(id)).toEqual(taken[index])
    await db.query({ text: sql`delete from webhook_delivery where webhook_id = $1`, values: [id] })
    await redeliverSince(db, id, NOW - LEFT.length * MINUTE, NOW)
    expect((await deliveriesOf(id)).filter(row => row.event_shard === 27)).toEqual(taken[index])
  }
})

test('a webhook whose deliveries cannot be written does not hold up the others', async () => {
  const [poisonous, well] = [await aWebhook(), await aWebhook()]
  await db.query({
    text: rawSql`alter table webhook_delivery add constraint poison check (webhook_id <> ${poisonous}) not valid`,
  })
  await addEvents(30, 1)
  const dispatcher = createDispatcher({ keys: PLAIN, db, now: () => NOW, log, allowPrivate: true, timeoutMs: 100 })
  await expect(dispatcher.dispatchOnce(NOW)).rejects.toThrow('1 failed, the first')
  await dispatcher.idle()
  expect(await deliveriesOf(poisonous)).toEqual([])
  expect(await deliveriesOf(well)).toEqual(numbers(30, 1, 1))
  await db.query({ text: sql`alter table webhook_delivery drop constraint poison` })
  await dispatcher.dispatchOnce(NOW)
  expect(await deliveriesOf(poisonous)).toEqual(numbers(30, 1, 1))
  await dispatcher.finish()
})

test('a page that takes too long is halved until it is in time', async () => {
  const id = await aWebhook()
  await addEvents(31, 64)
  // 5 ms for each delivery, and 150 ms for a statement.
  await db.query({
    text: rawSql`create function slowly(id bigint) returns boolean immutable language sql as
      $$ select case when id = ${id} then pg_sleep(0.005) is not null else true end $$`,
  })
  await db.query({ text: sql`alter table webhook_delivery add constraint slow check (slowly(webhook_id)) not valid` })
  const hurried = openDatabase({ url, statementTimeout: 150 })
  const dispatcher = createDispatcher({
    keys: PLAIN,
    db: hurried,
    now: () => NOW,
    log,
    allowPrivate: true,
    timeoutMs: 100,
  })
  try {
    for (let step = 0; step < 100 && (await deliveriesOf(id)).length < 64; step++) {
      await dispatcher.dispatchOnce(NOW).catch(() => {})
    }
    expect(await deliveriesOf(id)).toEqual(numbers(31, 1, 64))
  } finally {
    await dispatcher.finish()
    await hurried.close()
  }
})
