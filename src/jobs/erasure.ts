import { type Erasure, listErasures } from '../db/users/erasure.ts'
import { type ErasureParts, erasurePages, type Left } from './erasure-pages.ts'
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
  /** The rest: erasures with `more` pages, some that `wait` for another transaction or are due `later`, or none (null). */
  left: Left | null
}

const URGENCY: Record<Left, number> = { more: 2, wait: 1, later: 0 }

const INTERVAL_MS = 5_000
const WAIT_MS = 500

/** Erasures of a step, and pages of each. */
const MAX_ERASURES = 100
const MAX_PAGES = 20

/** Rows of a page. It bounds the releases in flight too: a hundredth of the engine's queue. */
const MAX_ROWS = 500

/** An erasure that this process works on. Its pages are a generator, so it goes on where the last step stopped. */
interface Work {
  pages: AsyncGenerator<Left, void>
  size: PageSize
}

export function createEraser(parts: ErasureParts): Eraser {
  const works = new Map<string, Work>()
  /** The user of the last erasure of the step before; null: begin with the first. */
  let after: number | null = null

  const keyOf = ({ user_id, requested_at }: Erasure) => `${user_id} ${requested_at}`

  /** Resolves to what is left of the erasure; null: nothing. */
  async function eraseSome(erasure: Erasure, signal: AbortSignal | undefined): Promise<Left | null> {
    const key = keyOf(erasure)
    const size = works.get(key)?.size ?? createPageSize(MAX_ROWS)
    const work = works.get(key) ?? { pages: erasurePages(parts, erasure, size), size }
    works.set(key, work)
    for (let count = 0; count < MAX_PAGES && !signal?.aborted; count++) {
      try {
        const { done, value: left } = await work.pages.next()
        if (done === true) {
          works.delete(key)
          return null
        }
        if (left !== 'more') return left
      } catch (error) {
        // It begins again, with the size that it found.
        works.set(key, { pages: erasurePages(parts, erasure, size), size })
        throw error
      }
    }
    return 'more'
  }

  /** Another process may have finished an erasure that this one was working on. */
  function forgetOthers(running: readonly Erasure[]): void {
    const keys = new Set(running.map(keyOf))
    for (const key of works.keys()) if (!keys.has(key)) works.delete(key)
  }

  async function eraseOnce(signal?: AbortSignal): Promise<ErasureStep> {
    const erasures = await listErasures(parts.db, after, MAX_ERASURES)
    const isLast = erasures.length < MAX_ERASURES
    const isWhole = isLast && after === null
    if (isWhole) forgetOthers(erasures)
    after = isLast ? null : (erasures.at(-1)?.user_id ?? null)
    const step: ErasureStep = { finished: 0, left: isWhole ? null : 'wait' }
    await forEachApart(erasures, signal, async erasure => {
      const left = await eraseSome(erasure, signal)
      if (left === null) step.finished += 1
      else if (step.left === null || URGENCY[left] > URGENCY[step.left]) step.left = left
    })
    return step
  }

  return {
    name: 'erasure',
    eraseOnce,
    async step(signal) {
      const { left } = await eraseOnce(signal)
      // At most half of the time, because senders come first.
      const pauseMs = (tookMs: number) => (left === 'more' ? 5 + tookMs : left === 'wait' ? WAIT_MS : INTERVAL_MS)
      return { isBehind: left === 'more' || left === 'wait', pauseMs }
    },
  }
}
