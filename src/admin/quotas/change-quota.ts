import type { Database, Transaction } from '../../db/connection/database.ts'
import { nextQuotaId } from '../../db/quotas/quotas.ts'
import { isBeingErased } from '../../db/users/erasure.ts'
import { type Adjustment, adjustQuota } from '../../domain/quotas/adjust.ts'
import { EXTRA_NAME } from '../../domain/quotas/extra-grant.ts'
import {
  changeQuota,
  type Quota,
  type QuotaChange,
  type QuotaPatch,
  shownWindowEnd,
} from '../../domain/quotas/quota.ts'
import type { Author } from '../kit/author.ts'
import { once, type Repeated } from '../kit/idempotency.ts'
import { type KnownQuota, lockQuota, type NotChangeable, type VersionCheck } from '../kit/lock-quota.ts'
import { recordChange, recordChanges } from '../kit/record-change.ts'
import { createUserChanges } from '../kit/user-changes.ts'
import { forbiddenByOthers } from '../kit/user-limits.ts'
import { quotaOf } from './create-quota.ts'
import { addExtra, type NotGiven } from './give-units.ts'
import { findGrant } from './increase-requests.ts'

export type Updated =
  | { outcome: 'changed' | 'unchanged'; quota: Quota }
  | Exclude<QuotaChange, { outcome: 'changed' | 'unchanged' }>
  | NotChangeable
  | NotGiven
  /** The user's data is being erased. */
  | { outcome: 'being_erased' }

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

interface ReasonedAdjustment extends Adjustment {
  reason: string
  /** The units end with the window of the grant, and are a grant of their own. Undefined: the limit moves for good. */
  until?: 'window_end'
  /** How the name of that grant begins. */
  name?: string
}

/**
 * Moves the limit of a quota; with an idempotency key, moves it only once, like `updateQuota`.
 *
 * @throws Problem `forbidden` if it moves more units than the author may
 */
export function adjustQuotaOnce(
  db: Database,
  id: number,
  adjustment: ReasonedAdjustment,
  author: Author,
  mayChange: VersionCheck,
  key: string | undefined,
): Promise<Updated | Repeated<Quota>> {
  const call = { key, request: { id, ...adjustment }, answerOf: quotaOf }
  return once(db, call, author, async tx => {
    const known = await lockQuota(tx, id, author.now, mayChange)
    if (adjustment.until !== undefined) return addForWindow(tx, known, adjustment, author)
    return change(tx, known, quota => adjustQuota(quota, adjustment, author), author, adjustment.reason)
  })
}

/** Adds a grant whose units end with the window of the known one. */
async function addForWindow(
  tx: Transaction,
  known: KnownQuota | NotChangeable,
  { delta, reason, name = EXTRA_NAME }: ReasonedAdjustment,
  author: Author,
): Promise<Updated> {
  if (known.outcome !== 'known') return known
  const stored = [known.quota, ...known.others]
  const { id: quotaId, user_id } = known.quota
  if (await isBeingErased(tx, user_id)) return { outcome: 'being_erased' }
  const found = findGrant(stored, quotaId, author.now)
  if ('outcome' in found && found.outcome === 'unknown_value') return found
  if ('outcome' in found || found.quota.period === null)
    return invalid('/until', 'needs a live grant with a period and a limit')
  const { quota } = found
  if (delta < 0) return invalid('/delta', 'must be positive with `until`')
  const user = createUserChanges(stored, author.now)
  const id = await nextQuotaId(tx, user_id)
  const gift = { quota, units: delta, end: shownWindowEnd(quota), reference: null }
  const refused = addExtra(user, gift, { name, reason }, { ...author, id })
  if (refused !== undefined) return refused
  await recordChanges(tx, user.changes, author)
  const added = user.byId(id)
  if (added === undefined) throw new Error(`quota ${id} was not added`)
  return { outcome: 'changed', quota: added }
}

function invalid(path: string, message: string): Updated {
  return { outcome: 'invalid', issues: [{ path, message }] }
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
