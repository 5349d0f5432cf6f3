import { timeZoneName } from '../../domain/time/window.ts'
import type { Database } from '../connection/database.ts'
import { isStatementTimeout } from '../connection/errors.ts'
import { joinSql, type Sql, sql, sqlName, sqlText } from '../connection/sql.ts'
import type { Conclusion } from './proof.ts'

/** A column whose values the service must be able to read: a time, a number, or the name of a time zone. */
interface Column {
  table: string
  column: string
  kind: 'time' | 'number' | 'zone'
  /** The tables' columns that say whose a row is. */
  owners: readonly string[]
}

/** Hashes, and sums of usage, which reports bound. */
const isUnbounded = ({ table, column }: Column) =>
  column === 'value_key' || (table.startsWith('usage') && !/_id$/.test(column))
/** Times that may be infinite: where a job has got to, of which the beginning is before all times, and the end of what has none. */
const INFINITE: Readonly<Record<string, '-infinity' | 'infinity'>> = {
  'sweeper_watermark.closed_until': '-infinity',
  'shard_head.expired_until': '-infinity',
  'usage_upkeep.until': '-infinity',
  'quota_alert.ends_at': 'infinity',
}

/** The columns of all tables that have a shard: none is left out that a later migration adds. */
export function readableColumns(db: Database): Promise<Column[]> {
  return db.query<Column>({
    text: sql`select c.relname as "table", a.attname as "column",
        case when a.attname = 'time_zone' then 'zone' when a.atttypid = 'bigint'::regtype then 'number' else 'time' end as kind,
        array(select o.attname::text from pg_attribute o where o.attrelid = c.oid and o.attname in ('user_id', 'quota_id')
          and o.atttypid = 'bigint'::regtype) as owners
      from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where c.relkind = 'r' and not c.relispartition
        and c.relnamespace = (select relnamespace from pg_class where oid = to_regclass('account'))
        and (a.atttypid in ('timestamptz'::regtype, 'bigint'::regtype) or a.attname = 'time_zone')
        and exists (select from pg_attribute s where s.attrelid = c.oid and s.attname = 'shard' and s.atttypid = 'smallint'::regtype)
      order by 1, 2`,
  })
}

interface Found {
  column: string
  value: string
  user_id: number | null
  quota_id: number | null
}

type Read = <Row extends object>(statement: { text: Sql; values: [number[], number] }) => Promise<Row[]>

/**
 * The service can read each value: times are finite, numbers are exact in JavaScript, and time zones are known. What takes too long at once
 * is walked by tables, and those by shards. Not provable: tables with more rows of a shard than can be read in time.
 */
export async function checkReadable(
  shards: readonly number[],
  columns: readonly Column[],
  max: number,
  read: Read,
): Promise<Conclusion[]> {
  const byTable = Map.groupBy(columns, ({ table }) => table)
  const conclusion: Conclusion = { proof: 'readable', checked: 0, not_provable: 0, differences: [] }
  try {
    const found = await read<Found>({ text: statementOf([...byTable.values()]), values: [[...shards], max] })
    return [{ ...conclusion, checked: columns.length * shards.length, differences: found.flatMap(differenceOf) }]
  } catch (error) {
    if (!isStatementTimeout(error)) throw error
  }
  if (byTable.size === 1 && shards.length === 1) return [{ ...conclusion, not_provable: 1 }]
  const parts: [readonly number[], readonly Column[]][] =
    byTable.size > 1 ? [...byTable.values()].map(some => [shards, some]) : shards.map(shard => [[shard], columns])
  const found: Conclusion[] = []
  for (const [someShards, someColumns] of parts)
    found.push(...(await checkReadable(someShards, someColumns, max, read)))
  return found
}

/** The values of shards that cannot be read, and each time zone once: only the domain knows whether it is one. */
function statementOf(tables: readonly (readonly Column[])[]): Sql {
  const values = tables.flatMap(columns => [...partsOf(columns)])
  return joinSql(values, sql` union all `)
}

function* partsOf(columns: readonly Column[]): Generator<Sql> {
  const [first] = columns
  if (first === undefined) return
  const { table, owners } = first
  const owner = (name: string) => (owners.includes(name) ? sqlName(name) : sql`null::bigint`)
  const wrong = columns.flatMap(one =>
    one.kind === 'zone' || (one.kind === 'number' && isUnbounded(one)) ? [] : [{ name: one.column, is: wrongIn(one) }],
  )
  const row = (column: Sql, value: Sql) =>
    sql`select ${column} as "column", ${value} as value, ${owner('user_id')} as user_id, ${owner('quota_id')} as quota_id
      from ${sqlName(table)} where shard = any($1::smallint[])`
  const shown = ({ name }: { name: string }) => sqlText(`${table}.${name}`)
  const named = wrong.map(one => sql`when ${one.is} then ${shown(one)}`)
  const valued = wrong.map(one => sql`when ${one.is} then ${sqlName(one.name)}::text`)
  if (wrong.length > 0)
    yield sql`(${row(sql`case ${joinSql(named, sql` `)} end`, sql`case ${joinSql(valued, sql` `)} end`)}
      and (${joinSql(
        wrong.map(({ is }) => is),
        sql` or `,
      )}) limit $2)`
  for (const { column, kind } of columns)
    if (kind === 'zone')
      yield sql`(select ${sqlText(`${table}.${column}`)}, ${sqlName(column)}, min(${owner('user_id')}), min(${owner('quota_id')})
        from ${sqlName(table)} where shard = any($1::smallint[]) and ${sqlName(column)} is not null group by ${sqlName(column)})`
}

function wrongIn({ table, column, kind }: Column): Sql {
  const name = sqlName(column)
  if (kind === 'number') return sql`abs(${name}::numeric) > 9007199254740991`
  const lawful = INFINITE[`${table}.${column}`]
  return sql`not isfinite(${name})${lawful === undefined ? sql`` : sql` and ${name} <> ${sqlText(lawful)}`}`
}

function differenceOf({ column, value, user_id, quota_id }: Found) {
  const isZone = column.endsWith('.time_zone')
  if (isZone && timeZoneName(value) !== null) return []
  const what = isZone
    ? `${JSON.stringify(value)}, which is no time zone that is known here`
    : `${value}, which the service cannot read`
  const whose = user_id === null ? 'a row' : `a row of user ${user_id}`
  return [{ user_id, quota_id, message: `${column} of ${whose} is ${what}.` }]
}
