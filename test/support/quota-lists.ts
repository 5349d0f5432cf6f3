import type { Database } from '../../src/db/connection/database.ts'
import type { QuotaFilter } from '../../src/db/quotas/conditions.ts'
import { type Bounds, listQuotas, type PageStart, type QuotaOrder, type QuotaSlice } from '../../src/db/quotas/lists.ts'
import type { EpochMs } from '../../src/domain/time/time.ts'

/** What a test asks of a list. Left out: the first 20 quotas, newest first. */
export interface Listing {
  filter?: QuotaFilter
  order?: QuotaOrder
  start?: PageStart
  size?: number
  bounds?: Bounds
}

/** A page that is not too deep. */
export async function listed(db: Database, listing: Listing, now: EpochMs): Promise<QuotaSlice> {
  const { filter = {}, order = { by: 'id', descending: true }, start = { skip: 0 }, size = 20, bounds } = listing
  const slice = await listQuotas(db, filter, order, start, size, now, bounds)
  if (slice === 'too_deep') throw new Error('the page is too deep')
  return slice
}
