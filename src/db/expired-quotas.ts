import { expiryOf } from '../domain/outbox-event.ts'
import type { Quota } from '../domain/quota.ts'
import type { EpochMs } from '../domain/time.ts'
import { type Database, type Transaction, timestampParam } from './database.ts'
import { emitEvents } from './ledger/add-events.ts'
import { freeAccounts } from './ledger/find-free-users.ts'
import { BY_KEYS } from './planner-settings.ts'
import { QUOTA_COLUMNS } from './quotas.ts'

/** A quota that is over, and nobody has told it. */
export interface Ended {
  shard: number
  user_id: number
  id: number
}

/** Quotas read at a time. */
export const EXPIRED_PAGE = 500

/** Those that are over longest, a page at most. Takes no lock; what is told is not in the index any more. */
export function findExpired(db: Database, now: EpochMs): Promise<Ended[]> {
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    return tx.query<Ended>({
      name: 'find-ended',
      text: `select shard, user_id, id from quota
             where not expiry_emitted and deleted_at is null and expires_at <= $1
             order by expires_at limit ${EXPIRED_PAGE}`,
      values: [timestampParam(now)],
    })
  }, 'snapshot')
}

/**
 * Tells which of some quotas of a shard are over, under their users' accounts, and answers how many it told. Whoever is
 * held by somebody is passed over, never waited for, and what was changed or told meanwhile is left alone.
 */
export function emitExpired(db: Database, shard: number, ended: readonly Ended[], now: EpochMs): Promise<number> {
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    const quotas = await lockEnded(tx, shard, ended, now)
    if (quotas.length === 0) return 0
    await tx.query({
      text: 'update quota set expiry_emitted = true where shard = $1 and id = any($2::bigint[])',
      values: [shard, quotas.map(({ id }) => id)],
    })
    const told = quotas.map(quota => expiryOf(quota, now))
    for (const { text, values } of emitEvents({ shard, now }, told)) await tx.query({ text, values })
    return told.length
  })
}

/** In the order in which everybody locks: accounts first, then in a later statement quotas. */
async function lockEnded(tx: Transaction, shard: number, ended: readonly Ended[], now: EpochMs): Promise<Quota[]> {
  const users = [...new Set(ended.map(({ user_id }) => user_id))]
  const free = await tx.query<{ user_id: number }>({
    text: freeAccounts.text,
    values: [shard, users],
  })
  if (free.length === 0) return []
  return tx.query<Quota>({
    text: `select ${QUOTA_COLUMNS} from quota
           where shard = $1 and id = any($2::bigint[]) and user_id = any($3::bigint[])
             and not expiry_emitted and deleted_at is null and expires_at <= $4
           order by user_id, id for update skip locked`,
    values: [shard, ended.map(({ id }) => id), free.map(({ user_id }) => user_id), timestampParam(now)],
  })
}
