import type { Database } from '../db/database.ts'
import { type ExpiredQuota, lockExpired, markExpiryEmitted } from '../db/expired-quotas.ts'
import { appendEvents } from '../db/outbox-writes.ts'
import { expiryOf } from '../domain/outbox-event.ts'
import type { Shard } from '../domain/shard.ts'
import type { EpochMs } from '../domain/time.ts'

/**
 * Emits `quota.expired` for quotas of one shard, under their users' accounts, and returns for how many. It skips quotas
 * that another transaction has locked, and those that were changed or emitted since they were found.
 */
export function emitExpired(db: Database, shard: Shard, found: readonly ExpiredQuota[], now: EpochMs): Promise<number> {
  return db.transaction(async tx => {
    const quotas = await lockExpired(tx, shard, found, now)
    if (quotas.length === 0) return 0

    const events = quotas.map(quota => expiryOf(quota, now))

    await markExpiryEmitted(tx, shard, quotas)
    await appendEvents(tx, shard, events, now)
    return events.length
  })
}
