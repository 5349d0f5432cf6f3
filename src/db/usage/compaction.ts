import type { Shard } from '../../domain/basics/shard.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import type { Database, SqlValue, Transaction } from '../connection/database.ts'
import { isDataError } from '../connection/errors.ts'
import { joinSql, type Sql, sql, sqlInteger, sqlName } from '../connection/sql.ts'
import { BY_KEYS } from '../connection/transaction-settings.ts'
import { timestampParam } from '../connection/values.ts'
import { additionsTo, columnsOf, DIMENSIONS, sumsOf, TOTAL_COUNTS, USAGE_COUNTS } from './columns.ts'
import { usersFrom, walk } from './maintenance.ts'

/** Rows that are compacted at a time. Each page is a short transaction. */
export const COMPACTION_PAGE = 2_000

/** The table that rows are compacted into: days from quarters of an hour, months from days. */
export type Level = 'day' | 'month'

const TABLES = {
  day: { from: 'usage', to: 'usage_day' },
  month: { from: 'usage_day', to: 'usage_month' },
} as const

/** The codes of `usage_total.span`. */
const SPANS = { day: { from: 0, to: 1 }, month: { from: 1, to: 2 } }

/** The codes of all dimensions, as the elements of an array. */
const ALL_DIMENSIONS = joinSql(Object.values(DIMENSIONS).map(sqlInteger), sql`,`)

/** The beginning of the oldest usage that is to be compacted: of users, or in the totals; null if there is none. */
export async function oldestUsage(db: Database, level: Level, before: EpochMs): Promise<EpochMs | null> {
  const values = [timestampParam(before)]
  // Statements of their own: in a cluster, only the first table is in shards.
  const [users] = await db.query<Oldest>({
    name: `oldest-${TABLES[level].from}`,
    text: sql`select min(bucket) as oldest from ${sqlName(TABLES[level].from)} where bucket < $1`,
    values,
  })
  const [totals] = await db.query<Oldest>({
    name: `oldest-total-${level}`,
    text: sql`select min(t.bucket) as oldest
      from unnest('{${ALL_DIMENSIONS}}'::smallint[]) d (dimension), lateral (
        select bucket from usage_total u where u.span = ${sqlInteger(SPANS[level].from)} and u.dimension = d.dimension and u.bucket < $1
        order by u.bucket fetch first 1 row only) t`,
    values,
  })
  const found = [users, totals].flatMap(row => row?.oldest ?? [])
  return found.length === 0 ? null : Math.min(...found)
}

interface Oldest {
  oldest: EpochMs | null
}

/**
 * SQL: a row is in one of the periods that begin at `starts`. Another process may add older rows after the oldest one was looked up;
 * they are left to the next step.
 */
const isIn = (starts: Sql) => sql`bucket >= (${starts}::timestamptz[])[1]`

/** The beginning of the period that a row belongs to, of the periods that begin at `starts`. */
const periodOf = (starts: Sql) => sql`(${starts}::timestamptz[])[width_bucket(bucket, ${starts}::timestamptz[])]`

/**
 * Deletes a page of the users' rows before `$3` and adds what the deletion returned. A row that the rollup changes
 * meanwhile is left to the next walk. In the order of keys, so that no two processes can deadlock.
 */
function moveStatement(level: Level): Sql {
  const [from, to] = [sqlName(TABLES[level].from), sqlName(TABLES[level].to)]
  return sql`
    with page as materialized (
      select r.user_id, r.place from unnest($2::bigint[]) k (user_id), lateral (
        select u.user_id, u.ctid as place from ${from} u
        where u.shard = $1 and u.user_id = k.user_id and u.bucket < $3 and u.${isIn(sql`$4`)} order by u.bucket limit $5
      ) r limit $5
    ), taken as (
      delete from ${from} where shard = $1 and ctid = any (array(select place from page)) returning *
    ), moved as (
      insert into ${to} (shard, user_id, bucket, quota_id, country, message_type, ${columnsOf(USAGE_COUNTS)})
      select shard, user_id, ${periodOf(sql`$4`)}, quota_id, country, message_type, ${sumsOf(USAGE_COUNTS)}
      from taken group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6
      on conflict (shard, user_id, bucket, quota_id, country, message_type) do update
      set ${additionsTo(to, USAGE_COUNTS)}
      returning bucket
    )
    select (select count(*) from page) as rows, (select max(user_id) from page) as last,
      array(select distinct bucket from moved order by bucket) as periods`
}

const MOVE = { day: moveStatement('day'), month: moveStatement('month') }

/** `moveStatement` in a cluster, which inserts nothing in a part of a statement: the rows are locked, added and deleted. */
function moveInCluster(level: Level) {
  const [from, to] = [sqlName(TABLES[level].from), sqlName(TABLES[level].to)]
  const isOnPage = sql`shard = $2 and ctid = any($1::text[]::tid[])`
  return {
    page: sql`select r.user_id, r.place::text from unnest($2::bigint[]) k (user_id), lateral (
        select u.user_id, u.ctid as place from ${from} u
        where u.shard = $1 and u.user_id = k.user_id and u.bucket < $3 and u.${isIn(sql`$4`)} order by u.bucket limit $5 for update
      ) r limit $5`,
    add: sql`insert into ${to} (shard, user_id, bucket, quota_id, country, message_type, ${columnsOf(USAGE_COUNTS)})
      select shard, user_id, ${periodOf(sql`$3`)}, quota_id, country, message_type, ${sumsOf(USAGE_COUNTS)}
      from ${from} where ${isOnPage} group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6
      on conflict (shard, user_id, bucket, quota_id, country, message_type) do update
      set ${additionsTo(to, USAGE_COUNTS)}
      returning bucket`,
    remove: sql`delete from ${from} where ${isOnPage}`,
  }
}

const MOVE_IN_CLUSTER = { day: moveInCluster('day'), month: moveInCluster('month') }

/** A busy user's sums hold only as long as the rows that they repeat. */
const FORGET_SUMS = {
  'forget-busy-usage': sql`delete from usage_busy where shard = $1 and user_id = any ($2::bigint[]) and bucket < $3`,
  'shorten-busy-range': sql`update usage_busy_range set since = greatest(since, $3), until = greatest(until, $3)
    where shard = $1 and user_id = any ($2::bigint[]) and since < $3`,
}

/** Rows of a user that PostgreSQL refuses to add up. Nothing was changed. */
export class UnusableUsage extends Error {
  override name = 'UnusableUsage'
  readonly userId: number

  constructor(userId: number, cause: unknown) {
    super(`user ${userId}: ${cause}`, { cause })
    this.userId = userId
  }
}

export interface CompactionStep {
  level: Level
  /** Usage before it is compacted. */
  before: EpochMs
  /** The beginnings of the days or months from the oldest usage to `before`, ascending. */
  starts: readonly EpochMs[]
}

/**
 * Compacts a page of a shard's users: what lies before the beginning of a day or month.
 *
 * @param rows the most rows to move
 * @param skipped users whose usage is left as it is
 * @returns the rows that were moved, and whether the shard has more
 * @throws UnusableUsage if the page was a single row and PostgreSQL refuses what it holds
 */
export async function compactUsers(
  db: Database,
  shard: Shard,
  step: CompactionStep,
  rows: number,
  skipped: ReadonlySet<number>,
): Promise<{ rows: number; hasMore: boolean }> {
  const { level, before } = step
  const { from: table } = TABLES[level]
  let users: number[] = []
  let moved = 0
  try {
    const hasMore = await walk(db, shard, level, before, async (tx, first, until) => {
      const found = await usersFrom(tx, shard, table, first)
      users = found.users.filter(user => !skipped.has(user))
      const page = await movePage(tx, shard, users, until, step, rows)
      moved = page.rows
      // A full page may end within a user.
      if (page.last !== null && page.rows >= rows) return page.last
      const last = found.users.at(-1)
      return found.isLast || last === undefined ? null : last + 1
    })
    return { rows: moved, hasMore }
  } catch (error) {
    if (!isDataError(error) || rows > 1) throw error
    const user = await firstUserBefore(db, shard, table, users, before)
    throw user === undefined ? error : new UnusableUsage(user, error)
  }
}

interface MovedPage {
  rows: number
  last: number | null
  periods: EpochMs[]
}

async function movePage(
  tx: Transaction,
  shard: Shard,
  users: readonly number[],
  until: EpochMs,
  step: CompactionStep,
  rows: number,
): Promise<MovedPage> {
  const keys = [shard, users, timestampParam(until)]
  if (step.level === 'day') {
    for (const [name, text] of Object.entries(FORGET_SUMS)) await tx.query({ name, text, values: keys })
  }
  const values = [...keys, startsOf(step), rows]
  const page = tx.isCluster ? await moveByParts(tx, step, values) : await moveAtOnce(tx, step, values)
  await addPeriods(tx, step, page.periods)
  return page
}

async function moveAtOnce(tx: Transaction, { level }: CompactionStep, values: readonly SqlValue[]): Promise<MovedPage> {
  const [page] = await tx.query<MovedPage>({ name: `compact-${level}`, text: MOVE[level], values })
  if (page === undefined) throw new Error('the database returned no row')
  return page
}

async function moveByParts(tx: Transaction, step: CompactionStep, values: readonly SqlValue[]): Promise<MovedPage> {
  // Without a period there are no rows, and Citus fails on a condition that nothing fulfills.
  if (step.starts.length === 0) return { rows: 0, last: null, periods: [] }
  const { page, add, remove } = MOVE_IN_CLUSTER[step.level]
  const rows = await tx.query<{ user_id: number; place: string }>({ text: page, values })
  const periods = await moveRows(tx, { add, remove }, rows, [values[0] ?? null], [startsOf(step)])
  return {
    rows: rows.length,
    last: rows.length === 0 ? null : Math.max(...rows.map(({ user_id }) => user_id)),
    periods,
  }
}

/** Adds rows and deletes them. Returns the periods that they went to. */
async function moveRows(
  tx: Transaction,
  { add, remove }: { add: Sql; remove: Sql },
  rows: readonly { place: string }[],
  where: readonly SqlValue[],
  how: readonly SqlValue[],
): Promise<EpochMs[]> {
  if (rows.length === 0) return []
  const values = [rows.map(({ place }) => place), ...where]
  const added = await tx.query<{ bucket: EpochMs }>({ text: add, values: [...values, ...how] })
  await tx.query({ text: remove, values })
  return [...new Set(added.map(({ bucket }) => bucket))].sort((one, other) => one - other)
}

const startsOf = ({ starts }: CompactionStep) => starts.map(start => timestampParam(start))

/** Notes days or months, so that reports know what they cannot divide. */
const ADD_PERIODS = sql`
  insert into usage_period (bucket, until) select * from unnest($1::timestamptz[], $2::timestamptz[])
  on conflict do nothing`

async function addPeriods(tx: Transaction, { starts, before }: CompactionStep, periods: readonly EpochMs[]) {
  if (periods.length === 0) return
  const ends = periods.map(period => starts.find(start => start > period) ?? before)
  await tx.query({
    name: 'add-usage-periods',
    text: ADD_PERIODS,
    values: [periods.map(at => timestampParam(at)), ends.map(at => timestampParam(at))],
  })
}

async function firstUserBefore(
  db: Database,
  shard: Shard,
  table: string,
  users: readonly number[],
  before: EpochMs,
): Promise<number | undefined> {
  const rows = await db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    return tx.query<{ user_id: number }>({
      text: sql`select k.user_id from unnest($2::bigint[]) with ordinality k (user_id, place), lateral (
          select from ${sqlName(table)} u where u.shard = $1 and u.user_id = k.user_id and u.bucket < $3 limit 1
        ) r order by place limit 1`,
      values: [shard, users, timestampParam(before)],
    })
  })
  return rows[0]?.user_id
}

/** Moves a page of the totals of all users. It skips rows that another process moves. */
const MOVE_TOTALS = sql`
  with page as materialized (
    select ctid as place from usage_total
    where span = $1 and dimension = any ('{${ALL_DIMENSIONS}}') and bucket < $3 and ${isIn(sql`$4`)}
    limit $5 for update skip locked
  ), taken as (
    delete from usage_total where span = $1 and ctid = any (array(select place from page)) returning *
  ), moved as (
    insert into usage_total (span, dimension, bucket, key, ${columnsOf(TOTAL_COUNTS)})
    select $2::smallint, dimension, ${periodOf(sql`$4`)}, key, ${sumsOf(TOTAL_COUNTS)}
    from taken group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (span, dimension, bucket, key) do update set ${additionsTo(sql`usage_total`, TOTAL_COUNTS)}
    returning bucket
  )
  select (select count(*) from page) as rows, array(select distinct bucket from moved order by bucket) as periods`

const MOVE_TOTALS_IN_CLUSTER = {
  page: sql`select ctid::text as place from usage_total
    where span = $1 and dimension = any ('{${ALL_DIMENSIONS}}') and bucket < $2 and ${isIn(sql`$3`)}
    limit $4 for update skip locked`,
  add: sql`insert into usage_total (span, dimension, bucket, key, ${columnsOf(TOTAL_COUNTS)})
    select $2::smallint, dimension, ${periodOf(sql`$3`)}, key, ${sumsOf(TOTAL_COUNTS)}
    from usage_total where ctid = any($1::text[]::tid[]) group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (span, dimension, bucket, key) do update set ${additionsTo(sql`usage_total`, TOTAL_COUNTS)}
    returning bucket`,
  remove: sql`delete from usage_total where ctid = any($1::text[]::tid[])`,
}

type MovedTotals = Omit<MovedPage, 'last'>

/** Compacts a page of the totals of all users. @returns the rows that were moved */
export function compactTotals(db: Database, step: CompactionStep, rows: number): Promise<number> {
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    const page = tx.isCluster ? await totalsByParts(tx, step, rows) : await totalsAtOnce(tx, step, rows)
    await addPeriods(tx, step, page.periods)
    return page.rows
  })
}

async function totalsAtOnce(tx: Transaction, step: CompactionStep, rows: number): Promise<MovedTotals> {
  const { from, to } = SPANS[step.level]
  const [page] = await tx.query<MovedTotals>({
    name: 'compact-totals',
    text: MOVE_TOTALS,
    values: [from, to, timestampParam(step.before), startsOf(step), rows],
  })
  if (page === undefined) throw new Error('the database returned no row')
  return page
}

async function totalsByParts(tx: Transaction, step: CompactionStep, limit: number): Promise<MovedTotals> {
  const { from, to } = SPANS[step.level]
  const { page, add, remove } = MOVE_TOTALS_IN_CLUSTER
  const values = [from, timestampParam(step.before), startsOf(step), limit]
  const rows = await tx.query<{ place: string }>({ text: page, values })
  return { rows: rows.length, periods: await moveRows(tx, { add, remove }, rows, [], [to, startsOf(step)]) }
}
