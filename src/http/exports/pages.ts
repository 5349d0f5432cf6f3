import type { ExportUsageQuery, UsageRecord } from '../../contract/exports.ts'
import type { Database } from '../../db/database.ts'
import { type StoredUsage, type UsageKey, type UsageTable, usageAfter, usageOfAllAfter } from '../../db/user-data.ts'
import { MAX_PAGE_SIZE } from '../../domain/bounds.ts'
import { formatTimestamp } from '../../domain/time.ts'
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

/** The usage of all users or of one. It reads the tables in the order in which compaction moves rows, so that none is missed. */
export async function* usagePages(db: Database, query: ExportUsageQuery): AsyncGenerator<UsageRecord[], void> {
  const from = query.from === undefined ? Number.NEGATIVE_INFINITY : timestampOf(query.from)
  const to = query.to === undefined ? Number.POSITIVE_INFINITY : timestampOf(query.to)
  for (const table of ['usage', 'usage_day', 'usage_month'] as const) {
    for (let after: UsageKey | undefined; ; ) {
      const rows = await usageRowsAfter(db, table, query.user_id, after)
      yield rows.filter(({ bucket }) => bucket >= from && bucket < to).map(row => recordOf(row, table))
      after = rows.at(-1)
      if (rows.length < MAX_PAGE_SIZE) break
    }
  }
}

async function usageRowsAfter(
  db: Database,
  table: UsageTable,
  userId: number | undefined,
  after: UsageKey | undefined,
): Promise<(StoredUsage & UsageKey)[]> {
  if (userId === undefined) return usageOfAllAfter(db, table, after, MAX_PAGE_SIZE)
  const rows = await usageAfter(db, table, userId, after?.bucket ?? Number.NEGATIVE_INFINITY, MAX_PAGE_SIZE)
  return rows.map(row => ({ ...row, user_id: userId }))
}

function recordOf(
  { user_id, bucket, quota_id, country, message_type, ...sums }: StoredUsage & UsageKey,
  table: UsageTable,
): UsageRecord {
  const start = formatTimestamp(bucket)
  return { user_id, start, resolution: RESOLUTIONS[table], quota_id, country, message_type, ...countsOf(sums) }
}
