/** Numbers of new rows, which come from sequences. */
import type { Database } from './database.ts'
import { violatedUnique } from './errors.ts'
import { type Sql, sql } from './sql.ts'

/** The tables that are numbered, by the key that a number violates which is taken. Each has a sequence of its own. */
const NUMBERED: ReadonlyMap<string | undefined, Sql> = new Map([
  ['quota_pkey', sql`quota`],
  ['webhook_pkey', sql`webhook`],
])

const ATTEMPTS = 3

/**
 * Runs a change that takes numbers for new rows. If one of them is taken, the sequence goes on behind the highest number, and
 * the change runs again. The coordinator of a cluster may give numbers again after a crash: commits on other nodes do not
 * write its log to the disk.
 */
export async function withNumbers<T>(db: Pick<Database, 'query'>, change: () => Promise<T>): Promise<T> {
  for (let n = 1; ; n++) {
    try {
      return await change()
    } catch (error) {
      const table = NUMBERED.get(violatedUnique(error))
      if (table === undefined || n === ATTEMPTS) throw error
      await advance(db, table)
    }
  }
}

/**
 * An id is its number × 64 + shard. Two partial indexes have the highest ids. The numbers up to it are taken one by one, since a
 * role that may only take numbers cannot set the sequence. What is taken stays taken: if the statement is cut off, the next call goes
 * on from there.
 */
async function advance(db: Pick<Database, 'query'>, table: Sql): Promise<void> {
  const highest = (state: Sql) => sql`(select max(id) from ${table} where deleted_at is ${state}) / 64`
  const [row] = await db.query<{ number: number }>({
    text: sql`select coalesce(greatest(${highest(sql`null`)}, ${highest(sql`not null`)}), 1) as number`,
  })
  await db.query({
    text: sql`select max(nextval('${table}_number')) from generate_series(nextval('${table}_number') + 1, $1::bigint)`,
    values: [row?.number ?? 1],
  })
}
