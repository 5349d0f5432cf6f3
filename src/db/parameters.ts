import type { SqlValue } from './database.ts'

/** Adds a parameter to a statement that is put together from parts, and returns its name (`$3`). */
export function bind(values: SqlValue[], value: SqlValue): string {
  values.push(value)
  return `$${values.length}`
}
