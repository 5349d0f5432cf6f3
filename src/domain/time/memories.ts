import { DAY_MS, HOUR_MS } from './time.ts'

/**
 * What a process remembers of rows, tokens and other servers without asking again, and for how long at most, in milliseconds. What it
 * names may end meanwhile: `test/http/memories.test.ts` says of each what follows. What is checked by each write (`seq` of quotas and
 * reservations) and what a job reads again and again (pauses) is not among them.
 */
export const MEMORY_MS = {
  /** Which user a reference names. */
  userOfReference: 60_000,
  /** Of the default plan: that a user is not new, that one is new or found no room, and the plan itself. */
  knownUser: 60_000,
  newcomer: 1_000,
  defaultPlan: 1_000,
  /** What a token says, and why one was refused. */
  token: 600_000,
  refusedToken: 10_000,
  /** That the name in a token is stored. */
  storedName: DAY_MS,
  /** The keys of a key server, and for as long as it is away; the addresses of an identity provider. */
  keys: 600_000,
  keysOfAbsentServer: HOUR_MS,
  identityProvider: HOUR_MS,
  /** What the overview shows: of now, and of the past in a time zone. */
  overview: 5_000,
  overviewOfPast: HOUR_MS,
} as const

/** A call that has found its user has its effect within this time, or none: it waits seconds at most, in the queue and for the database. */
const CALL_MS = 30_000

/**
 * How long after a reference is freed some process may still take it for its user's. An erasure goes on only then, so the user is held until
 * no call leads there by what was.
 */
export const REFERENCE_FORGOTTEN_MS = MEMORY_MS.userOfReference + CALL_MS
