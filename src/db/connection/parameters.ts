import type { SqlValue } from './database.ts'
import { type Sql, sql, sqlInteger } from './sql.ts'

/** Adds a parameter to a statement that is put together from parts, and returns its name (`$3`). */
export function bind(values: SqlValue[], value: SqlValue): Sql {
  values.push(value)
  return sql`$${sqlInteger(values.length)}`
}
