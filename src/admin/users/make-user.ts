import type { Database, Transaction } from '../../db/connection/database.ts'
import { lockAccounts } from '../../db/quotas/quotas.ts'
import { findErasure } from '../../db/users/erasure.ts'
import { claimReference, newUserId, usersByReference } from '../../db/users/profiles.ts'
import { isKnownUser } from '../../db/users/users.ts'
import { emptyProfile } from '../../domain/users/user-profile.ts'
import type { Author } from '../kit/author.ts'
import { recordProfile } from './change-profile.ts'

/** The reference is that of another user, or is reserved: the transaction is rolled back. */
class Taken extends Error {}

/**
 * Makes the user of a reference that no user has, for a sender that has named it. Of any number of callers and processes one makes the
 * user, and the others find that one: the key of the reference decides. The engine gives the default plan, as to any user without a quota. Undefined: an erasure has freed the reference a few minutes ago.
 */
export async function makeUser(
  db: Database,
  ref: string,
  author: Author,
  newId = newUserId,
): Promise<number | undefined> {
  try {
    return await db.transaction(tx => make(tx, ref, author, newId))
  } catch (error) {
    if (!(error instanceof Taken)) throw error
    return (await usersByReference(db, [ref])).get(ref) ?? undefined
  }
}

async function make(tx: Transaction, ref: string, author: Author, newId: () => number): Promise<number> {
  const userId = await unusedId(tx, newId)
  // The key makes others that want the reference wait for this transaction.
  if (!(await claimReference(tx, ref, userId))) throw new Taken(`the reference is taken`)
  await lockAccounts(tx, [userId])
  const profile = { ...emptyProfile(userId), ref, version: 1, updated_at: author.now, updated_by: author.actor }
  await recordProfile(tx, emptyProfile(userId), profile, author)
  return userId
}

/** Another system may have given ids in this range, too. */
async function unusedId(tx: Transaction, newId: () => number): Promise<number> {
  for (;;) {
    const userId = newId()
    if (!(await isKnownUser(tx, userId)) && (await findErasure(tx, userId)) === undefined) return userId
  }
}
