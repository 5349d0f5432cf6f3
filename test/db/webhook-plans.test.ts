/** The statements behind webhooks find their rows by keys, whether or not the tables have statistics. */
import type { Database } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { timestampParam } from '../../src/db/connection/values.ts'
import {
  type Claim,
  claimDeliveries,
  findBusyWebhooks,
  findClaimedEvents,
  lockDeliveries,
  readPending,
  recordAttempts,
  releaseDeliveries,
} from '../../src/db/webhooks/deliveries.ts'
import { listDeliveries } from '../../src/db/webhooks/delivery-lists.ts'
import { findShardsWithOldEvents } from '../../src/db/webhooks/event-retention.ts'
import { fanOut, findRedelivery, redeliverRange } from '../../src/db/webhooks/fan-out.ts'
import { removeDeliveries, removeEnded, removeWebhook, restartPage } from '../../src/db/webhooks/maintenance.ts'
import { claimForUsers, claimMessages, findEventHeads } from '../../src/db/webhooks/messages.ts'
import { SHARDS, shardFrom } from '../../src/domain/basics/shard.ts'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { databaseOfOnePostgres } from '../support/database.ts'
import { type PlanCase, testPlans } from '../support/explain.ts'

const NOW = Date.parse('2026-03-15T12:00:00.000Z')
const ID = 65
/** Of the kind `users`. */
const OF_USERS = 130
const WEBHOOKS = [ID, OF_USERS]
const EVENTS = 64_000

const { db } = await databaseOfOnePostgres()
await fill()

async function fill(): Promise<void> {
  for (const id of WEBHOOKS) {
    await db.query({
      text: sql`insert into webhook (shard, id, kind, url, enabled, restarted_at, secret, created_at, created_by, updated_at, updated_by)
        values ($1, $2, $4, 'https://example.com', true, $3, '', $3, 'ada', $3, 'ada')`,
      values: [id % 64, id, timestampParam(NOW), id === OF_USERS ? 'users' : 'webhook'],
    })
    await db.query({
      text: sql`insert into webhook_cursor (shard, webhook_id, positions, restart_from)
        values ($1, $2, array_fill($3::bigint, array[64]), $4)`,
      values: [id % 64, id, Math.floor(EVENTS / 128), timestampParam(NOW)],
    })
  }
  await db.query({
    text: sql`insert into event (shard, number, user_id, sequence, type, at, data)
      select n % 64, n / 64 + 1, n, 1, 'quota.updated', $2::timestamptz - ($1 - n) * interval '1 s', '{}'
      from generate_series(0, $1::int - 1) n`,
    values: [EVENTS, timestampParam(NOW)],
  })
  await db.query({
    text: sql`update shard_head h set last_event = (select count(*) from event e where e.shard = h.shard)`,
  })
  // Each user has one, in the shard of the event.
  await db.query({
    text: sql`insert into user_address (shard, user_id, address, language, serial, expires_at, confirmed_at, version)
      select n % 64, n, 'a@b.example', 'en', n, $2, $2::timestamptz - interval '30 days', 1 from generate_series(0, $1::int - 1) n`,
    values: [EVENTS, timestampParam(NOW)],
  })
  // Most have ended. Of the others, half are due.
  await db.query({
    text: sql`insert into webhook_delivery
        (shard, webhook_id, event_shard, number, status, attempts, began_at, next_attempt_at, last_attempt_at, created_at)
      select w % 64, w, n % 64, n / 64 + 1, case when n % 10 = 0 then 'pending' else 'delivered' end, 1, $3,
        case when n % 10 = 0 then $3::timestamptz + ($1 / 2 - n) * interval '1 ms' end, $3,
        $3::timestamptz - n * interval '1 s'
      from generate_series(0, $1::int - 1) n, unnest($2::bigint[]) w`,
    values: [EVENTS, WEBHOOKS, timestampParam(NOW)],
  })
}

const claim = (number: number): Claim => ({
  shard: shardFrom(10),
  number,
  attempts: 1,
  began_at: NOW,
  last_attempt_at: NOW,
  addresses: null,
})
const CLAIMS = Array.from({ length: 16 }, (_, index) => claim(index * 32 + 5))
/** As of one message about many events. */
const MANY_CLAIMS = Array.from({ length: 300 }, (_, index) => claim(index * 3 + 5))
const attempt = { delivered: true, response_code: 204, error: null }

/** What runs, and the rows of `event`, `webhook_delivery` and `user_address` that it may read, filtered ones included. */
const CASES: [string, (db: Database) => Promise<unknown>, number][] = [
  ['the webhooks with work', on => findBusyWebhooks(on, NOW), 2],
  ['a claim', on => claimDeliveries(on, ID, NOW, NOW + 1_000, 32), 64],
  ['a claim of messages', on => claimMessages(on, ID, NOW, NOW + 1_000), 8_000],
  ['a claim for users', on => claimForUsers(on, OF_USERS, NOW, NOW + 1_000, 64), 8_000],
  ['the types of the events of claims', on => findEventHeads(on, CLAIMS), 32],
  ['the events of claims', on => findClaimedEvents(on, CLAIMS), 32],
  ['the lock of claims', on => on.transaction(tx => lockDeliveries(tx, ID, CLAIMS)), 32],
  [
    'the outcomes of claims',
    on =>
      on.transaction(async tx => {
        await lockDeliveries(tx, ID, CLAIMS)
        await recordAttempts(
          tx,
          ID,
          CLAIMS.map(key => ({ key, attempt, status: 'delivered', nextAttemptAt: null })),
        )
      }),
    32,
  ],
  ['many claims given back', on => releaseDeliveries(on, ID, MANY_CLAIMS, NOW), 2 * MANY_CLAIMS.length],
  ['claims given back', on => releaseDeliveries(on, ID, CLAIMS, NOW), 32],
  ['the number of pending deliveries', on => readPending(on, 100), 200],
  [
    'the shards with old events',
    on => findShardsWithOldEvents(on, NOW, { ids: [], positions: SHARDS.map(() => 1_000) }),
    SHARDS.length,
  ],
  ['a page of fan-out', on => fanOut(on, ID, NOW, 500), 500],
  ['a page of fan-out to users', on => fanOut(on, OF_USERS, NOW, 500), 1_000],
  ['the beginning of a redelivery', on => findRedelivery(on, ID, NOW - 1_000_000), 64],
  [
    'a page of a redelivery',
    on => redeliverRange(on, ID, { shard: shardFrom(3), after: 100, until: 200 }, NOW - 30 * DAY_MS, NOW, 'all'),
    100,
  ],
  [
    'a page of a redelivery of what failed',
    on => redeliverRange(on, ID, { shard: shardFrom(3), after: 100, until: 200 }, NOW - 30 * DAY_MS, NOW, 'failed'),
    100,
  ],
  [
    'a page of a redelivery to users',
    on => redeliverRange(on, OF_USERS, { shard: shardFrom(3), after: 100, until: 200 }, NOW - 30 * DAY_MS, NOW, 'all'),
    200,
  ],
  ['a page of a new beginning', on => restartPage(on, ID, NOW, 100), 200],
  ['a list of deliveries', on => listDeliveries(on, ID, {}, { size: 99 }), 200],
  [
    'a further page of a list of deliveries',
    on =>
      listDeliveries(on, ID, {}, { after: { created_at: NOW - 30_000_000, shard: shardFrom(5), number: 1 }, size: 99 }),
    200,
  ],
  ['a page of ended deliveries', on => removeEnded(on, ID, NOW, null, 100), 300],
  [
    'a further page of ended deliveries',
    on => removeEnded(on, ID, NOW, { created_at: '2026-03-15 02:00:00+00', shard: shardFrom(5), number: 1 }, 100),
    300,
  ],
  ['a page of a deletion', on => removeDeliveries(on, ID, null, 100), 200],
  [
    'a further page of a deletion',
    on => removeDeliveries(on, ID, { created_at: '', shard: shardFrom(5), number: 1 }, 100),
    200,
  ],
  ['the end of a deletion', on => removeWebhook(on, ID), 1],
]

testPlans(
  db,
  ['event', 'webhook_delivery', 'user_address'],
  CASES.map(([what, work, rows]): PlanCase => [what, work, { rows }]),
)
