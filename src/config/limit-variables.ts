/** The rows of the table of variables for what callers may do in a time, or at once. */
import { type Variable, wholeNumber } from './variable.ts'

export const LIMIT_VARIABLES = {
  RATE_LIMIT_PER_MINUTE: {
    means:
      'how many calls per minute each principal may make on user and admin paths of a process, where each further 100 rows of an answer count as a call: after a pause as many at once, and then one at each fraction of the minute, so at most twice as many in its first minute; 0 means no limit',
    ...wholeNumber(0, 1_000_000),
    fallback: '6000',
  },
  DEFAULT_PLAN_USERS_PER_MINUTE: {
    means:
      'the maximum number of users in any minute of a process that get the default plan with their first reservation, and, counted apart, that are made for unknown references (AUTO_USERS); those above it are denied with `no_quota`',
    ...wholeNumber(1, 1_000_000),
    fallback: '600',
  },
  REQUEST_AUTO_APPROVE_PERCENT: {
    means:
      "the percentage of a grant's limit up to which a user's request for more units is approved without a person, once in each window and for that window only; 0 means none",
    ...wholeNumber(0, 100),
    fallback: '0',
  },
  SENDER_OPERATIONS_PER_SECOND: {
    means:
      'how many operations per second each sender (the subject of its token) may ask of a process, each of a batch counted: after a pause as many at once, and then one at each fraction of the second, so at most twice as many in its first second; calls above it get 429; 0 means no limit',
    ...wholeNumber(0, 1_000_000),
    fallback: '0',
  },
  AUTH_FAILURES_PER_MINUTE: {
    means:
      'how many calls per minute of one address (of IPv6, the first 64 bits) may come without a valid token, for each process: after a pause as many at once, and then one at each fraction of the minute; above it, such calls get 429 after about half a second, refusals wait as long, and tokens that are not known yet get 429 without being verified; 0 means no limit',
    ...wholeNumber(0, 1_000_000),
    fallback: '3000',
  },
  MAX_CONNECTIONS: {
    means: 'the maximum number of open connections of each process; further ones are closed at once',
    ...wholeNumber(10, 1_000_000),
    fallback: '10000',
  },
} as const satisfies Record<string, Variable<unknown>>
