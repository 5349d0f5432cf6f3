import type { Database } from '../connection/database.ts'
import { joinSql, type Sql, sql } from '../connection/sql.ts'
import type { ErasureKey } from './erasure.ts'
import { page, type TAKEN } from './erasure-pages.ts'

/** SQL: a webhook as the API showed it, `column`, without the user. */
const withoutUser = (
  column: Sql,
) => sql`case when ${column} -> 'user_ids' @> to_jsonb($1::bigint) then jsonb_set(${column}, '{user_ids}',
  (select coalesce(jsonb_agg(id), '[]') from jsonb_array_elements(${column} -> 'user_ids') id where id <> to_jsonb($1::bigint)))
  else ${column} end`
const SHOWN = [sql`before`, sql`after`]

/**
 * Takes the user out of the webhooks that receive only some users' events, and out of their history. If no user is left, such a webhook
 * receives nothing.
 */
export function eraseFromWebhooks(db: Database, erasure: ErasureKey): Promise<true | typeof TAKEN> {
  const values = [erasure.user_id]
  return page(db, erasure, async tx => {
    const changed = await tx.query({
      text: sql`update webhook set user_ids = array_remove(user_ids, $1) where $1 = any(user_ids) returning 1`,
      values,
    })
    const names = SHOWN.map(column => sql`${column} -> 'user_ids' @> to_jsonb($1::bigint)`)
    const records = await tx.query({
      text: sql`update webhook_change set ${joinSql(SHOWN.map(column => sql`${column} = ${withoutUser(column)}`))}
             where ${joinSql(names, sql` or `)} returning 1`,
      values,
    })
    return { removed: { webhook: changed.length, webhook_change: records.length }, result: true }
  })
}
