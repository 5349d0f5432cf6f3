/** The list of pauses, newest first. */
import type { Pause, PauseOrigin } from '../../domain/pause.ts'
import type { EpochMs } from '../../domain/time.ts'
import type { Database, Queryable, SqlValue } from '../connection/database.ts'
import { bind } from '../connection/parameters.ts'
import { sliceOf } from '../connection/slice.ts'
import { joinSql, type Sql, sql, sqlInteger } from '../connection/sql.ts'
import { IN_INDEX_ORDER } from '../connection/transaction-settings.ts'
import { timestampParam } from '../connection/values.ts'
import { activeAt, PAUSE_COLUMNS, PAUSE_SHARD } from './pauses.ts'

export interface PauseFilter {
  /** Pauses that hold for this user: the user's own, and those for all users. */
  user_id?: number
  country?: string
  origin?: PauseOrigin
  active?: boolean
}

export interface PauseSlice {
  pauses: Pause[]
  /** The id before which the next page begins; null on the last. With one, a page may be short or even empty. */
  next: number | null
}

/** Pauses that a page scans, at most, for those that its filters select. */
const MAX_SCANNED = 5_000

/**
 * A page of pauses, newest first, before an id. The active ones are few, and among any number that have ended: an index has them, and
 * they are sorted. The others are read in their order, up to a bound.
 */
export function listPauses(
  db: Database,
  filter: PauseFilter,
  before: number,
  size: number,
  now: EpochMs,
  maxScanned = MAX_SCANNED,
): Promise<PauseSlice> {
  const values: SqlValue[] = [before]
  const scanned =
    filter.active === true ? activePauses(values, now) : sql`${IN_ORDER} limit ${bind(values, maxScanned)}`
  // Materialized, so that the planner does not look for the few active ones in the order of all.
  const text = sql`with scanned as materialized (${scanned}) select ${PAUSE_COLUMNS} from scanned where ${whereClauseOf(filter, values, now)}
    order by id desc limit ${bind(values, size + 1)}`
  // One snapshot, so that the next page begins exactly where this scan ended.
  return db.transaction(async tx => {
    if (filter.active !== true) await tx.query({ text: IN_INDEX_ORDER })
    const { items, hasMore } = sliceOf(await tx.query<Pause>({ text, values }), size)
    const last = items.at(-1)
    if (hasMore && last !== undefined) return { pauses: items, next: last.id }
    return { pauses: items, next: filter.active === true ? null : await endOfScan(tx, before, maxScanned) }
  }, 'snapshot')
}

/** How many pauses deny messages: `MAX_PAUSES` at most. */
export async function countActivePauses(db: Queryable, now: EpochMs): Promise<number> {
  const values: SqlValue[] = []
  const active = activeAt(bind(values, timestampParam(now)))
  const text = sql`select count(*)::int from pause where shard = ${SHARD} and ${active}`
  const [row] = await db.query<{ count: number }>({ text, values })
  return row?.count ?? 0
}

const SHARD = sqlInteger(PAUSE_SHARD)
const IN_ORDER = sql`select * from pause where shard = ${SHARD} and id < $1 order by id desc`

const activePauses = (values: SqlValue[], now: EpochMs): Sql =>
  sql`select * from pause where shard = ${SHARD} and ${activeAt(bind(values, timestampParam(now)))} and id < $1`

/** The last pause that a page scanned, if there are more behind it. */
async function endOfScan(tx: Queryable, before: number, maxScanned: number): Promise<number | null> {
  const ends = await tx.query<{ id: number }>({
    text: sql`select id from pause where shard = ${SHARD} and id < $1 order by id desc offset $2 limit 2`,
    values: [before, maxScanned - 1],
  })
  return ends.length === 2 ? (ends[0]?.id ?? null) : null
}

function whereClauseOf(filter: PauseFilter, values: SqlValue[], now: EpochMs): Sql {
  const { user_id, country, origin, active, ...none } = filter
  none satisfies Record<string, never>
  const conditions: Sql[] = []
  if (user_id !== undefined) conditions.push(sql`(user_id = ${bind(values, user_id)} or user_id is null)`)
  if (country !== undefined) conditions.push(sql`country = ${bind(values, country)}`)
  if (origin !== undefined) conditions.push(sql`origin = ${bind(values, origin)}`)
  if (active === false) conditions.push(sql`not (${activeAt(bind(values, timestampParam(now)))})`)
  return conditions.length === 0 ? sql`true` : joinSql(conditions, sql` and `)
}
