import type { ExportUsageQuery, UsageRecord } from '../../contract/exports.ts'
import type { Database } from '../../db/connection/database.ts'
import { exportUsage, type StoredUsage } from '../../db/usage/export.ts'
import { MAX_PAGE_SIZE } from '../../domain/basics/bounds.ts'
import { type EpochMs, formatTimestamp } from '../../domain/time/time.ts'
import { timestampOf } from '../platform/formats.ts'
import { countsOf } from '../usage/responses.ts'

/** What a list answers for a page. */
interface Page {
  items: readonly object[]
  next_cursor: string | null
}

/** A place in a list, and how much a page has. */
interface Place {
  page_size: number
  cursor?: string
}

/**
 * All pages of a list. Each is a short read of its own, so an export of any size delays no sender and holds one page in
 * memory; each record is as of its reading.
 */
export async function* pagesOf(pageAt: (place: Place) => Promise<Page>): AsyncGenerator<readonly object[], void> {
  const place: Place = { page_size: MAX_PAGE_SIZE }
  for (;;) {
    const { items, next_cursor: next } = await pageAt(place)
    yield items
    if (next === null) return
    place.cursor = next
  }
}

const RESOLUTIONS = { usage: 'quarter_hour', usage_day: 'day', usage_month: 'month' } as const

/** The usage of all users or of one. */
export async function* usagePages(
  db: Database,
  query: ExportUsageQuery,
  now: EpochMs,
): AsyncGenerator<UsageRecord[], void> {
  const from = query.from === undefined ? Number.NEGATIVE_INFINITY : timestampOf(query.from)
  const to = query.to === undefined ? Number.POSITIVE_INFINITY : timestampOf(query.to)
  for await (const rows of exportUsage(db, query.user_id, now, MAX_PAGE_SIZE)) {
    yield rows.filter(({ bucket }) => bucket >= from && bucket < to).map(recordOf)
  }
}

function recordOf({ table, user_id, bucket, quota_id, country, message_type, ...sums }: StoredUsage): UsageRecord {
  const start = formatTimestamp(bucket)
  return { user_id, start, resolution: RESOLUTIONS[table], quota_id, country, message_type, ...countsOf(sums) }
}
