import { createHash, randomUUID } from 'node:crypto'
import type { Database, Transaction } from '../../db/connection/database.ts'
import { BY_KEYS_IN_ORDER } from '../../db/connection/transaction-settings.ts'
import { changedByRequest } from '../../db/quotas/history.ts'
import { findQuotas, lockKnownAccounts, quotasOfUsers } from '../../db/quotas/quotas.ts'
import { applyBulkChange, type BulkChange } from '../../domain/quotas/bulk-change.ts'
import type { Quota, QuotaChange } from '../../domain/quotas/quota.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import type { Author } from '../kit/author.ts'
import { once, type Repeated } from '../kit/idempotency.ts'
import { type DecisionsOfUser, recordChanges } from '../kit/record-change.ts'
import { createUserChanges, type UserChanges } from '../kit/user-changes.ts'
import type { ForbiddenByOthers } from '../kit/user-limits.ts'

/** A bulk change that has begun. Calls that are repeated with its key continue it. */
export interface BegunBulk {
  outcome: 'begun'
  /** The request id of its changes. */
  id: string
  begunAt: EpochMs
}

/** The result of a bulk change for a quota. One that is refused does not affect the others. */
export type BulkOutcome =
  | { outcome: 'changed'; before: Quota; after: Quota }
  | { outcome: 'unchanged' }
  /** An earlier call of the same bulk change has changed it. */
  | { outcome: 'changed_before' }
  | { outcome: 'not_found' }
  | ({ userId: number } & (Exclude<QuotaChange, { outcome: 'changed' | 'unchanged' }> | ForbiddenByOthers))

/**
 * Begins a bulk change, or finds the one that has begun under the key.
 *
 * @param asked what a repeated call must ask for again. Its `operation` tells the calls apart
 */
export function beginBulk(
  db: Database,
  key: string,
  { select, ...asked }: { operation: string; select: object },
  author: Author,
): Promise<BegunBulk | Repeated<BegunBulk>> {
  const call = {
    key,
    // A selection may have 10,000 ids: its digest tells selections apart.
    request: { ...asked, select: digestOf(select) },
    answerOf: (begun: BegunBulk) => begun,
  }
  return once(db, call, author, async () => ({
    outcome: 'begun',
    id: `bulk-${randomUUID()}`,
    begunAt: author.now,
  }))
}

function digestOf(value: object): string {
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(entries)).digest('base64')
}

/**
 * One step of a bulk change: changes quotas in one transaction, with a statement per table. The history of a quota tells
 * whether the bulk change has changed it before, so a step can be repeated. Quotas that do not change take no locks.
 *
 * @param ids without duplicates
 * @param author whose `requestId` is that of the bulk change
 * @returns what became of each quota, in the order of the ids
 */
export function bulkStep(
  db: Database,
  ids: readonly number[],
  change: BulkChange,
  author: Author,
): Promise<BulkOutcome[]> {
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS_IN_ORDER })
    const stored = await findQuotas(tx, ids)
    const settled = await settledOf(tx, ids, stored, change, author)
    const rest = stored.filter(({ id }) => !settled.has(id)).sort(byUserAndId)
    if (rest.length === 0) {
      // What an unconfirmed commit wrote may be read before a standby has it. The commit of a write waits for the standby.
      await lockKnownAccounts(tx, usersOf(stored.slice(0, 1)))
      return ids.map(id => settled.get(id) ?? { outcome: 'not_found' })
    }
    const known = await lockKnownAccounts(tx, usersOf(rest))
    const before = await changedByRequest(
      tx,
      rest.map(({ id }) => id),
      author,
    )
    for (const id of before) settled.set(id, { outcome: 'changed_before' })
    const { outcomes, users } = await decide(
      tx,
      rest.filter(({ id, user_id }) => known.has(user_id) && !before.has(id)),
      change,
      author,
      'lock',
    )
    if (users.length > 0) await recordChanges(tx, users, author)
    return ids.map(id => settled.get(id) ?? outcomes.get(id) ?? { outcome: 'not_found' })
  })
}

/** What a step would do, decided from what is stored. */
export function previewBulkStep(
  db: Database,
  ids: readonly number[],
  change: BulkChange,
  author: Author,
): Promise<BulkOutcome[]> {
  return db.transaction(async tx => {
    const stored = (await findQuotas(tx, ids)).sort(byUserAndId)
    const { outcomes } = await decide(tx, stored, change, author, 'read')
    return ids.map(id => outcomes.get(id) ?? { outcome: 'not_found' })
  }, 'keyed snapshot')
}

/** The quotas that need no lock: the bulk change has changed them before, or leaves them as they are. */
async function settledOf(
  tx: Transaction,
  ids: readonly number[],
  stored: readonly Quota[],
  change: BulkChange,
  author: Author,
): Promise<Map<number, BulkOutcome>> {
  const settled = new Map<number, BulkOutcome>()
  for (const id of await changedByRequest(tx, ids, author)) settled.set(id, { outcome: 'changed_before' })
  for (const quota of stored) {
    if (settled.has(quota.id)) continue
    if (quota.deleted_at !== null) settled.set(quota.id, { outcome: 'not_found' })
    else if (applyBulkChange(quota, change, author).outcome === 'unchanged')
      settled.set(quota.id, { outcome: 'unchanged' })
  }
  return settled
}

/** In the order in which accounts are locked and rows are written. */
const byUserAndId = (one: Quota, other: Quota) => one.user_id - other.user_id || one.id - other.id

function usersOf(quotas: readonly Quota[]): number[] {
  return [...new Set(quotas.map(({ user_id }) => user_id))]
}

/** @param known the quotas as they were read before they were locked, by user and id */
async function decide(
  tx: Transaction,
  known: readonly Quota[],
  change: BulkChange,
  author: Author,
  mode: 'lock' | 'read',
): Promise<{ outcomes: Map<number, BulkOutcome>; users: DecisionsOfUser[] }> {
  const concerned = known.map(({ id, user_id }) => ({ id, user_id }))
  const stored = Map.groupBy(await quotasOfUsers(tx, concerned, author.now, mode), ({ user_id }) => user_id)
  const outcomes = new Map<number, BulkOutcome>()
  const users = new Map<number, UserChanges>()
  for (const { id, user_id } of known) {
    const user = users.get(user_id) ?? createUserChanges(stored.get(user_id) ?? [], author.now)
    users.set(user_id, user)
    outcomes.set(id, changeOne(user, id, change, author))
  }
  return { outcomes, users: [...users.values()].flatMap(({ changes }) => changes) }
}

function changeOne(user: UserChanges, id: number, change: BulkChange, author: Author): BulkOutcome {
  const before = user.byId(id)
  if (before === undefined) return { outcome: 'not_found' }
  const changed = applyBulkChange(before, change, author)
  if (changed.outcome === 'unchanged') return changed
  const { user_id: userId } = before
  if (changed.outcome !== 'changed') return { ...changed, userId }
  const { quota: after, closed } = changed
  const action = change.action === 'delete' ? 'deleted' : 'updated'
  const reason = 'reason' in change ? { reason: change.reason } : {}
  const forbidden = user.add({ change: { action, before, after, ...reason }, closed })
  return forbidden === undefined ? { outcome: 'changed', before, after } : { ...forbidden, userId }
}
