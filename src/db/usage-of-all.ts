/** Usage of all users. Its cost does not grow with their number: it reads totals, or a limited number of rows. */
import type { UsageGroup } from '../domain/usage.ts'
import type { Database, Queryable } from './database.ts'
import { BY_KEYS } from './planner-settings.ts'
import {
  DIMENSIONS,
  entriesOf,
  PENDING_COUNTS,
  REPORTED,
  TOTAL_COUNTS,
  UNFUNDED_OF_GRANTS,
  USAGE_COUNTS,
} from './usage-columns.ts'
import { GROUP_COLUMN, INTERVAL, type Intervals, intervalParams, type UsageRow } from './usage-sums.ts'

const COUNTS = USAGE_COUNTS.join(', ')

/** The entries of all batches that are not rolled up yet, from `$1` to `$2`. */
const PENDING = `
  select e.user_id, p.bucket, e.quota_id, e.country, e.message_type, ${PENDING_COUNTS}
  from usage_pending p, ${entriesOf('p')} where p.bucket >= $1 and p.bucket < $2`

/** Sums of all users by interval and country, message type or nothing: at most `maxRows`. */
export function sumTotals(
  db: Queryable,
  intervals: Intervals,
  group: 'country' | 'message_type' | undefined,
  maxRows: number,
): Promise<UsageRow[]> {
  return db.query<UsageRow>({
    text: `
      select ${INTERVAL} as interval, key, ${REPORTED}
      from (
        select bucket, key, ${TOTAL_COUNTS.join(', ')} from usage_total
        where span = any ('{0,1,2}') and dimension = $5 and bucket >= $1 and bucket < $2
        union all
        select bucket, ${group ?? 'null::text'}, ${COUNTS}, ${UNFUNDED_OF_GRANTS} from (${PENDING}) pending
      ) u group by 1, 2 order by 1, 2 limit $4`,
    values: [...intervalParams(intervals), maxRows, DIMENSIONS[group ?? 'none']],
  })
}

/**
 * Sums of all users by interval and user or quota: at most `maxRows`.
 * @param maxRead null is returned if there are more rows to read than this
 */
export async function sumByKey(
  db: Database,
  intervals: Intervals,
  group: Extract<UsageGroup, 'user' | 'quota'>,
  maxRows: number,
  maxRead: number,
): Promise<UsageRow[] | null> {
  // A limit for each table, because a cluster would read all of it to cut their union.
  const columns = `user_id, bucket, quota_id, ${COUNTS}, ${UNFUNDED_OF_GRANTS}`
  const rowsOf = (table: string) => `(select ${columns} from ${table} where bucket >= $1 and bucket < $2 limit $5)`
  const rows = await db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    return tx.query<UsageRow & { read: number }>({
      text: `
        select ${INTERVAL} as interval, ${GROUP_COLUMN[group]} as key, ${REPORTED}, sum(count(*)) over ()::bigint as read
        from (
          ${rowsOf('usage')} union all ${rowsOf('usage_day')} union all ${rowsOf('usage_month')}
          union all (select ${columns} from (${PENDING}) pending limit $5)
          limit $5
        ) u group by 1, 2 order by 1, 2 limit $4`,
      values: [...intervalParams(intervals), maxRows, maxRead + 1],
    })
  }, 'snapshot')
  if ((rows[0]?.read ?? 0) > maxRead) return null
  return rows.map(({ read: _, ...row }) => row)
}

/** The days and months that usage was compacted into, as far as they overlap with a period. */
export function compactedPeriods(
  db: Queryable,
  { starts, to }: Intervals,
): Promise<{ bucket: number; until: number }[]> {
  const [from, end] = intervalParams({ starts, to })
  return db.query({
    name: 'compacted-periods',
    text: 'select bucket, until from usage_period where bucket < $2 and until > $1 order by bucket',
    values: [from, end],
  })
}
