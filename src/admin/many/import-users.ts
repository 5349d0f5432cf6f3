/** The users of an import whose references are new. */
import type { Database } from '../../db/connection/database.ts'
import { newUserId } from '../../db/users/profiles.ts'
import { MAX_INTEGER } from '../../domain/basics/bounds.ts'
import type { Author } from '../kit/author.ts'
import { makeUser } from '../users/make-user.ts'
import { createImportSteps } from './import-plans.ts'
import { type ImportedRow, type ImportRefusal, isRefusal } from './import-quotas.ts'

/**
 * Gives the user of a row an id.
 *
 * @param rowOf makes the row
 * @returns why the row is refused instead; undefined: an erasure has freed the reference a few minutes ago
 */
export type NewUsers = (
  ref: string,
  rowOf: (userId: number) => ImportedRow,
  author: Author,
) => Promise<number | ImportRefusal | undefined>

/** Makes users, each as soon as a row can be imported for it. */
export function createNewUsers(db: Database): NewUsers {
  return async (ref, rowOf, author) => {
    // A row that is refused makes no user, so it is tried before.
    const [tried] = await createImportSteps(db, true)([rowOf(newUserId())], author)
    if (tried !== undefined && isRefusal(tried)) return tried
    return makeUser(db, ref, author)
  }
}

/** References that a dry run remembers. */
const MAX_REMEMBERED = 10_000

/** Of a dry run: counts down from the highest id, for users that it does not make. */
export function createNewUsersPreview(): NewUsers {
  const ids = new Map<string, number>()
  let lastId = MAX_INTEGER
  return async ref => {
    const known = ids.get(ref)
    if (known !== undefined) return known
    lastId -= 1
    if (ids.size < MAX_REMEMBERED) ids.set(ref, lastId)
    return lastId
  }
}
