/** Keeps a failure to the part of a job that it concerns: a shard, a user or a webhook. */
import { isUnavailable } from '../db/connection/database.ts'
import { concernsRows, isStatementTimeout } from '../db/connection/errors.ts'

/** The failures of a step whose other parts were done. */
export class PartsFailed extends AggregateError {
  override name = 'PartsFailed'
}

/**
 * Does the work of each item, one after the other, until the signal aborts. An item that fails does not keep the others
 * from their turn, unless the database is away: then the rest would fail too, each after its timeout.
 *
 * @throws PartsFailed after the last item, if some failed
 */
export async function forEachApart<Item>(
  items: Iterable<Item>,
  signal: AbortSignal | undefined,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = []
  for (const item of items) {
    if (signal?.aborted) break
    try {
      await work(item)
    } catch (error) {
      if (isUnavailable(error) && !concernsRows(error)) throw error
      failures.push(error)
    }
  }
  if (failures.length > 0) throw new PartsFailed(failures, `${failures.length} failed, the first: ${failures[0]}`)
}

/** A number of rows that a statement reads in time. */
export interface PageSize {
  /** Runs a statement over this many rows. If it takes too long, the next one gets half as many. */
  run<Result>(statement: (rows: number) => Promise<Result>): Promise<Result>
}

/** Begins with `max` rows. After a statement that was in time it grows again, to twice its size at a time. */
export function createPageSize(max: number): PageSize {
  let rows = max
  return {
    async run(statement) {
      try {
        const result = await statement(rows)
        rows = Math.min(max, rows * 2)
        return result
      } catch (error) {
        if (isStatementTimeout(error)) rows = Math.max(1, Math.floor(rows / 2))
        throw error
      }
    },
  }
}
