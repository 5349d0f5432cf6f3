import { endErasure } from '../admin/erase-user.ts'
import type { Database } from '../db/database.ts'
import {
  type Erasure,
  eraseAnswers,
  eraseEvents,
  eraseQuota,
  eraseReservations,
  eraseRows,
  hasPendingUsage,
  listErasures,
  newestPendingUsage,
  TAKEN,
} from '../db/erasure.ts'
import { rollUpUsage } from '../db/usage-rollup.ts'
import { shardOf } from '../domain/shard.ts'
import type { EpochMs } from '../domain/time.ts'
import type { Engine } from '../engine/engine.ts'
import { createPageSize, forEachApart, type PageSize } from './isolation.ts'
import type { Job } from './runner.ts'

/**
 * Erases users whose erasure was requested, page by page. Any number of processes may run it. After a crash it goes on: every
 * page can be repeated, and nothing but the rows says how far an erasure is.
 */
export interface Eraser extends Job {
  /** One step: some pages of each erasure that is under way. */
  eraseOnce(signal?: AbortSignal): Promise<ErasureStep>
}

interface ErasureStep {
  finished: number
  /** What is left: erasures with `more` pages, some that `wait` for another transaction, or none (null). */
  left: 'more' | 'wait' | null
}

export interface EraserOptions {
  db: Database
  /** Releases the open reservations of users who are erased. */
  engine: Pick<Engine, 'submit'>
  now: () => EpochMs
}

const INTERVAL_MS = 5_000
const WAIT_MS = 500

/** Erasures of a step, and pages of each. */
const MAX_ERASURES = 100
const MAX_PAGES = 20

/** Rows of a page. It bounds the releases in flight too: a hundredth of the engine's queue. */
const MAX_ROWS = 500

/** What a page leaves: `more` pages at once, or a reason to `wait`. */
type Left = 'more' | 'wait'

/** An erasure that this process works on. Its pages are a generator, so it goes on where the last step stopped. */
interface Work {
  pages: AsyncGenerator<Left, void>
  size: PageSize
}

export function createEraser({ db, engine, now }: EraserOptions): Eraser {
  const works = new Map<string, Work>()
  /** The user of the last erasure of the step before; null: begin with the first. */
  let after: number | null = null

  const keyOf = ({ user_id, requested_at }: Erasure) => `${user_id} ${requested_at}`

  /** Resolves to what is left of the erasure; null: nothing. */
  async function eraseSome(erasure: Erasure, signal: AbortSignal | undefined): Promise<Left | null> {
    const key = keyOf(erasure)
    const size = works.get(key)?.size ?? createPageSize(MAX_ROWS)
    const work = works.get(key) ?? { pages: pagesOf(erasure, size), size }
    works.set(key, work)
    for (let count = 0; count < MAX_PAGES && !signal?.aborted; count++) {
      try {
        const { done, value: left } = await work.pages.next()
        if (done === true) {
          works.delete(key)
          return null
        }
        if (left === 'wait') return left
      } catch (error) {
        // It begins again, with the size that it found.
        works.set(key, { pages: pagesOf(erasure, size), size })
        throw error
      }
    }
    return 'more'
  }

  /**
   * The reservations first, because their draws must lead to quotas; what they used goes to the archive meanwhile, so that
   * counters equal the ledger at any time. Usage is last: it may come in until nothing else is left.
   */
  async function* pagesOf(erasure: Erasure, size: PageSize): AsyncGenerator<Left, void> {
    yield* reservationPages(erasure, size)
    yield* repeat(() => size.run(rows => eraseQuota(db, erasure, rows)))
    yield* repeat(() => size.run(rows => eraseEvents(db, erasure, rows)))
    yield* repeat(() => eraseAnswers(db, erasure))
    yield* pendingUsagePages(erasure)
    yield* repeat(() => size.run(rows => eraseRows(db, erasure, rows)))
    await endErasure(db, erasure, now())
  }

  /** Runs a page until it says that it was the last. */
  async function* repeat(page: () => Promise<boolean | typeof TAKEN>): AsyncGenerator<Left, void> {
    for (let isDone = await page(); isDone !== true; isDone = await page()) yield isDone === TAKEN ? 'wait' : 'more'
  }

  /** Until one walk over all reservations has removed each of them: what comes in behind it draws on no quota. */
  async function* reservationPages(erasure: Erasure, size: PageSize): AsyncGenerator<Left, void> {
    for (let isComplete = false; !isComplete; ) {
      isComplete = true
      for (let position: string | null = ''; position !== null; ) {
        const from: string = position
        const page = await size.run(rows => eraseReservations(db, erasure, from, rows))
        if (page === TAKEN) {
          yield 'wait'
          continue
        }
        await release(erasure.user_id, page.open)
        isComplete &&= page.removed === page.read
        position = page.reached
        yield 'more'
      }
      // What was open is settled now. What is locked needs time.
      if (!isComplete) yield 'wait'
    }
  }

  /** Through the engine, like a sender: with all that depends on it, and in order with what senders do. */
  async function release(user_id: number, ids: readonly string[]): Promise<void> {
    await Promise.all(ids.map(id => engine.submit({ op: 'release', user_id, id, total_units: null, force: false })))
  }

  /** Usage that was written until now must be rolled up before it can be removed. */
  async function* pendingUsagePages({ user_id }: Erasure): AsyncGenerator<Left, void> {
    const upTo = await newestPendingUsage(db, user_id)
    while (upTo !== null && (await hasPendingUsage(db, user_id, upTo))) {
      const { batches } = await rollUpUsage(db, shardOf(user_id))
      yield batches > 0 ? 'more' : 'wait'
    }
  }

  /** Another process may have finished an erasure that this one was working on. */
  function forgetOthers(running: readonly Erasure[]): void {
    const keys = new Set(running.map(keyOf))
    for (const key of works.keys()) if (!keys.has(key)) works.delete(key)
  }

  async function eraseOnce(signal?: AbortSignal): Promise<ErasureStep> {
    const erasures = await listErasures(db, after, MAX_ERASURES)
    const isLast = erasures.length < MAX_ERASURES
    const isWhole = isLast && after === null
    if (isWhole) forgetOthers(erasures)
    after = isLast ? null : (erasures.at(-1)?.user_id ?? null)
    const step: ErasureStep = { finished: 0, left: isWhole ? null : 'more' }
    await forEachApart(erasures, signal, async erasure => {
      const left = await eraseSome(erasure, signal)
      if (left === null) step.finished += 1
      else if (step.left !== 'more') step.left = left
    })
    return step
  }

  return {
    name: 'erasure',
    eraseOnce,
    async step(signal) {
      const { left } = await eraseOnce(signal)
      // At most half of the time, because senders come first.
      return tookMs => (left === 'more' ? 5 + tookMs : left === 'wait' ? WAIT_MS : INTERVAL_MS)
    },
  }
}
