/** A job of the load generator, and its result. */
export interface Job {
  url: string
  token: string
  /** Calls per second (open loop). Null is a closed loop: each response triggers the next call. */
  rate: number | null
  connections: number
  /** Calls in flight on a connection (closed loop). */
  depth: number
  /** User ids are 1…users. */
  users: number
  /** Operations per call: 1 calls `reserve`, more call `batch`. */
  operations: number
  warmupMs: number
  measureMs: number
  /** Prefix of every reservation's id, so that the ids of two jobs differ. */
  prefix: string
}

export interface Counts {
  /** Operations answered during the measurement, and those among them that were not granted. */
  operations: number
  refused: number
  /** The first response that was no grant. */
  firstRefusal: string | null
  seconds: number
  /** Latency of a call in milliseconds. In an open loop it counts from the due time, so that a stall affects every delayed call. */
  p50: number
  p99: number
}

/** Adds the calls answered with 503, and their latencies in milliseconds. */
export interface LoadResult extends Counts {
  overloaded: { calls: number; p50: number; p99: number }
}

/** Notes that a worker sends at the begin and the end of its measurement. */
export const MEASURING = 'measuring'
export const MEASURED = 'measured'
