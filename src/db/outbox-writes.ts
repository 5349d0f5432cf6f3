/**
 * Writes events, as the last statements of a transaction: the row of the shard in `shard_head` stays locked until the
 * commit, so that the order of event numbers is the order of commits.
 */
import type { ExpiryPosition, OutboxEvent, SystemEvent } from '../domain/outbox-event.ts'
import type { Shard } from '../domain/shard.ts'
import type { EpochMs } from '../domain/time.ts'
import type { Transaction } from './database.ts'
import { addEvents } from './ledger/add-events.ts'
import { runLedgerCalls } from './ledger-calls.ts'
import { timestampParam } from './values.ts'

/** By how much the numbers of quotas in a shard grow, by kind. */
export interface QuotaTotals {
  grants: number
  caps: number
  deleted_grants: number
  deleted_caps: number
}

const UNCHANGED: QuotaTotals = { grants: 0, caps: 0, deleted_grants: 0, deleted_caps: 0 }

/**
 * Locks the end of a shard's outbox until the commit, and returns up to where the shard's expired quotas were emitted. It
 * moves no further before the commit.
 */
export async function lockExpiryPosition(tx: Transaction, shard: Shard): Promise<ExpiryPosition> {
  const [position] = await tx.query<ExpiryPosition>({
    name: 'lock-expiry-position',
    text: 'select expired_until as at, expired_until_id as id from shard_head where shard = $1 for update',
    values: [shard],
  })
  if (position === undefined) throw new Error(`shard ${shard} has no outbox`)
  return position
}

/** Appends events of users to the outbox of a shard, and moves the shard's totals of quotas. */
export async function appendEvents(
  tx: Transaction,
  shard: Shard,
  events: readonly OutboxEvent[],
  now: EpochMs,
  totals: QuotaTotals = UNCHANGED,
): Promise<void> {
  await takeNumbers(tx, shard, events.length, totals)
  await runLedgerCalls(tx, [addEvents({ now }, events)])
}

/** Appends an event that concerns no user to the outbox of a shard. */
export async function appendSystemEvent(
  tx: Transaction,
  shard: Shard,
  { type, data }: SystemEvent,
  now: EpochMs,
): Promise<void> {
  await takeNumbers(tx, shard, 1, UNCHANGED)
  await tx.query({
    text: `insert into event (shard, number, type, at, data)
           select $1, h.last_event, $2, $3, $4 from shard_head h where h.shard = $1`,
    values: [shard, type, timestampParam(now), JSON.stringify(data)],
  })
}

/** A statement of its own: the one that writes the events then sees the numbers of the transactions it waited for. */
async function takeNumbers(tx: Transaction, shard: Shard, count: number, totals: QuotaTotals): Promise<void> {
  await tx.query({
    text: `update shard_head set last_event = last_event + $2, grants = grants + $3, caps = caps + $4,
             deleted_grants = deleted_grants + $5, deleted_caps = deleted_caps + $6
           where shard = $1`,
    values: [shard, count, totals.grants, totals.caps, totals.deleted_grants, totals.deleted_caps],
  })
}
