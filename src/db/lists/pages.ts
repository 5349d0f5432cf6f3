/** Pages of lists. A list selects rows by its own SQL; here is what all of them do with that. */
import type { EpochMs } from '../../domain/time/time.ts'
import type { Database, Queryable, SqlValue } from '../connection/database.ts'
import { joinSql, type Sql, sql } from '../connection/sql.ts'
import { IN_INDEX_ORDER } from '../connection/transaction-settings.ts'

/** A page as callers ask for it: at most `size` rows behind a place of the list, which begins where there is none. */
export interface Page<Key> {
  after?: Key | undefined
  size: number
  now: EpochMs
  /** Rows that the page reads, at most, for those that its filters select. */
  maxScanned?: number
}

/** `maxScanned` of lists that name no other. */
export const MAX_SCANNED = 5_000

export interface Slice<Item, Key> {
  items: Item[]
  /** The place behind which the next page begins; null on the last. With one, a page may be short or even empty. */
  next: Key | null
}

/** Makes a slice of rows that were read with a limit of `size + 1`. */
export function cut<Row, Key>(rows: readonly Row[], size: number, keyOf: (row: Row) => Key): Slice<Row, Key> {
  const items = rows.slice(0, size)
  const last = items.at(-1)
  return { items, next: rows.length > size && last !== undefined ? keyOf(last) : null }
}

interface Statement {
  name?: string
  text: Sql
  values: SqlValue[]
}

/** The statements of a page. */
export interface Scan<Row, Key> {
  /** The rows, and one more if there are as many. */
  page: Statement
  keyOf(row: Row): Key
  /** What `keyOf` reads of the last row that is scanned, and of the one behind it. Left out: no more is scanned than shown. */
  end?: Statement | undefined
}

/**
 * Reads a page in one snapshot, so that the next page begins exactly where this scan ended.
 * @param settings of the transaction
 */
export function readPage<Row extends object, Key>(
  db: Pick<Database, 'transaction'>,
  size: number,
  scan: Scan<Row, Key>,
  settings: Sql | null = IN_INDEX_ORDER,
): Promise<Slice<Row, Key>> {
  return db.transaction(async tx => {
    if (settings !== null) await tx.query({ text: settings })
    return scanPage(tx, size, scan)
  }, 'snapshot')
}

export async function scanPage<Row extends object, Key>(
  tx: Queryable,
  size: number,
  { page, keyOf, end }: Scan<Row, Key>,
): Promise<Slice<Row, Key>> {
  const slice = cut(await tx.query<Row>(page), size, keyOf)
  if (slice.next !== null || end === undefined) return slice
  const [last, behind] = await tx.query<Row>(end)
  return { ...slice, next: last === undefined || behind === undefined ? null : keyOf(last) }
}

/** SQL: all conditions hold. */
export const allOf = (conditions: readonly Sql[]) =>
  conditions.length === 0 ? sql`true` : joinSql(conditions, sql` and `)
