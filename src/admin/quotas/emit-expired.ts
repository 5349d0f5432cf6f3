import type { Database } from '../../db/connection/database.ts'
import { appendEvents, lockExpiryPositions } from '../../db/outbox/writes.ts'
import { moveExpiryPosition, readExpired, setBackExpiryPosition, unmarkUnexpired } from '../../db/quotas/expired.ts'
import type { Shard } from '../../domain/basics/shard.ts'
import { expiryOf, latestPosition } from '../../domain/events/outbox-event.ts'
import { type Quota, unknownIn } from '../../domain/quotas/quota.ts'
import type { EpochMs } from '../../domain/time/time.ts'

/**
 * Takes back the position of a shard that a clock which was ahead has moved into the future: the quotas that have not
 * expired after all emit their ends when they come, also those whose ends a change has emitted early. Locks quotas before
 * the end of the outbox, as changes and batches do.
 */
export function takeBackPosition(db: Database, shard: Shard, now: EpochMs): Promise<void> {
  return db.transaction(async tx => {
    await unmarkUnexpired(tx, shard, now)
    const position = (await lockExpiryPositions(tx, [shard])).get(shard)
    if (position !== undefined && position.at > latestPosition(now)) await setBackExpiryPosition(tx, shard, now)
  })
}

/** The result of one page of a shard. */
export interface EmittedPage {
  emitted: number
  /** Whether the shard may have more. */
  isFull: boolean
}

/**
 * Emits `quota.expired` for the next quotas of one shard that have expired at `now`, `limit` at most, and moves the shard's
 * position past them. It holds the end of the shard's outbox until the commit: that keeps other processes and changes of
 * these quotas waiting, and so each end is emitted once. It locks no quota and no account. At a quota that this version does not
 * know it stops: the position must not pass an end that was not emitted.
 *
 * @throws UnknownValue if the next quota is such a one
 */
export function emitExpired(db: Database, shard: Shard, now: EpochMs, limit: number): Promise<EmittedPage> {
  return db.transaction(async tx => {
    await lockExpiryPositions(tx, [shard])
    const page = knownBeginning(await readExpired(tx, shard, now, limit))
    const last = page.at(-1)
    if (last === undefined) return { emitted: 0, isFull: false }

    const events = page.filter(quota => !quota.expiry_emitted).map(quota => expiryOf(quota, now))

    await moveExpiryPosition(tx, shard, last)
    if (events.length > 0) await appendEvents(tx, events, now)
    return { emitted: events.length, isFull: page.length >= limit }
  })
}

/** The quotas before the first one that this version does not know. */
function knownBeginning(quotas: readonly Quota[]): readonly Quota[] {
  const at = quotas.findIndex(quota => unknownIn(quota) !== null)
  const unknown = at === 0 && quotas[0] !== undefined ? unknownIn(quotas[0]) : null
  if (unknown !== null) throw unknown
  return at < 0 ? quotas : quotas.slice(0, at)
}
