import { type EpochMs, formatTimestamp } from '../../domain/time/time.ts'
import type { StatementCall } from '../connection/pipelined-connection.ts'
import { joinSql, type Sql, sql, sqlInteger, sqlName } from '../connection/sql.ts'
import type { ArrayColumn } from './arrays.ts'

/** The time of a batch's decisions, which all its statements share. */
export interface Scope {
  readonly now: EpochMs
}

/** A call with its SQL, for connections that have not prepared it. */
export interface LedgerCall extends StatementCall {
  readonly text: Sql
}

/**
 * A statement of the engine. It takes its rows as arrays, so that a batch is one statement per table however many commands
 * it holds. Each row carries its shard and is found by the whole primary key: the plan is the same, however little PostgreSQL
 * knows of the table's size, and a batch may hold users of all shards. Callers sort the rows by user and id: unsorted ones
 * deadlocked.
 */
export interface LedgerStatement<Row> {
  /** The name of the prepared statement. */
  readonly name: string
  readonly text: Sql
  call(scope: Scope, rows: readonly Row[]): LedgerCall
}

/** A single value that is bound behind the arrays. */
export type Scalar = (rows: readonly unknown[], now: EpochMs) => string

export const NOW: Scalar = (_, now) => formatTimestamp(now)
/** The number of rows. */
export const COUNT: Scalar = rows => String(rows.length)

/** The parameters as the text of a statement refers to them: no number of one is written by hand. */
export interface Parameters {
  /** The columns' names. */
  readonly names: Sql
  /** The arrays with their types. */
  readonly arrays: Sql
  /** The rows as a table `k` with the columns' names. */
  readonly k: Sql
  /** The select list and the table `k` of an insert, which costs PostgreSQL less than `k`: no tuple store for each array. */
  readonly values: Sql
  readonly rows: Sql
  /** The array of the rows' shards. */
  readonly shards: Sql
  /** Binds a single value. */
  bind(scalar: Scalar): Sql
}

/** Makes a statement from its columns, which are bound in their order, and its SQL. */
export function ledgerStatement<Row>(
  name: string,
  columns: Readonly<Record<string, ArrayColumn<Row>>>,
  write: (parameters: Parameters) => Sql,
): LedgerStatement<Row> {
  const parts = Object.entries(columns).map(([key, { type, elementType, usual }], index) => {
    const column = sqlName(key)
    const cell = elementType === undefined ? sql`k.${column}` : sql`k.${column}::${elementType}`
    return {
      key,
      column,
      array: sql`$${sqlInteger(index + 1)}::${type}[]`,
      value: usual === undefined ? cell : sql`coalesce(${cell}, ${usual})`,
    }
  })
  const names = joinSql(parts.map(({ column }) => column))
  const arrays = joinSql(parts.map(({ array }) => array))
  const writers = Object.values(columns)
  const hasUsual = writers.some(({ usual }) => usual !== undefined)
  const unnested = sql`unnest(${arrays}) k (${names})`
  const scalars: Scalar[] = []
  const text = write({
    names,
    arrays,
    shards: parts.find(({ key }) => key === 'shard')?.array ?? sql``,
    k: hasUsual
      ? sql`(select ${joinSql(parts.map(({ value, column }) => sql`${value} as ${column}`))} from ${unnested}) k`
      : unnested,
    values: joinSql(parts.map(({ value }) => value)),
    rows: sql`(select ${joinSql(parts.map(({ array, column }) => sql`unnest(${array}) as ${column}`))}) k`,
    bind(scalar) {
      if (!scalars.includes(scalar)) scalars.push(scalar)
      return sql`$${sqlInteger(parts.length + 1 + scalars.indexOf(scalar))}`
    },
  })
  return {
    name,
    text,
    call({ now }, rows) {
      const values: (string | Buffer)[] = writers.map(column => column.write(rows))
      for (const scalar of scalars) values.push(scalar(rows, now))
      return { name, text, values }
    },
  }
}

/**
 * An update that fails unless it writes every row: if another process has written one of them, and so given it another
 * `seq`, the division by zero ends the transaction.
 */
export function guardedUpdate<Row>(
  name: string,
  columns: Readonly<Record<string, ArrayColumn<Row>>>,
  update: (parameters: Parameters) => Sql,
): LedgerStatement<Row> {
  return ledgerStatement(
    name,
    columns,
    parameters => sql`with written as (${update(parameters)} returning 1)
      select 1 / ((select count(*) from written) = ${parameters.bind(COUNT)}::int)::int`,
  )
}
