import type { EpochMs } from '../../domain/time/time.ts'
import { type Sql, sql } from '../connection/sql.ts'

/**
 * A quota is still fenced for this many milliseconds after its expiry. A change or a retry gives a new `seq` to those of
 * the user's quotas that another process may still take for unexpired. The clocks of two processes differ by up to 500
 * ms, and a batch that reaches the server late was decided earlier by no more than the timeouts of its attempts, which
 * sum to less than a minute. The rest is a reserve: a quota that expired in the last ten minutes costs next to nothing.
 */
const FENCE_MARGIN_MS = 10 * 60_000

/** The time by which quotas are judged that need a fence at `now`. */
export function fencedSince(now: EpochMs): EpochMs {
  return now - FENCE_MARGIN_MS
}

/** SQL: when a quota expires. In the words of the index of unexpired quotas. */
export const EXPIRY = sql`coalesce(expires_at, 'infinity'::timestamptz)`

/** SQL: that a quota which is not deleted has not expired at a time. */
export function unexpiredAt(time: Sql): Sql {
  return sql`deleted_at is null and ${EXPIRY} > ${time}::timestamptz`
}

/** SQL: that a quota which is not deleted has expired at a time. */
export function expiredAt(time: Sql): Sql {
  return sql`deleted_at is null and ${EXPIRY} <= ${time}::timestamptz`
}
