import type { Database, Transaction } from '../db/connection/database.ts'
import { type Adjustment, adjustQuota } from '../domain/adjust.ts'
import { changeQuota, type Quota, type QuotaChange, type QuotaPatch } from '../domain/quota.ts'
import type { Author } from './author.ts'
import { quotaOf } from './create-quota.ts'
import { once, type Repeated } from './idempotency.ts'
import { type KnownQuota, lockQuota, type NotChangeable, type VersionCheck } from './lock-quota.ts'
import { recordChange } from './record-change.ts'
import { type ForbiddenByOthers, forbiddenByOthers } from './user-limits.ts'

export type Updated =
  | { outcome: 'changed' | 'unchanged'; quota: Quota }
  | Exclude<QuotaChange, { outcome: 'changed' | 'unchanged' }>
  | NotChangeable
  | ForbiddenByOthers

/**
 * Changes a quota by merging: fields that the patch omits stay. With an idempotency key, changes it only once. A repeated
 * call does not check the version again: the first call changed it.
 */
export function updateQuota(
  db: Database,
  id: number,
  patch: QuotaPatch,
  author: Author,
  mayChange: VersionCheck,
  key?: string,
): Promise<Updated | Repeated<Quota>> {
  const call = { key, request: { operation: 'updateQuota', id, ...patch }, answerOf: quotaOf }
  return once(db, call, author, async tx => {
    const known = await lockQuota(tx, id, author.now, mayChange, patch.external_ref)
    return change(tx, known, quota => changeQuota(quota, patch, author), author)
  })
}

/** Moves the limit of a quota; with an idempotency key, moves it only once, like `updateQuota`. */
export function adjustQuotaOnce(
  db: Database,
  id: number,
  adjustment: Adjustment & { reason: string },
  author: Author,
  mayChange: VersionCheck,
  key: string | undefined,
): Promise<Updated | Repeated<Quota>> {
  const call = { key, request: { id, ...adjustment }, answerOf: quotaOf }
  return once(db, call, author, async tx => {
    const known = await lockQuota(tx, id, author.now, mayChange)
    return change(tx, known, quota => adjustQuota(quota, adjustment, author), author, adjustment.reason)
  })
}

/** Decides and writes. `decide` gets the locked quota. */
async function change(
  tx: Transaction,
  known: KnownQuota | NotChangeable,
  decide: (quota: Quota) => QuotaChange,
  author: Author,
  reason?: string,
): Promise<Updated> {
  if (known.outcome !== 'known') return known
  const { quota: before, others } = known

  const decided = decide(before)
  if (decided.outcome === 'unchanged') return { outcome: 'unchanged', quota: before }
  if (decided.outcome !== 'changed') return decided
  const { quota: after, closed } = decided
  const forbidden = forbiddenByOthers(after, others, author.now)
  if (forbidden !== undefined) return forbidden

  const updated = { action: 'updated', before, after, ...(reason === undefined ? {} : { reason }) } as const
  await recordChange(tx, { change: updated, closed, others }, author)
  return { outcome: 'changed', quota: after }
}
