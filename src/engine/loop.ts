import { setTimeout as pause } from 'node:timers/promises'
import { isUnavailable, type Log } from '../db/database.ts'

/** Work in the background, done again and again until it is stopped. */
export interface Loop {
  /** Begins with the first step. To be called once. */
  start(): void
  /** Ends after the step under way, if any. It never rejects. */
  stop(): Promise<void>
}

export interface LoopOptions {
  /** For the log: what it is that fails. */
  name: string
  log: Log
  /** Does a bounded piece of the work, and answers how many milliseconds to pause, given how many it took. */
  step(): Promise<(tookMs: number) => number>
}

/** How long a loop waits after a step that failed. */
const AFTER_FAULT_MS = 1_000

export function createLoop({ name, log, step }: LoopOptions): Loop {
  const stopping = new AbortController()
  const { signal } = stopping
  let running: Promise<void> | undefined

  async function run(): Promise<void> {
    while (!signal.aborted) await pause(await carryOut(), undefined, { signal }).catch(() => {})
  }

  /** A failure is told and tried again: nothing that this work has to do goes away meanwhile. */
  async function carryOut(): Promise<number> {
    const begun = performance.now()
    try {
      const pauseAfter = await step()
      return pauseAfter(performance.now() - begun)
    } catch (error) {
      // That the database is away is told by others, loudly enough.
      if (isUnavailable(error)) log.warn({ reason: String(error) }, `the ${name} waits for the database`)
      else log.error({ err: error }, `the ${name} failed`)
      return AFTER_FAULT_MS
    }
  }

  return {
    start() {
      running ??= run()
    },
    async stop() {
      stopping.abort()
      await running
    },
  }
}
