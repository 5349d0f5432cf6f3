import { endErasure } from '../admin/users/erase-user.ts'
import type { Database } from '../db/connection/database.ts'
import { batchShardsOf, rollUpUsage } from '../db/usage/rollup.ts'
import { type Erasure, findErasure } from '../db/users/erasure.ts'
import {
  eraseAnswers,
  eraseEvents,
  eraseFromBreaker,
  eraseNames,
  erasePauses,
  eraseProfile,
  eraseQuota,
  eraseReceived,
  eraseReservations,
  eraseRows,
  eraseTopUsers,
  hasPendingUsage,
  newestPendingUsage,
  TAKEN,
} from '../db/users/erasure-pages.ts'
import { eraseFromWebhooks } from '../db/users/erasure-webhooks.ts'
import { shardOf } from '../domain/basics/shard.ts'
import { REFERENCE_FORGOTTEN_MS } from '../domain/time/memories.ts'
import type { EpochMs } from '../domain/time/time.ts'
import type { Engine } from '../engine/engine.ts'
import type { PageSize } from './isolation.ts'

/** The rest after a page: `more` pages at once, a reason to `wait`, or pages that are due `later`. */
export type Left = 'more' | 'wait' | 'later'

export interface ErasureParts {
  db: Database
  /** Releases the open reservations of users who are erased. */
  engine: Pick<Engine, 'submit'>
  now: () => EpochMs
  /** Milliseconds that never go back; the process's if left out. */
  monotonicMs?: () => number
  /** The message types that the breaker watches: usage that is rolled up here is of other users, too. */
  watched: () => Promise<readonly string[]>
}

/**
 * Erases a user: each value is a page that is done, and the end is the end of the erasure. A new generator begins with the
 * first page; what is gone costs it little.
 *
 * The reference comes first, because the rest waits until no process remembers it: else a call by it could bring the user back behind the
 * end. Then the reservations, because their draws must lead to quotas; what they used goes to the archive meanwhile, so
 * that counters equal the ledger at any time. Usage is last: it may come in until nothing else is left.
 */
export async function* erasurePages(parts: ErasureParts, erasure: Erasure, size: PageSize): AsyncGenerator<Left, void> {
  const { db, now } = parts
  yield* repeat(() => eraseProfile(db, erasure, now()))
  yield* untilForgotten(parts, erasure)
  yield* reservationPages(parts, erasure, size)
  yield* repeat(() => size.run(rows => eraseQuota(db, erasure, rows)))
  // Before the events: no pause is lifted any more, which would be one.
  yield* repeat(() => size.run(rows => erasePauses(db, erasure, rows)))
  yield* repeat(() => size.run(rows => eraseEvents(db, erasure, rows)))
  yield* repeat(() => eraseAnswers(db, erasure))
  yield* repeat(() => size.run(rows => eraseReceived(db, erasure, rows)))
  yield* repeat(() => eraseNames(db, erasure))
  yield* repeat(() => eraseFromWebhooks(db, erasure))
  yield* pendingUsagePages(parts, erasure)
  yield* repeat(() => size.run(rows => eraseRows(db, erasure, rows)))
  yield* repeat(() => size.run(rows => eraseTopUsers(db, erasure, rows)))
  // What it noted of the user's usage, after that.
  yield* repeat(() => eraseFromBreaker(db, erasure))
  await endErasure(db, erasure, now())
}

/** Runs a page until it says that it was the last. */
async function* repeat(page: () => Promise<boolean | typeof TAKEN>): AsyncGenerator<Left, void> {
  for (let isDone = await page(); isDone !== true; isDone = await page()) yield isDone === TAKEN ? 'wait' : 'more'
}

/**
 * Waits until no process takes the user's reference for the user's any more. This process measures that by itself, from when it has seen the
 * reference freed: a restart or an error begins it anew, and neither a clock that was ahead nor another process makes it shorter.
 */
async function* untilForgotten(
  { db, monotonicMs = () => performance.now() }: ErasureParts,
  { user_id }: Erasure,
): AsyncGenerator<Left, void> {
  const freedAt = monotonicMs()
  // Another process, or an earlier run, may have removed the profile.
  if ((await findErasure(db, user_id))?.removed.user_profile === undefined) return
  while (monotonicMs() - freedAt < REFERENCE_FORGOTTEN_MS) yield 'later'
}

/** Until one walk over all reservations has removed each of them: what comes in behind it draws on no quota. */
async function* reservationPages(
  { db, engine }: ErasureParts,
  erasure: Erasure,
  size: PageSize,
): AsyncGenerator<Left, void> {
  for (let isComplete = false; !isComplete; ) {
    isComplete = true
    for (let position: EpochMs | null = Number.NEGATIVE_INFINITY; position !== null; ) {
      const from: EpochMs = position
      const page = await size.run(rows => eraseReservations(db, erasure, from, rows))
      if (page === TAKEN) {
        yield 'wait'
        continue
      }
      await release(engine, erasure.user_id, page.open)
      isComplete &&= page.removed === page.read
      position = page.reached
      yield 'more'
    }
    // What was open is settled now. What is locked needs time.
    if (!isComplete) yield 'wait'
  }
}

/** Through the engine, like a sender: with all that depends on it, and in order with what senders do. */
async function release(engine: Pick<Engine, 'submit'>, user_id: number, ids: readonly string[]): Promise<void> {
  await Promise.all(ids.map(id => engine.submit({ op: 'release', user_id, id, total_units: null, force: false })))
}

/** Usage that was written until now must be rolled up before it can be removed. */
async function* pendingUsagePages({ db, watched }: ErasureParts, { user_id }: Erasure): AsyncGenerator<Left, void> {
  const upTo = await newestPendingUsage(db, user_id)
  while (upTo !== null && (await hasPendingUsage(db, user_id, upTo))) {
    let batches = 0
    const types = await watched()
    for (const shard of batchShardsOf(shardOf(user_id))) batches += (await rollUpUsage(db, shard, types)).batches
    yield batches > 0 ? 'more' : 'wait'
  }
}
