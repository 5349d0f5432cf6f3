import type { Database } from '../../db/connection/database.ts'
import { quotasOfUsers } from '../../db/quotas/quotas.ts'
import { usersBeingErased } from '../../db/users/erasure.ts'
import type { Quota } from '../../domain/quotas/quota.ts'
import type { Author } from '../kit/author.ts'
import { findUncountable } from '../kit/countable-values.ts'
import { decide, type ImportedQuota, type ImportOutcome, usersOf } from './import-quotas.ts'

/** Quotas that a dry run remembers, some 1 KiB each. */
const MAX_REMEMBERED = 10_000

/** A dry run takes no numbers for ids. No quota has these. */
const UNUSED_NUMBERS = 2 ** 46

/**
 * The steps of a dry run: they decide from what is stored, and from what the rows of earlier steps would have made of it, up to
 * `MAX_REMEMBERED` quotas. They write nothing.
 */
export function createImportPreview(
  db: Database,
): (rows: readonly ImportedQuota[], author: Author) => Promise<ImportOutcome[]> {
  /** Quotas as earlier rows would have left them, by user and id. */
  const remembered = new Map<number, Map<number, Quota>>()
  let count = 0
  let nextNumber = UNUSED_NUMBERS

  function remember(quota: Quota): void {
    const ofUser = remembered.get(quota.user_id) ?? new Map<number, Quota>()
    if (!ofUser.has(quota.id)) {
      if (count >= MAX_REMEMBERED) return
      count += 1
    }
    remembered.set(quota.user_id, ofUser.set(quota.id, quota))
  }

  return async (rows, author) => {
    const numbers = rows.map((_, index) => nextNumber + index)
    nextNumber += rows.length
    const userIds = usersOf(rows)
    const earlier = userIds.flatMap(userId => [...(remembered.get(userId)?.values() ?? [])])
    const { outcomes, users } = await db.transaction(async tx => {
      const erased = await usersBeingErased(tx, userIds)
      const quotas = [...(await quotasOfUsers(tx, rows, author.now, 'read')), ...earlier]
      const stored = [...new Map(quotas.map(quota => [quota.id, quota])).values()]
      return decide(rows, author, { erased, stored, numbers, uncountable: await findUncountable(tx, rows) })
    }, 'keyed snapshot')
    for (const { decisions } of users) for (const { change } of decisions) remember(change.after)
    return outcomes
  }
}
