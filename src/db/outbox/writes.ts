/**
 * Writes events, as the last statements of a transaction: the row of the shard in `shard_head` stays locked until the
 * commit, so that the order of event numbers is the order of commits.
 */

import { type Shard, shardOf } from '../../domain/basics/shard.ts'
import type { ExpiryPosition, OutboxEvent, SystemEvent } from '../../domain/events/outbox-event.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import { runPerCitusShard, shardFilter } from '../cluster/parts.ts'
import type { Transaction } from '../connection/database.ts'
import { sql } from '../connection/sql.ts'
import { timestampParam } from '../connection/values.ts'
import { addEvents, addNumberedEvents, addRoutedEvents } from '../ledger/add-events.ts'
import { runLedgerCalls } from '../ledger/cluster-statements.ts'

/** The growth of the numbers of quotas in a shard, by kind. */
export interface QuotaTotals {
  grants: number
  caps: number
  deleted_grants: number
  deleted_caps: number
}

const UNCHANGED: QuotaTotals = { grants: 0, caps: 0, deleted_grants: 0, deleted_caps: 0 }

/**
 * Locks the ends of shards' outboxes until the commit, in the order in which batches lock them, and returns up to where the
 * expired quotas of each were emitted. They move no further before the commit.
 */
export async function lockExpiryPositions(
  tx: Transaction,
  shards: readonly Shard[],
): Promise<ReadonlyMap<Shard, ExpiryPosition>> {
  const positions = await runPerCitusShard(
    tx,
    shards,
    shard => shard,
    part =>
      tx.query<ExpiryPosition & { shard: Shard }>({
        name: 'lock-expiry-positions',
        text: sql`select shard, expired_until as at, expired_until_id as id from shard_head where shard = any ($1::smallint[])
               order by shard for update`,
        values: [part],
      }),
  )
  return new Map(positions.map(({ shard, ...position }) => [shard, position]))
}

/** Appends events of users to the outboxes of their shards, and moves the shards' totals of quotas. */
export async function appendEvents(
  tx: Transaction,
  events: readonly OutboxEvent[],
  now: EpochMs,
  totals: ReadonlyMap<Shard, QuotaTotals> = new Map(),
): Promise<void> {
  const ofShard = Map.groupBy(events, event => shardOf(event.user_id))
  const shards = [...new Set([...ofShard.keys(), ...totals.keys()])].sort((one, other) => one - other)
  const growths = shards.map(shard => ({
    shard,
    events: ofShard.get(shard)?.length ?? 0,
    ...(totals.get(shard) ?? UNCHANGED),
  }))
  await takeNumbers(tx, growths)
  if (events.length > 0)
    await runLedgerCalls(tx, [addEvents({ now }, events, tx.isCluster ? addRoutedEvents : addNumberedEvents)])
}

/** Appends an event that concerns no user to the outbox of a shard. */
export async function appendSystemEvent(
  tx: Transaction,
  shard: Shard,
  { type, data }: SystemEvent,
  now: EpochMs,
): Promise<void> {
  await takeNumbers(tx, [{ shard, events: 1, ...UNCHANGED }])
  await tx.query({
    text: sql`insert into event (shard, number, type, at, data)
           select h.shard, h.last_event, $2, $3, $4 from shard_head h where h.shard = $1`,
    values: [shard, type, timestampParam(now), JSON.stringify(data)],
  })
}

/** The growth of the numbers in the row of a shard. */
type Growth = QuotaTotals & { shard: Shard; events: number }

/** A statement of its own: the one that writes the events then sees the numbers of the transactions it waited for. */
async function takeNumbers(tx: Transaction, growths: readonly Growth[]): Promise<void> {
  const column = (name: keyof Growth) => growths.map(growth => growth[name])
  await tx.query({
    text: sql`update shard_head h set last_event = h.last_event + k.events, grants = h.grants + k.grants,
             caps = h.caps + k.caps, deleted_grants = h.deleted_grants + k.deleted_grants,
             deleted_caps = h.deleted_caps + k.deleted_caps
           from unnest($1::smallint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
             k (shard, events, grants, caps, deleted_grants, deleted_caps)
           where h.shard = k.shard ${shardFilter(tx, sql`h.shard`, sql`$1`)}`,
    values: (['shard', 'events', 'grants', 'caps', 'deleted_grants', 'deleted_caps'] as const).map(column),
  })
}
