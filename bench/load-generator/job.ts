/** A job of the load generator, and its result. */
export interface Job {
  /** The servers; the connections are spread over them. */
  urls: readonly string[]
  token: string
  /** Calls per second (open loop). Null is a closed loop: each response triggers the next call. */
  rate: number | null
  connections: number
  /** Calls in flight on a connection (closed loop). */
  depth: number
  /** User ids are firstUser…firstUser + users − 1; the default of `firstUser` is 1. */
  users: number
  firstUser?: number
  /** Whether a connection sends only calls of users that belong to its server, by the rule of the client. Not with a mix. Default: false. */
  hasAffinity?: boolean
  /** From how many recipients each reserve names one. Left out: it names none. Not with a mix. */
  recipients?: number
  /** Operations per call: 1 calls `reserve`, more call `batch`. */
  operations: number
  /** Default: every call reserves. Only with one operation per call. */
  mix?: Mix
  /** Users whose reserves are denied: the ids that follow. */
  deniedUsers?: number
  warmupMs: number
  measureMs: number
  /** Whether the service, and load generators without it, get the CPU first. Default: false. */
  isLowPriority?: boolean
  /** Prefix of every reservation's id, so that the ids of two jobs differ. */
  prefix: string
}

/**
 * What a call of a mix does: `repeat` sends an open message again, `find` reads one, `denied` reserves for a user without
 * units left.
 */
export type MixKind = 'reserve' | 'commit' | 'release' | 'repeat' | 'check' | 'find' | 'denied'

/** The percentage of each kind; the sum is 100. */
export type Mix = Partial<Record<MixKind, number>>

export interface Counts {
  /** Operations answered during the measurement, and those among them with another outcome than expected, mostly grants. */
  operations: number
  refused: number
  /** The first response with another outcome than expected. */
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
