import type { Database } from '../../db/connection/database.ts'
import * as rules from '../../domain/quotas/quota.ts'
import type { Author } from '../kit/author.ts'
import { lockQuota, type NotChangeable, type VersionCheck } from '../kit/lock-quota.ts'
import { recordChange } from '../kit/record-change.ts'

export type Deleted = { outcome: 'deleted' } | NotChangeable

/** Deletes a quota. Its row, history and reservations stay for audit. */
export function deleteQuota(db: Database, id: number, author: Author, mayChange: VersionCheck): Promise<Deleted> {
  return db.transaction(async tx => {
    const known = await lockQuota(tx, id, author.now, mayChange)
    if (known.outcome !== 'known') return known
    const { quota: before, others } = known

    const { quota: after, closed } = rules.deleteQuota(before, author)

    await recordChange(tx, { change: { action: 'deleted', before, after }, closed, others }, author)
    return { outcome: 'deleted' }
  })
}
