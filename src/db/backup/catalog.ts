/** The tables and sequences that a backup holds, as the database lists them. */
import pg from 'pg'
import { type Sql, sql, sqlName } from '../connection/sql.ts'
import type { TableBegin } from './records.ts'

/** The tables in which `migrate` keeps what it has applied. It fills them itself. */
const MIGRATION_TABLES = sql`('schema_migration', 'applied_migration')`

/** Settings that a text of COPY depends on, or that would end a long statement. They hold for the whole session. */
const SESSION = `set client_encoding = 'UTF8'; set datestyle = 'ISO, YMD'; set intervalstyle = 'postgres';
  set timezone = 'UTC'; set extra_float_digits = 1; set bytea_output = 'hex'; set statement_timeout = 0;
  set lock_timeout = 0; set idle_in_transaction_session_timeout = 0; set synchronous_commit = 'on'`

/** Does `work` on a connection of its own, whose statements may take as long as they need. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    fallback_application_name: 'sms-quota backup',
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  })
  // A lost connection fails the statement that runs; without a listener it would end the process.
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query(SESSION)
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}

/** The migrations that the database has, in order. Before the first that names the versions it serves, there is one table. */
export async function appliedMigrations(client: pg.Client): Promise<{ name: string; checksum: string }[]> {
  const select = (table: Sql) => sql`select number, name, checksum from ${table}`
  const { rows } = await client.query<{ made: boolean }>("select to_regclass('applied_migration') is not null as made")
  const all = rows[0]?.made
    ? sql`${select(sql`schema_migration`)} union all ${select(sql`applied_migration`)}`
    : select(sql`schema_migration`)
  return (
    await client.query<{ name: string; checksum: string }>(sql`select name, checksum from (${all}) m order by number`)
  ).rows
}

export const quoted = sqlName

/** Names tables and sequences in the schema of the service, wherever a session looks for names first. */
export async function qualifier(client: pg.Client): Promise<(name: string) => Sql> {
  const { rows } = await client.query<{ schema: string }>(
    `select nspname::text as schema from pg_namespace
      where oid = (select relnamespace from pg_class where oid = to_regclass('schema_migration'))`,
  )
  const [own] = rows
  if (own === undefined) throw new Error('the database has no schema of sms-quota')
  return name => sql`${quoted(own.schema)}.${quoted(name)}`
}

/** The names of the service's tables, none of them in a schema other than that of `schema_migration`. */
export async function tableNames(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    sql`select relname::text as name from pg_class
      where relnamespace = (select relnamespace from pg_class where oid = to_regclass('schema_migration'))
        and relkind in ('r', 'p') and not relispartition and relname not in ${MIGRATION_TABLES}
      order by relname`,
  )
  return rows.map(({ name }) => name)
}

/** Tables with the columns that are stored, in an order in which each follows those that its foreign keys name. */
export async function tablesInOrder(client: pg.Client): Promise<TableBegin[]> {
  const { rows } = await client.query<TableBegin & { follows: string[] }>(
    `select relname::text as "table",
        (select array_agg(attname::text order by attnum) from pg_attribute
          where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '') as columns,
        array(select distinct other.relname::text from pg_constraint k join pg_class other on other.oid = k.confrelid
          where k.conrelid = c.oid and k.contype = 'f' and other.oid <> c.oid) as follows
      from pg_class c where relname = any($1::text[])
        and relnamespace = (select relnamespace from pg_class where oid = to_regclass('schema_migration'))
      order by relname`,
    [await tableNames(client)],
  )
  const ordered: TableBegin[] = []
  const isDone = (name: string) => ordered.some(({ table }) => table === name)
  while (ordered.length < rows.length) {
    const next = rows.find(({ table, follows }) => !isDone(table) && follows.every(isDone))
    if (next === undefined) throw new Error('the foreign keys of the tables form a cycle')
    ordered.push({ table: next.table, columns: next.columns })
  }
  return ordered
}

/** The names of the service's sequences, in the schema of its tables. */
export async function sequenceNames(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select relname::text as name from pg_class
      where relnamespace = (select relnamespace from pg_class where oid = to_regclass('schema_migration'))
        and relkind = 'S' order by relname`,
  )
  return rows.map(({ name }) => name)
}

/**
 * The position of each sequence. Sequences never go back, so numbers in rows that were read before are not above it. A service
 * takes numbers only, which is no right to read the sequence as a table.
 */
export async function sequencePositions(client: pg.Client) {
  const { rows } = await client.query<{ name: string; readable: boolean; taken: string | null; first: string }>(
    `select relname::text as name, readable, case when readable then pg_sequence_last_value(oid) end as taken, seqstart as first
      from (select oid, relname, has_sequence_privilege(oid, 'usage, select') as readable from pg_class
        where relnamespace = (select relnamespace from pg_class where oid = to_regclass('schema_migration'))
          and relkind = 'S') own join pg_sequence on seqrelid = oid
      order by relname`,
  )
  return rows.map(({ name, readable, taken, first }) => {
    if (!readable) throw new Error(`the role may not read the sequence ${name}: make it the owner, or grant usage`)
    return { name, last_value: Number(taken ?? first), is_called: taken !== null }
  })
}
