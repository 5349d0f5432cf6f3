/** Whether anything in the database has changed. */
import type { Database } from '../../../src/db/connection/database.ts'
import { sql } from '../../../src/db/connection/sql.ts'
import { rawSql } from '../sql.ts'

/** Note who called, with any answer; nothing is decided by them. */
const EXCEPT = ['principal', 'principal_name']

/** Its rows are locked by a write that leaves them as they are: what they hold is compared. */
const LOCKED_BY_WRITES = 'account'

/**
 * A function that reads the state of all tables, as a text that differs after any change: an insert or an update leaves a row
 * of a later transaction, a removal fewer rows. Only what happens one after the other is compared like this.
 */
export async function createStateReader(db: Database): Promise<() => Promise<string>> {
  const tables = await db.query<{ name: string }>({
    text: sql`select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
           and relname <> all($1) order by 1`,
    values: [EXCEPT],
  })
  const states = tables.map(({ name }) => {
    const content = name === LOCKED_BY_WRITES ? 'sum(hashtextextended(t::text, 0))' : 'max(xmin::text::bigint)'
    return `select '${name} ' || count(*) || '/' || coalesce(${content}, 0) as state from ${name} t`
  })
  const text = rawSql`select string_agg(state, ', ') as state from (${states.join(' union all ')}) s`
  return async () => {
    const [row] = await db.query<{ state: string }>({ name: 'fuzz-state', text })
    return row?.state ?? ''
  }
}

/** The tables that differ. */
export function differenceOf(before: string, after: string): string {
  const old = new Set(before.split(', '))
  return after
    .split(', ')
    .filter(table => !old.has(table))
    .join(', ')
}
