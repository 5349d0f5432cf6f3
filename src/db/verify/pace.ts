import { isStatementTimeout } from '../connection/database.ts'

/** Longest that a statement over more than one row of its size may run, in milliseconds. */
export const MAX_MS = 1_000
/** Sizes are adapted so that a statement takes about this long. */
const GOAL_MS = 300

/** How much each statement of a walk reads. It follows the time that statements take. */
export interface Pace {
  /** How many users, rows or numbers the next statement shall cover; 1 at least. */
  readonly size: number
  /**
   * Runs a statement of that size, which shall be ended after `maxMs`; 0 means no limit, because the size is 1. Undefined if
   * it was ended: the next size is then smaller.
   */
  run<T>(statement: (maxMs: number) => Promise<T>): Promise<T | undefined>
}

export function createPace(first: number, max: number): Pace {
  let size = first
  return {
    get size() {
      return size
    },
    async run(statement) {
      const startedAt = performance.now()
      try {
        const result = await statement(size === 1 ? 0 : MAX_MS)
        const tookMs = performance.now() - startedAt
        size = Math.ceil(Math.min(max, size * Math.min(2, Math.max(0.25, GOAL_MS / tookMs))))
        return result
      } catch (error) {
        if (size === 1 || !isStatementTimeout(error)) throw error
        size = Math.ceil(size / 4)
        return undefined
      }
    },
  }
}
