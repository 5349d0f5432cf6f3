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
  /** How long to wait after a step that failed, in milliseconds; a second if left out. */
  afterFaultMs?: number
}

export function createLoop({ name, log, step, afterFaultMs = 1_000 }: LoopOptions): Loop {
  const stopping = new AbortController()
  const { signal } = stopping
  let running: Promise<void> | undefined
  let isWaiting = false

  async function run(): Promise<void> {
    while (!signal.aborted) await pause(await carryOut(), undefined, { signal }).catch(() => {})
  }

  /** A failure is told and tried again: nothing that this work has to do goes away meanwhile. */
  async function carryOut(): Promise<number> {
    const begun = performance.now()
    try {
      const pauseAfter = await step()
      isWaiting = false
      return pauseAfter(performance.now() - begun)
    } catch (error) {
      if (!isUnavailable(error)) log.error({ err: error }, `the ${name} failed`)
      else if (!isWaiting) log.warn({ reason: String(error) }, `the ${name} waits for the database`)
      isWaiting = isUnavailable(error)
      return afterFaultMs
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
