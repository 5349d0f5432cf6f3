import { setImmediate as nextTick } from 'node:timers/promises'
import { readQuarters } from '../../db/breaker/past.ts'
import type { Database } from '../../db/connection/database.ts'
import { usersFrom } from '../../db/usage/maintenance.ts'
import { SHARDS } from '../../domain/basics/shard.ts'
import { type Budgets, HISTORY_DAYS } from '../../domain/pauses/breaker.ts'
import { type ReplayedPause, replay } from '../../domain/pauses/breaker-replay.ts'
import { DAY_MS, type EpochMs } from '../../domain/time/time.ts'

/** The time that is replayed: the `days` before `to`, which is a whole quarter of an hour. */
export interface Replay {
  readonly days: number
  readonly to: EpochMs
  readonly message_type: string
  readonly budgets: Budgets
}

/** Where a page begins: at a user, of whose pauses the first ones were on the page before. */
export interface ReplayPlace {
  readonly shard: number
  readonly user: number
  readonly skipped: number
}

export interface PauseOfUser extends ReplayedPause {
  readonly user_id: number
  readonly country: string
}

/** After this many users a call ends: each is a statement, of a third of a millisecond if there is little to read. */
const MAX_USERS = 500

/**
 * A call ends after the user who brings it to this many quarters of an hour. A user is a statement, and one who sends to 200 countries all
 * the time has twice as many.
 */
const MAX_QUARTERS = 250_000

/**
 * Reads a page of the pauses that the breaker would have made. The usage of one user is in memory at a time, by destination and quarter
 * of an hour: 700,000 numbers of messages, if one user sends to all countries all the time.
 */
export async function replayBreaker(
  db: Database,
  asked: Replay,
  place: ReplayPlace,
  size: number,
  maxQuarters = MAX_QUARTERS,
): Promise<{ pauses: PauseOfUser[]; next: ReplayPlace | null }> {
  const { days, to, message_type } = asked
  const past = { message_types: [message_type], from: to - (days + HISTORY_DAYS + 1) * DAY_MS, to }
  const pauses: PauseOfUser[] = []
  let [users, quarters, from] = [0, 0, place.user]
  for (const shard of SHARDS.slice(place.shard)) {
    for (let next: number | null = from; next !== null; ) {
      const first: number = next
      const page = await db.transaction(tx => usersFrom(tx, shard, 'usage', first), 'keyed snapshot')
      for (const user of page.users) {
        if (users >= MAX_USERS || quarters >= maxQuarters) return { pauses, next: { shard, user, skipped: 0 } }
        const usage = await db.transaction(tx => readQuarters(tx, { user_id: user }, past), 'keyed snapshot')
        users++
        quarters += usage.length
        const isFirst = shard === place.shard && user === place.user
        const skipped = isFirst ? place.skipped : 0
        const found = (await replayUser(user, usage, asked)).slice(skipped)
        const taken = found.slice(0, size - pauses.length)
        pauses.push(...taken)
        if (taken.length < found.length) return { pauses, next: { shard, user, skipped: skipped + taken.length } }
      }
      next = page.isLast ? null : (page.users.at(-1) ?? 0) + 1
    }
    from = 0
  }
  return { pauses, next: null }
}

/** The pauses of a user, from all of the user's quarters of an hour. */
async function replayUser(
  user_id: number,
  quarters: Awaited<ReturnType<typeof readQuarters>>,
  { days, to, budgets }: Replay,
): Promise<PauseOfUser[]> {
  const feedbackSince = to - HISTORY_DAYS * DAY_MS
  if (!quarters.some(({ start, verified }) => start >= feedbackSince && verified > 0)) return []
  const pauses: PauseOfUser[] = []
  for (const [country, ofCountry] of Map.groupBy(quarters, ({ country }) => country)) {
    // A destination takes a millisecond, and senders' calls wait for no more than one.
    await nextTick()
    // The messages of the last quarter of an hour are judged after it, which may not be over.
    const found = replay(ofCountry, to - days * DAY_MS, budgets).filter(pause => pause.from <= to)
    pauses.push(...found.map(pause => ({ ...pause, user_id, country })))
  }
  return pauses
}
