import { type Change, eventsOfChange } from '../domain/outbox-event.ts'
import type { EpochMs } from '../domain/time.ts'
import { viewOf } from '../domain/view.ts'
import { type Transaction, timestampParam } from './database.ts'
import { addEvents } from './ledger/add-events.ts'

/** Who writes, when, and by which request. */
export interface Author {
  now: EpochMs
  actor: string
  requestId: string
}

/** Writes who changed what, and the events that tell it, in the transaction of the change and as its last statements. */
export async function recordChange(tx: Transaction, shard: number, change: Change, author: Author): Promise<void> {
  const { now, actor, requestId } = author
  const before = change.before && viewOf(change.before, now)
  const after = viewOf(change.after, now)
  await tx.query({
    text: `insert into quota_change (shard, quota_id, version, action, at, actor, request_id, before, after, reason)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    values: [
      shard,
      after.id,
      after.version,
      change.action,
      timestampParam(now),
      actor,
      requestId,
      before && JSON.stringify(before),
      JSON.stringify(after),
      'reason' in change ? (change.reason ?? null) : null,
    ],
  })

  // The head's lock is held until the commit, so that the order of numbers is the order of commits; hence it is taken
  // last, and the events are written by a statement of their own, which sees what the one before had to wait for.
  const events = eventsOfChange(change, now)
  const sign = { created: 1, updated: 0, deleted: -1 }[change.action]
  const totals = after.kind === 'grant' ? 'grants' : 'caps'
  await tx.query({
    text: `update shard_head set last_event = last_event + $3, ${totals} = ${totals} + $2,
             deleted_${totals} = deleted_${totals} + greatest(0, -$2::int)
           where shard = $1`,
    values: [shard, sign, events.length],
  })
  const { text, values } = addEvents({ shard, now }, events)
  await tx.query({ text, values })
}
