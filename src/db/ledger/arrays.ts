import { type EpochMs, formatTimestampOrNull } from '../../domain/time.ts'

/** Arrays as PostgreSQL reads them. */
export function numbers<Row>(rows: readonly Row[], of: (row: Row) => number | null): string {
  let list = ''
  for (const row of rows) list += `${list === '' ? '' : ','}${of(row) ?? 'null'}`
  return `{${list}}`
}

/** For texts that need no escapes: none of ours holds a quote or a backslash. */
export function texts<Row>(rows: readonly Row[], of: (row: Row) => string | null): string {
  let list = ''
  for (const row of rows) {
    const value = of(row)
    list += `${list === '' ? '' : ','}${value === null ? 'null' : `"${value}"`}`
  }
  return `{${list}}`
}

/** Objects, as text that is to be cast to jsonb. */
export function jsons<Row>(rows: readonly Row[], of: (row: Row) => object): string {
  return texts(rows, row => JSON.stringify(of(row)).replace(/[\\"]/g, '\\$&'))
}

export function timestamps<Row>(rows: readonly Row[], of: (row: Row) => EpochMs | null): string {
  return texts(rows, row => formatTimestampOrNull(of(row)))
}
