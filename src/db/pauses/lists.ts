/** The list of pauses, newest first. */
import { MAX_INTEGER } from '../../domain/basics/bounds.ts'
import type { Pause, PauseOrigin } from '../../domain/pauses/pause.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import type { Database, Queryable, SqlValue } from '../connection/database.ts'
import { bind } from '../connection/parameters.ts'
import { type Sql, sql, sqlInteger } from '../connection/sql.ts'
import { timestampParam } from '../connection/values.ts'
import { allOf, MAX_SCANNED, type Page, readPage, type Slice } from '../lists/pages.ts'
import { activeAt, PAUSE_COLUMNS, PAUSE_SHARD } from './pauses.ts'

export interface PauseFilter {
  /** Pauses that hold for this user: the user's own, and those for all users. */
  user_id?: number
  country?: string
  origin?: PauseOrigin
  active?: 'true' | 'false'
}

/**
 * A page of pauses, newest first, by id. The active ones are few, and among any number that have ended: an index has them, and
 * they are sorted. The others are read in their order, up to a bound.
 */
export function listPauses(
  db: Database,
  filter: PauseFilter,
  { after = MAX_INTEGER, size, now, maxScanned = MAX_SCANNED }: Page<number>,
): Promise<Slice<Pause, number>> {
  const values: SqlValue[] = [after]
  const isActive = filter.active === 'true'
  const scanned = isActive ? activePauses(values, now) : sql`${IN_ORDER} limit ${bind(values, maxScanned)}`
  // Materialized, so that the planner does not look for the few active ones in the order of all.
  const text = sql`with scanned as materialized (${scanned}) select ${PAUSE_COLUMNS} from scanned where ${whereClauseOf(filter, values, now)}
    order by id desc limit ${bind(values, size + 1)}`
  const end = {
    text: sql`select id from pause where shard = ${SHARD} and id < $1 order by id desc offset $2 limit 2`,
    values: [after, maxScanned - 1],
  }
  const scan = { page: { text, values }, keyOf: ({ id }: Pause) => id }
  return isActive ? readPage(db, size, scan, null) : readPage(db, size, { ...scan, end })
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

function whereClauseOf(filter: PauseFilter, values: SqlValue[], now: EpochMs): Sql {
  const { user_id, country, origin, active, ...none } = filter
  none satisfies Record<string, never>
  const conditions: Sql[] = []
  if (user_id !== undefined) conditions.push(sql`(user_id = ${bind(values, user_id)} or user_id is null)`)
  if (country !== undefined) conditions.push(sql`country = ${bind(values, country)}`)
  if (origin !== undefined) conditions.push(sql`origin = ${bind(values, origin)}`)
  if (active === 'false') conditions.push(sql`not (${activeAt(bind(values, timestampParam(now)))})`)
  return allOf(conditions)
}
