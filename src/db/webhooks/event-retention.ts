import { SHARDS, type Shard } from '../../domain/basics/shard.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import type { Database, Queryable, Transaction } from '../connection/database.ts'
import { sql } from '../connection/sql.ts'
import { BY_KEYS_IN_ORDER } from '../connection/transaction-settings.ts'
import { timestampParam } from '../connection/values.ts'
import type { Positions } from '../outbox/outbox.ts'
import { IS_ENABLED, shardOfWebhook } from './webhooks.ts'

/** Webhooks that may still need events, and how far each shard was fanned out to all of them. */
export interface HoldingWebhooks {
  ids: number[]
  positions: Positions
}

/**
 * Reads the webhooks that keep events: all enabled ones, and those that were disabled, or changed since, after a time. A
 * webhook that stays disabled for longer is forgotten; it would make the outbox grow for ever.
 */
export async function readHoldingWebhooks(db: Queryable, disabledSince: EpochMs): Promise<HoldingWebhooks> {
  const rows = await db.query<{ id: number; positions: Positions }>({
    name: 'holding-webhooks',
    text: sql`select w.id, c.positions
           from webhook w join webhook_cursor c on c.shard = w.shard and c.webhook_id = w.id
           where w.deleted_at is null and (${IS_ENABLED} or w.updated_at > $1)`,
    values: [timestampParam(disabledSince)],
  })
  const passed = (shard: Shard) => Math.min(...rows.map(({ positions }) => positions[shard] ?? 0))
  return {
    ids: rows.map(({ id }) => id),
    // The largest number that JSON and bigint share, where no webhook holds any.
    positions: SHARDS.map(shard => Math.min(passed(shard), Number.MAX_SAFE_INTEGER)),
  }
}

/**
 * The shards with events that are older than a cutoff, and that all webhooks were fanned out: the second event that is left is as old
 * (`REMOVE_EVENTS`). Numbers have no gaps.
 */
export async function findShardsWithOldEvents(
  db: Database,
  cutoff: EpochMs,
  { positions }: HoldingWebhooks,
): Promise<Shard[]> {
  const rows = await db.transaction(
    tx =>
      tx.query<{ shard: Shard; pruned: number }>({
        name: 'have-old-events',
        text: sql`select h.shard, h.pruned from shard_head h join event e on e.shard = h.shard and e.number = h.pruned + 2
               where e.at <= $1`,
        values: [timestampParam(cutoff)],
      }),
    'keyed snapshot',
  )
  return rows.flatMap(({ shard, pruned }) => ((positions[shard] ?? 0) > pruned ? shard : []))
}

/** The outcome of one page. */
export interface RemovedEvents {
  removed: number
  /** Whether the shard may have more to remove. */
  isFull: boolean
}

/**
 * The first event of a shard, in its next page, whose delivery is pending: deliveries lie in the shards of their webhooks. The
 * shard is `$1`, `$2` is how many events a page has.
 */
const FIRST_PENDING = sql`
  select min(d.number) as number from unnest($3::smallint[], $4::bigint[]) w (shard, id) cross join lateral (
    select d.number from webhook_delivery d
    where d.shard = w.shard and d.webhook_id = w.id and d.event_shard = $1
      and d.number > $5 and d.number <= $5 + $2 and d.status = 'pending'
    order by d.number limit 1
  ) d`

/** `FIRST_PENDING` in a cluster, which refuses a limit there. */
const FIRST_PENDING_IN_CLUSTER = sql`
  select min(d.number) as number
  from unnest($3::smallint[], $4::bigint[]) w (shard, id)
  join webhook_delivery d on d.shard = w.shard and d.webhook_id = w.id
  where d.shard = any($3::smallint[]) and d.event_shard = $1
    and d.number > $5 and d.number <= $5 + $2 and d.status = 'pending'`

/**
 * Removes the shard's oldest events, from the first number that is left on: a page of `$3` at most. It removes an event
 * only if a later one of the shard is as old as the cutoff, too: so the last event that old stays, and a reader that has
 * read up to it keeps its proof. An event whose delivery is pending stays, with all behind it: `$5` is the first.
 */
const REMOVE_EVENTS = sql`
  with head as materialized (
    select pruned from shard_head where shard = $1
  ), page as materialized (
    select e.number, e.at from head cross join lateral (
      select e.number, e.at from event e where e.shard = $1 and e.number > head.pruned order by e.number limit $3 + 1
    ) e
  ), bound as materialized (
    select least(
      $4::bigint,
      coalesce((select min(number) from page where at > $2), (select max(number) + 1 from page)) - 2,
      $5::bigint - 1
    ) as number
  ), removed as (
    delete from event e using head, bound
    where e.shard = $1 and e.number > head.pruned and e.number <= bound.number
    returning e.number, e.user_id, e.sequence
  ), of_user as (
    select user_id, max(sequence) as last from removed where user_id is not null group by user_id
  )
  select (select count(*) from removed) as removed, (select max(number) from removed) as pruned,
    array(select user_id from of_user order by user_id) as users,
    array(select last from of_user order by user_id) as sequences`

/** In the order of keys, so that two processes that write the same users cannot deadlock. */
const KEEP_SEQUENCES = sql`
  insert into event_sequence (shard, user_id, last)
  select h.shard, k.user_id, k.last from unnest($2::bigint[], $3::bigint[]) k (user_id, last) cross join shard_head h
  where h.shard = $1 order by k.user_id
  on conflict (shard, user_id) do update set last = greatest(event_sequence.last, excluded.last)`

/**
 * Removes events of a shard that are older than a cutoff and that no webhook needs: a page at most, oldest first. The
 * sequences of their users go on. The end of the shard's outbox is locked only for the last statement.
 */
export function removeEvents(
  db: Database,
  shard: Shard,
  cutoff: EpochMs,
  { ids, positions }: HoldingWebhooks,
  limit: number,
): Promise<RemovedEvents> {
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS_IN_ORDER })
    const pending = ids.length === 0 ? null : await firstPending(tx, shard, ids, limit)
    const [row] = await tx.query<{ removed: number; pruned: number | null; users: number[]; sequences: number[] }>({
      name: 'remove-events',
      text: REMOVE_EVENTS,
      values: [shard, timestampParam(cutoff), limit, positions[shard] ?? 0, pending],
    })
    if (row === undefined) throw new Error('the database returned no row')
    const { removed, pruned, users, sequences } = row
    if (pruned === null) return { removed, isFull: false }
    await tx.query({ name: 'keep-sequences', text: KEEP_SEQUENCES, values: [shard, users, sequences] })
    await movePruned(tx, shard, pruned)
    return { removed, isFull: removed >= limit }
  })
}

async function firstPending(
  tx: Transaction,
  shard: Shard,
  ids: readonly number[],
  limit: number,
): Promise<number | null> {
  const [head] = await tx.query<{ pruned: number }>({
    name: 'pruned-of-shard',
    text: sql`select pruned from shard_head where shard = $1`,
    values: [shard],
  })
  const [first] = await tx.query<{ number: number | null }>({
    name: tx.isCluster ? 'first-pending-in-cluster' : 'first-pending',
    text: tx.isCluster ? FIRST_PENDING_IN_CLUSTER : FIRST_PENDING,
    values: [shard, limit, ids.map(shardOfWebhook), ids, head?.pruned ?? 0],
  })
  return first?.number ?? null
}

async function movePruned(tx: Transaction, shard: Shard, pruned: number): Promise<void> {
  await tx.query({
    name: 'move-pruned',
    text: sql`update shard_head set pruned = greatest(pruned, $2) where shard = $1`,
    values: [shard, pruned],
  })
}
