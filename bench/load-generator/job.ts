/** What the process of the callers is asked to do, and what it answers. */
export interface Job {
  url: string
  token: string
  /** Closed: each caller sends when it was answered. Open: so many calls a second, whatever is answered. */
  rate: number | null
  connections: number
  /** Calls in flight on a connection (closed loop). */
  depth: number
  /** Ids are 1…users; one user is the hottest there can be. */
  users: number
  /** Operations in a call; 1 is a call of `reserve`, more are calls of `batch`. */
  operations: number
  warmupMs: number
  measureMs: number
  /** Begins every reservation's id, so that no two jobs meet. */
  prefix: string
}

export interface Counted {
  /** Operations answered in the time that was measured, and those of them that were not granted. */
  operations: number
  refused: number
  /** The first answer that was no grant. */
  firstRefusal: string | null
  seconds: number
  /** Milliseconds of a call; in an open loop from when it was due, so that a stall counts for all it held up. */
  p50: number
  p99: number
}

/** What callers count besides: who was told 503, and after how many milliseconds. */
export interface Called extends Counted {
  overloaded: { calls: number; p50: number; p99: number }
}

/** Notes sent while a job runs. */
export const MEASURING = 'measuring'
export const MEASURED = 'measured'
