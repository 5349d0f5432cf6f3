/** A fill without indexes: to build one of all rows at the end costs a fraction of one change of it per row. */
import type pg from 'pg'
import { sql } from '../connection/sql.ts'

/** Statements that drop an index and make it again, as the catalog words them. */
interface Rebuilding {
  readonly dropping: string
  readonly making: string
}

/**
 * The indexes of the tables, and their keys, except those that a foreign key of another table needs. The names are quoted by the
 * server.
 */
const INDEXES = sql`select
    case when c.oid is null then format('drop index %s', i.indexrelid::regclass)
      else format('alter table %s drop constraint %I', i.indrelid::regclass, c.conname) end as dropping,
    case when c.oid is null then pg_get_indexdef(i.indexrelid)
      else format('alter table %s add constraint %I %s', i.indrelid::regclass, c.conname, pg_get_constraintdef(c.oid)) end as making
  from pg_index i left join pg_constraint c on c.conindid = i.indexrelid and c.conrelid = i.indrelid and c.contype in ('p', 'u')
  where i.indrelid = any($1::regclass[])
    and not exists (select from pg_constraint f where f.conindid = i.indexrelid and f.contype = 'f')
  order by i.indexrelid`

/** Memory of a build, which is one at a time. A build of more rows goes on with files. */
const BUILD_MEMORY = '256MB'

/** Does `fill` in the transaction of `client` while the tables have no indexes. */
export async function withoutIndexes(
  client: pg.Client,
  tables: readonly string[],
  fill: () => Promise<void>,
): Promise<void> {
  const { rows } = await client.query<Rebuilding>(INDEXES, [tables])
  for (const { dropping } of rows) await client.query(dropping)
  await fill()
  await client.query(`set local maintenance_work_mem = '${BUILD_MEMORY}'`)
  for (const { making } of rows) await client.query(making)
}
