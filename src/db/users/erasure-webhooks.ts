import type { Database } from '../connection/database.ts'
import { joinSql, type Sql, sql } from '../connection/sql.ts'
import type { ErasureKey } from './erasure.ts'
import { page, type TAKEN } from './erasure-pages.ts'

/** SQL: whether a webhook as the API showed it, `column`, names the user of `$1`, as `{"id": …}`. */
const namesUser = (column: Sql) => sql`${column} -> 'user_ids' @> ($1::jsonb -> 'id')`

/** SQL: the same webhook without the user. Of immutable functions alone: Citus takes no others in a `case`. */
const withoutUser = (column: Sql) => sql`case when ${namesUser(column)}
  then jsonb_set(${column}, '{user_ids}', jsonb_path_query_array(${column}, '$.user_ids[*] ? (@ != $id)', $1::jsonb))
  else ${column} end`
const SHOWN = [sql`before`, sql`after`]

/**
 * Takes the user out of the webhooks that receive only some users' events, and out of their history. If no user is left, such a webhook
 * receives nothing.
 */
export function eraseFromWebhooks(db: Database, erasure: ErasureKey): Promise<true | typeof TAKEN> {
  return page(db, erasure, async tx => {
    const changed = await tx.query({
      text: sql`update webhook set user_ids = array_remove(user_ids, $1) where $1 = any(user_ids) returning 1`,
      values: [erasure.user_id],
    })
    const records = await tx.query({
      text: sql`update webhook_change set ${joinSql(SHOWN.map(column => sql`${column} = ${withoutUser(column)}`))}
             where ${joinSql(SHOWN.map(namesUser), sql` or `)} returning 1`,
      values: [JSON.stringify({ id: erasure.user_id })],
    })
    return { removed: { webhook: changed.length, webhook_change: records.length }, result: true }
  })
}
