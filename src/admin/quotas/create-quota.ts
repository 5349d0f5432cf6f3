import type { Database, Transaction } from '../../db/connection/database.ts'
import { lockAccounts, lockQuotasOfUser, nextQuotaId } from '../../db/quotas/quotas.ts'
import { isBeingErased } from '../../db/users/erasure.ts'
import type { Quota, QuotaDraft } from '../../domain/quotas/quota.ts'
import * as rules from '../../domain/quotas/quota.ts'
import { openingOf } from '../../domain/units/reservation.ts'
import type { ValidationIssue } from '../../errors.ts'
import type { Author } from '../kit/author.ts'
import { findUncountable, uncountableIssues } from '../kit/countable-values.ts'
import { once, type Repeated } from '../kit/idempotency.ts'
import { recordChange } from '../kit/record-change.ts'
import { type ForbiddenByOthers, forbiddenByOthers } from '../kit/user-limits.ts'
import { makeUser } from '../users/make-user.ts'

export type Created =
  | { outcome: 'created'; quota: Quota }
  | { outcome: 'invalid'; issues: ValidationIssue[] }
  /** The user's data is being erased. */
  | { outcome: 'being_erased' }
  | ForbiddenByOthers

/** Creates a quota; with an idempotency key, creates it only once. */
export function createQuotaOnce(
  db: Database,
  draft: QuotaDraft,
  author: Author,
  key: string | undefined,
): Promise<Created | Repeated<Quota>> {
  const call = { key, request: { ...draft }, answerOf: quotaOf }
  return once(db, call, author, tx => createQuota(tx, draft, author))
}

/**
 * Creates a quota of a user whose reference is new, who is made before, unless no user may have the quota. A call whose answer was lost
 * finds the user when it is repeated. Undefined: an erasure has freed the reference a few minutes ago.
 */
export async function createQuotaOfNewUser(
  db: Database,
  ref: string,
  draft: QuotaDraft,
  author: Author,
  key: string | undefined,
): Promise<Created | Repeated<Quota> | undefined> {
  const tried = rules.createQuota(draft, { ...author, id: 0 })
  if ('issues' in tried) return { outcome: 'invalid', issues: tried.issues }
  const user_id = await makeUser(db, ref, author)
  return user_id === undefined ? undefined : createQuotaOnce(db, { ...draft, user_id }, author, key)
}

/** The quota of a success. */
export function quotaOf(done: { outcome: string; quota?: Quota }): Quota | undefined {
  return done.quota
}

/** Creates a quota, if the rules and the user's other quotas allow it. */
export async function createQuota(tx: Transaction, draft: QuotaDraft, author: Author): Promise<Created> {
  // What no user may have is refused before the lock, which makes an account if need be: then the user would be listed.
  const created = rules.createQuota(draft, { ...author, id: 0 })
  if ('issues' in created) return { outcome: 'invalid', issues: created.issues }
  const issues = uncountableIssues(await findUncountable(tx, [draft]), draft)
  if (issues.length > 0) return { outcome: 'invalid', issues }
  await lockAccounts(tx, [draft.user_id])
  const others = await lockQuotasOfUser(tx, draft.user_id, author.now, { external_ref: draft.external_ref ?? null })
  if (await isBeingErased(tx, draft.user_id)) return { outcome: 'being_erased' }
  const quota = { ...created.quota, id: await nextQuotaId(tx, draft.user_id) }
  const forbidden = forbiddenByOthers(quota, others, author.now)
  if (forbidden !== undefined) return forbidden

  const change = { action: 'created', before: null, after: quota } as const
  await recordChange(tx, { change, closed: [], booking: openingOf(quota), others }, author)
  return { outcome: 'created', quota }
}
