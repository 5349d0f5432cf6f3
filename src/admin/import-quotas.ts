import type { Database, Transaction } from '../db/connection/database.ts'
import { withNumbers } from '../db/connection/sequences.ts'
import { BY_KEYS_IN_ORDER } from '../db/connection/transaction-settings.ts'
import { lockAccounts, nextQuotaNumbers, quotasByReference, quotasOfUsers } from '../db/quotas/quotas.ts'
import { usersBeingErased } from '../db/users/erasure.ts'
import { changeQuota, createQuota, type Quota, type QuotaDraft } from '../domain/quota.ts'
import { openingOf } from '../domain/reservation.ts'
import { quotaIdOf, shardOf } from '../domain/shard.ts'
import type { Author } from './author.ts'
import type { Updated } from './change-quota.ts'
import type { Created } from './create-quota.ts'
import { type DecisionsOfUser, recordChanges } from './record-change.ts'
import { createUserChanges, type UserChanges } from './user-changes.ts'

/** A quota as a row of an import asks for it: to be created, or else to be changed where it differs. */
export type ImportedQuota = QuotaDraft & { external_ref: string; allow_below_usage?: boolean }

/** What becomes of a row. A row that is refused does not affect the others of its step. */
export type ImportOutcome =
  | { outcome: 'created' | 'updated' | 'unchanged' }
  | Exclude<Created | Updated, { quota: Quota } | { outcome: 'not_found' | 'version_mismatch' }>

/** What identifies a row: no two rows of a step may be equal in it. */
export const referenceOf = ({ user_id, external_ref }: Pick<Quota, 'user_id' | 'external_ref'>): string =>
  `${user_id} ${external_ref}`

/**
 * One step of an import: creates and changes quotas in one transaction, with a statement per table. A row that names an
 * `external_ref` of an undeleted quota of its user changes that quota by merging: fields that it omits stay, and
 * `opening_used` counts only when a quota is created. So a step can be repeated.
 *
 * Rows that change nothing take no locks, so a repeated import costs little more than reading.
 *
 * @returns what became of each row, in their order
 */
export function importStep(db: Database, rows: readonly ImportedQuota[], author: Author): Promise<ImportOutcome[]> {
  return withNumbers(db, () => importRows(db, rows, author))
}

function importRows(db: Database, rows: readonly ImportedQuota[], author: Author): Promise<ImportOutcome[]> {
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS_IN_ORDER })
    const { differing, outcomeOf } = await compare(tx, rows, author)
    if (differing.length === 0) {
      // What an unconfirmed commit wrote may be read before a standby has it. The commit of a write waits for the standby.
      const unchanged = rows.find(row => !outcomeOf.has(row))
      if (unchanged !== undefined) await lockAccounts(tx, [unchanged.user_id])
      return rows.map(row => outcomeOf.get(row) ?? { outcome: 'unchanged' })
    }
    await lockAccounts(tx, usersOf(differing))
    const { outcomes, users } = decide(differing, author, {
      erased: await usersBeingErased(tx, usersOf(differing)),
      stored: await quotasOfUsers(tx, differing, author.now, 'lock'),
      numbers: await nextQuotaNumbers(tx, differing.length),
    })
    if (users.length > 0) await recordChanges(tx, users, author)
    for (const [index, row] of differing.entries()) outcomeOf.set(row, outcomes[index])
    return rows.map(row => outcomeOf.get(row) ?? { outcome: 'unchanged' })
  })
}

/**
 * The rows that do not leave a stored quota as it is, without those that no user may have. These are refused before the lock,
 * which makes an account if need be: then the user would be listed.
 */
async function compare(tx: Transaction, rows: readonly ImportedQuota[], author: Author) {
  const stored = new Map((await quotasByReference(tx, rows)).map(quota => [referenceOf(quota), quota]))
  const outcomeOf = new Map<ImportedQuota, ImportOutcome | undefined>()
  const differing = rows.filter(row => {
    const quota = stored.get(referenceOf(row))
    if (quota !== undefined) return changeQuota(quota, patchOf(row), author).outcome !== 'unchanged'
    const created = createQuota(draftOf(row), { ...author, id: 0 })
    if ('issues' in created) outcomeOf.set(row, { outcome: 'invalid', issues: created.issues })
    return !('issues' in created)
  })
  return { differing, outcomeOf }
}

const patchOf = ({ opening_used: _, ...patch }: ImportedQuota) => patch
const draftOf = ({ allow_below_usage: _, ...draft }: ImportedQuota) => draft

/** Ascending: the order in which accounts are locked and rows are written. */
export function usersOf(rows: readonly ImportedQuota[]): number[] {
  return [...new Set(rows.map(({ user_id }) => user_id))].sort((one, other) => one - other)
}

/** What the rows of a step are compared with. */
interface Known {
  /** The users whose data is being erased. */
  erased: ReadonlySet<number>
  /** What the rows depend on (`quotasOfUsers`). */
  stored: readonly Quota[]
  /** A number for the id of each row, if it creates a quota. */
  numbers: readonly number[]
}

/** Decides the rows one after the other, each on what those before it have left. */
export function decide(
  rows: readonly ImportedQuota[],
  author: Author,
  { erased, stored, numbers }: Known,
): { outcomes: ImportOutcome[]; users: DecisionsOfUser[] } {
  const ofUser = Map.groupBy(stored, ({ user_id }) => user_id)
  const outcomes: ImportOutcome[] = []
  const decided = new Map<number, UserChanges>()
  for (const [index, row] of rows.entries()) {
    const { user_id } = row
    const user = decided.get(user_id) ?? createUserChanges(ofUser.get(user_id) ?? [], author.now)
    decided.set(user_id, user)
    const id = quotaIdOf(numbers[index] ?? 0, shardOf(user_id))
    outcomes.push(erased.has(user_id) ? { outcome: 'being_erased' } : applyRow(user, row, author, id))
  }
  const users = usersOf(rows).flatMap(userId => decided.get(userId)?.changes ?? [])
  return { outcomes, users }
}

/** @param id of the quota, if it is created */
function applyRow(user: UserChanges, row: ImportedQuota, author: Author, id: number): ImportOutcome {
  const stored = user.byReference(row.external_ref)
  return stored === undefined ? create(user, row, author, id) : update(user, stored, row, author)
}

function create(user: UserChanges, row: ImportedQuota, author: Author, id: number): ImportOutcome {
  const created = createQuota(draftOf(row), { ...author, id })
  if ('issues' in created) return { outcome: 'invalid', issues: created.issues }
  const { quota } = created
  const change = { action: 'created', before: null, after: quota } as const
  return user.add({ change, closed: [], opening: openingOf(quota) }) ?? { outcome: 'created' }
}

function update(user: UserChanges, before: Quota, row: ImportedQuota, author: Author): ImportOutcome {
  const changed = changeQuota(before, patchOf(row), author)
  if (changed.outcome !== 'changed') return changed
  const change = { action: 'updated', before, after: changed.quota } as const
  return user.add({ change, closed: changed.closed }) ?? { outcome: 'updated' }
}
