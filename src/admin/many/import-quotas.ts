import type { Database, Transaction } from '../../db/connection/database.ts'
import { withNumbers } from '../../db/connection/sequences.ts'
import { BY_KEYS_IN_ORDER } from '../../db/connection/transaction-settings.ts'
import {
  findQuotas,
  lockAccounts,
  lockKnownAccounts,
  nextQuotaNumbers,
  quotasByReference,
  quotasOfUsers,
} from '../../db/quotas/quotas.ts'
import { usersBeingErased } from '../../db/users/erasure.ts'
import { quotaIdOf, shardOf } from '../../domain/basics/shard.ts'
import { changeQuota, createQuota, type Quota, type QuotaDraft, type QuotaPatch } from '../../domain/quotas/quota.ts'
import { QUOTA_DEFAULTS } from '../../domain/quotas/quota-settings.ts'
import { localTimestamp } from '../../domain/time/window.ts'
import { openingOf } from '../../domain/units/reservation.ts'
import type { Author } from '../kit/author.ts'
import { findUncountable, uncountableIssues } from '../kit/countable-values.ts'
import { type DecisionsOfUser, recordChanges } from '../kit/record-change.ts'
import { createUserChanges, type UserChanges } from '../kit/user-changes.ts'
import type { Updated } from '../quotas/change-quota.ts'
import type { Created } from '../quotas/create-quota.ts'

/** A row of an import that names the quota with its `external_ref`: to be created, or else to be changed where it differs. */
type ByReference = QuotaDraft & { id?: never; external_ref: string; allow_below_usage?: boolean; local?: LocalTimes }
/** A row that changes the quota with its id. */
type ById = QuotaPatch & { id: number; user_id: number; local?: LocalTimes }
/** Days and times without an offset, which the time zone of the row or of its quota decides about. */
export type LocalTimes = Readonly<Partial<Record<'starts_at' | 'expires_at', string>>>
export type ImportedQuota = ByReference | ById
/** A row that gives a user the current version of a plan, by its id or its name. */
export interface ImportedPlan {
  user_id: number
  plan: number | string
}
export type ImportedRow = ImportedQuota | ImportedPlan

export const isOfPlan = (row: ImportedRow): row is ImportedPlan => 'plan' in row
export const isOfQuota = (row: ImportedRow): row is ImportedQuota => !isOfPlan(row)
const isById = (row: ImportedQuota): row is ById => row.id !== undefined
const isByReference = (row: ImportedQuota): row is ByReference => row.id === undefined

/** The result of a row. A row that is refused does not affect the others of its step. */
export type ImportOutcome =
  | { outcome: 'created' | 'updated' | 'unchanged' }
  | Exclude<Created | Updated, { quota: Quota } | { outcome: 'not_found' | 'version_mismatch' }>

export type ImportRefusal = Exclude<ImportOutcome, { outcome: 'created' | 'updated' | 'unchanged' }>

export function isRefusal(outcome: ImportOutcome): outcome is ImportRefusal {
  return !['created', 'updated', 'unchanged'].includes(outcome.outcome)
}

const referenceOf = ({ user_id, external_ref }: Pick<Quota, 'user_id' | 'external_ref'>): string =>
  `${user_id} ${external_ref}`

/** The names in the rows of a step: no two rows of a step may be for the same quota, or give the same user a plan. */
export interface ImportedKeys {
  /**
   * Whether a row could be for the quota of another row. The reference of a quota that another row names by its id is not known, nor are the
   * quotas of a plan.
   */
  conflictWith(row: ImportedRow): boolean
  add(row: ImportedRow): void
}

export const createImportedKeys = (): ImportedKeys => new Keys()

class Keys implements ImportedKeys {
  private readonly keys = new Set<string | number>()
  /** How the rows of each user name what they are for: of one user, all in the same way. */
  private readonly ways = new Map<number, 'id' | 'reference' | 'plan'>()

  conflictWith(row: ImportedRow): boolean {
    return (this.ways.get(row.user_id) ?? wayOf(row)) !== wayOf(row) || this.keys.has(keyOf(row))
  }

  add(row: ImportedRow): void {
    this.ways.set(row.user_id, wayOf(row))
    this.keys.add(keyOf(row))
  }
}

function wayOf(row: ImportedRow) {
  if (isOfPlan(row)) return 'plan'
  return isById(row) ? 'id' : 'reference'
}

function keyOf(row: ImportedRow): string | number {
  if (isOfPlan(row)) return `${row.user_id}`
  return isById(row) ? row.id : referenceOf(row)
}

const NOT_THE_USERS: ImportOutcome = {
  outcome: 'invalid',
  issues: [
    {
      path: '/id',
      message:
        'must be the id of an undeleted quota of this user_id. Leave the id out to find the quota by its external_ref, or to create it.',
    },
  ],
}

/**
 * One step of an import: creates and changes quotas in one transaction, with a statement per table. A row that names the id or,
 * without an id, the `external_ref` of an undeleted quota of its user changes that quota by merging: fields that it omits stay,
 * and `opening_used` counts only when a quota is created. So a step can be repeated.
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
      if (unchanged !== undefined) await lockKnownAccounts(tx, [unchanged.user_id])
      return rows.map(row => outcomeOf.get(row) ?? { outcome: 'unchanged' })
    }
    await lockUsers(tx, differing)
    const { outcomes, users } = decide(differing, author, {
      erased: await usersBeingErased(tx, usersOf(differing)),
      stored: await quotasOfUsers(tx, differing, author.now, 'lock'),
      numbers: await nextQuotaNumbers(tx, differing.length),
      uncountable: await findUncountable(tx, differing),
    })
    if (users.length > 0) await recordChanges(tx, users, author)
    for (const [index, row] of differing.entries()) outcomeOf.set(row, outcomes[index])
    return rows.map(row => outcomeOf.get(row) ?? { outcome: 'unchanged' })
  })
}

/**
 * Locks the accounts of the users of rows, and makes those that are missing of users whose rows can create quotas. All rows of a user
 * name quotas in the same way. A statement locks neighbors of one kind: so accounts are locked in their order.
 */
async function lockUsers(tx: Transaction, rows: readonly ImportedQuota[]): Promise<void> {
  const users = usersOf(rows)
  const named = new Set(rows.filter(isById).map(({ user_id }) => user_id))
  for (let from = 0, to = 1; from < users.length; from = to) {
    const isNamed = (at: number) => named.has(users[at] ?? 0)
    for (to = from + 1; to < users.length && isNamed(to) === isNamed(from); ) to += 1
    await (isNamed(from) ? lockKnownAccounts : lockAccounts)(tx, users.slice(from, to))
  }
}

/**
 * The rows that do not leave a stored quota as it is, without those that no user may have. These are refused before the lock,
 * which makes an account if need be: then the user would be listed.
 */
async function compare(tx: Transaction, rows: readonly ImportedQuota[], author: Author) {
  const find = await storedQuotas(tx, rows)
  const outcomeOf = new Map<ImportedQuota, ImportOutcome | undefined>()
  const differing = rows.filter(row => {
    const quota = find(row)
    if (quota !== undefined) return changeQuota(quota, patchOf(row, quota), author).outcome !== 'unchanged'
    if (isById(row)) {
      outcomeOf.set(row, NOT_THE_USERS)
      return false
    }
    const created = createQuota(draftOf(row), { ...author, id: 0 })
    if ('issues' in created) outcomeOf.set(row, { outcome: 'invalid', issues: created.issues })
    return !('issues' in created)
  })
  return { differing, outcomeOf }
}

/** @returns what finds the stored quota that a row names, if its user has it */
async function storedQuotas(
  tx: Transaction,
  rows: readonly ImportedQuota[],
): Promise<(row: ImportedQuota) => Quota | undefined> {
  const ids = rows.filter(isById).map(({ id }) => id)
  const quotas = [
    ...(ids.length === 0 ? [] : await findQuotas(tx, ids)),
    ...(await quotasByReference(tx, rows.filter(isByReference))),
  ].filter(({ deleted_at }) => deleted_at === null)
  const byId = new Map(quotas.map(quota => [quota.id, quota]))
  const byReference = new Map(quotas.map(quota => [referenceOf(quota), quota]))
  return row => {
    const quota = isById(row) ? byId.get(row.id) : byReference.get(referenceOf(row))
    return quota?.user_id === row.user_id ? quota : undefined
  }
}

function patchOf(row: ImportedQuota, { time_zone }: Quota): QuotaPatch {
  const times = timesIn(row.time_zone ?? time_zone, row.local)
  if (isById(row)) {
    const { id: _, local: _local, ...patch } = row
    return { ...patch, ...times }
  }
  const { opening_used: _, local: _local, ...patch } = row
  return { ...patch, ...times }
}

function draftOf({ allow_below_usage: _, local, ...draft }: ByReference): QuotaDraft {
  return { ...draft, ...timesIn(draft.time_zone ?? QUOTA_DEFAULTS.time_zone, local) }
}

function timesIn(timeZone: string, { starts_at, expires_at }: LocalTimes = {}) {
  return {
    ...(starts_at === undefined ? {} : { starts_at: localTimestamp(starts_at, timeZone) }),
    ...(expires_at === undefined ? {} : { expires_at: localTimestamp(expires_at, timeZone) }),
  }
}

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
  /** The values that no cap can count. */
  uncountable: ReadonlySet<unknown>
}

/** Decides the rows one after the other, each on what those before it have left. */
export function decide(
  rows: readonly ImportedQuota[],
  author: Author,
  { erased, stored, numbers, uncountable }: Known,
): { outcomes: ImportOutcome[]; users: DecisionsOfUser[] } {
  const ofUser = Map.groupBy(stored, ({ user_id }) => user_id)
  const outcomes: ImportOutcome[] = []
  const decided = new Map<number, UserChanges>()
  for (const [index, row] of rows.entries()) {
    const { user_id } = row
    const user = decided.get(user_id) ?? createUserChanges(ofUser.get(user_id) ?? [], author.now)
    decided.set(user_id, user)
    const id = quotaIdOf(numbers[index] ?? 0, shardOf(user_id))
    outcomes.push(erased.has(user_id) ? { outcome: 'being_erased' } : applyRow(user, row, author, { id, uncountable }))
  }
  const users = usersOf(rows).flatMap(userId => decided.get(userId)?.changes ?? [])
  return { outcomes, users }
}

/** The id of a quota that is created, and the values that it cannot count. */
type Creation = Pick<Known, 'uncountable'> & { id: number }

function applyRow(user: UserChanges, row: ImportedQuota, author: Author, creation: Creation): ImportOutcome {
  if (isById(row)) {
    const named = user.byId(row.id)
    return named === undefined ? NOT_THE_USERS : update(user, named, row, author)
  }
  const stored = user.byReference(row.external_ref)
  return stored === undefined ? create(user, row, author, creation) : update(user, stored, row, author)
}

function create(user: UserChanges, row: ByReference, author: Author, { id, uncountable }: Creation): ImportOutcome {
  const created = createQuota(draftOf(row), { ...author, id })
  const issues = 'issues' in created ? created.issues : uncountableIssues(uncountable, row)
  if ('issues' in created || issues.length > 0) return { outcome: 'invalid', issues }
  const { quota } = created
  const change = { action: 'created', before: null, after: quota } as const
  return user.add({ change, closed: [], booking: openingOf(quota) }) ?? { outcome: 'created' }
}

function update(user: UserChanges, before: Quota, row: ImportedQuota, author: Author): ImportOutcome {
  const changed = changeQuota(before, patchOf(row, before), author)
  if (changed.outcome !== 'changed') return changed
  const change = { action: 'updated', before, after: changed.quota } as const
  return user.add({ change, closed: changed.closed }) ?? { outcome: 'updated' }
}
