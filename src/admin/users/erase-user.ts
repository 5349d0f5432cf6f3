import type { Database } from '../../db/connection/database.ts'
import { BY_KEYS } from '../../db/connection/transaction-settings.ts'
import { appendEvents, appendSystemEvent } from '../../db/outbox/writes.ts'
import { lockAccounts, setLiveQuotas } from '../../db/quotas/quotas.ts'
import {
  deleteQuotas,
  type Erasure,
  type ErasureKey,
  findErasure,
  hasReservedUnits,
  insertErasure,
  lockUndeletedQuotas,
} from '../../db/users/erasure.ts'
import { finishErasure } from '../../db/users/erasure-pages.ts'
import { isKnownUser } from '../../db/users/users.ts'
import { shardOf } from '../../domain/basics/shard.ts'
import { erasureOf } from '../../domain/events/outbox-event.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import type { Author } from '../kit/author.ts'

export type EraseRequested =
  /** Under way, by this request or an earlier one; or there is nothing left of the user, by the last erasure. */
  | { outcome: 'running' | 'finished'; erasure: Erasure }
  /** Nothing is, or ever was, stored of the user. */
  | { outcome: 'not_found' }
  /** Units of the user's quotas are reserved. */
  | { outcome: 'open_reservations' }

/**
 * Begins to erase a user. Under the lock of the account it deletes all quotas, so that no reservation draws on one from
 * then on; jobs do the rest. It records no change of the quotas and emits no event of them: those would be erased as well.
 *
 * @param force whether open reservations may be released; if not, a user with some is refused
 */
export async function requestErasure(
  db: Database,
  userId: number,
  force: boolean,
  { now, actor, requestId }: Author,
): Promise<EraseRequested> {
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    if (!(await isKnownUser(tx, userId))) {
      const last = await findErasure(tx, userId, 'lock')
      return last === undefined ? { outcome: 'not_found' } : { outcome: statusOf(last), erasure: last }
    }
    await lockAccounts(tx, [userId])
    const last = await findErasure(tx, userId)
    if (last?.finished_at === null) return { outcome: 'running', erasure: last }
    await lockUndeletedQuotas(tx, userId)
    if (!force && (await hasReservedUnits(tx, userId))) return { outcome: 'open_reservations' }

    // The time is part of the record's key.
    const requestedAt = Math.max(now, (last?.requested_at ?? -1) + 1)
    const erasure = { user_id: userId, requested_at: requestedAt, requested_by: actor, request_id: requestId, force }
    await insertErasure(tx, erasure)
    const totals = await deleteQuotas(tx, userId, now, actor)
    await setLiveQuotas(tx, new Map([[userId, 0]]), now)
    await appendEvents(tx, [], now, new Map([[shardOf(userId), totals]]))
    return { outcome: 'running', erasure: { ...erasure, finished_at: null, removed: {} } }
  })
}

const statusOf = ({ finished_at }: Erasure) => (finished_at === null ? 'running' : 'finished')

/** Ends an erasure: nothing but its record is left of the user, and an event says so. */
export async function endErasure(db: Database, erasure: ErasureKey, now: EpochMs): Promise<void> {
  const { user_id, requested_at } = erasure
  await finishErasure(db, erasure, now, tx =>
    appendSystemEvent(tx, shardOf(user_id), erasureOf(user_id, requested_at, now), now),
  )
}
