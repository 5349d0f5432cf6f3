import type { Database } from '../db/connection/database.ts'
import { type DestinationFilter, readDestinations, readSuspects } from '../db/usage/destinations.ts'
import { USAGE_BUCKET_MS } from '../domain/bounds.ts'
import { type Budgets, HISTORY_DAYS } from '../domain/breaker.ts'
import { type ReplayedPause, replay } from '../domain/breaker-replay.ts'
import { SHARDS, type Shard } from '../domain/shard.ts'
import { DAY_MS, type EpochMs } from '../domain/time.ts'

/** What is replayed: the `days` before `to`, which is a whole quarter of an hour. */
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

/**
 * After this many users a call ends: one of the pages in which they are found. At a hundred messages a day each, in 48 quarters of an
 * hour, 1,000 users took 5.5 s on 2 cores with other work beside it, of which 2.4 s were Node.js: so a page takes about 3 s, and 100,000
 * users, ten million messages a day, ten minutes.
 */
const MAX_USERS = 500

/**
 * Reads a page of the pauses that the breaker would have made. The usage of one user is in memory at a time, by destination and quarter
 * of an hour: 700,000 numbers of messages, if one user sends to all countries all the time.
 */
export async function replayBreaker(
  db: Database,
  asked: Replay,
  place: ReplayPlace,
  size: number,
): Promise<{ pauses: PauseOfUser[]; next: ReplayPlace | null }> {
  const { days, to, message_type, budgets } = asked
  const since = to - days * DAY_MS
  const filter = {
    message_type,
    from: since - (HISTORY_DAYS + 1) * DAY_MS,
    to,
    least: Math.min(budgets.day, budgets.hour, budgets.flight),
    feedbackSince: to - HISTORY_DAYS * DAY_MS,
  }
  const pauses: PauseOfUser[] = []
  let [users, from] = [0, place.user]
  for (const shard of SHARDS.slice(place.shard)) {
    for (let next: number | null = from; next !== null; ) {
      if (users >= MAX_USERS) return { pauses, next: { shard, user: next, skipped: 0 } }
      const first: number = next
      const page = await db.transaction(tx => readSuspects(tx, shard, first, filter), 'snapshot')
      users += page.users
      next = page.next
      for (const user of page.suspects) {
        const isFirst = shard === place.shard && user === place.user
        const skipped = isFirst ? place.skipped : 0
        const found = (await replayUser(db, shard, user, asked, filter)).slice(skipped)
        const taken = found.slice(0, size - pauses.length)
        pauses.push(...taken)
        if (taken.length < found.length) return { pauses, next: { shard, user, skipped: skipped + taken.length } }
      }
    }
    from = 0
  }
  return { pauses, next: null }
}

async function replayUser(
  db: Database,
  shard: Shard,
  user_id: number,
  { days, to, budgets }: Replay,
  filter: DestinationFilter,
): Promise<PauseOfUser[]> {
  const usage = await db.transaction(tx => readDestinations(tx, shard, user_id, filter), 'snapshot')
  return [...Map.groupBy(usage, ({ country }) => country)].flatMap(([country, quarters]) =>
    replay(
      quarters.map(({ bucket, sent, verified }) => ({ start: bucket, end: bucket + USAGE_BUCKET_MS, sent, verified })),
      to - days * DAY_MS,
      budgets,
    )
      // The messages of the last quarter of an hour are judged after it, which may not be over.
      .filter(pause => pause.from <= to)
      .map(pause => ({ ...pause, user_id, country })),
  )
}
