import type { Quota } from '../domain/quota.ts'
import type { Instant } from '../domain/time.ts'
import { viewOf } from '../domain/view.ts'
import { instantParam, type Transaction } from './database.ts'

/** Who writes, when, and by which request. */
export interface Author {
  now: Instant
  actor: string
  requestId: string
}

/** An administrator's change of one quota, with the reason if one was given. */
export type Change =
  | { action: 'created'; before: null; after: Quota }
  | { action: 'updated' | 'deleted'; before: Quota; after: Quota; reason?: string }

/** Writes who changed what, and the event that tells it, in the transaction of the change and as its last statements. */
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
      instantParam(now),
      actor,
      requestId,
      before && JSON.stringify(before),
      JSON.stringify(after),
      'reason' in change ? (change.reason ?? null) : null,
    ],
  })

  // The head's lock is held until the commit, so that the order of numbers is the order of commits; hence it is taken
  // last, and the event is written by a statement of its own, which sees what the one before had to wait for.
  const sign = { created: 1, updated: 0, deleted: -1 }[change.action]
  const totals = after.kind === 'grant' ? 'grants' : 'caps'
  await tx.query({
    text: `update shard_head set last_event = last_event + 1, ${totals} = ${totals} + $2,
             deleted_${totals} = deleted_${totals} + greatest(0, -$2::int)
           where shard = $1`,
    values: [shard, sign],
  })
  await tx.query({
    text: `insert into event (shard, number, user_id, sequence, type, at, data)
           select $1, h.last_event, $2,
                  1 + coalesce((select max(e.sequence) from event e where e.shard = $1 and e.user_id = $2), 0),
                  $3, $4, $5
           from shard_head h where h.shard = $1`,
    values: [shard, after.user_id, `quota.${change.action}`, instantParam(now), JSON.stringify({ quota: after })],
  })
}
