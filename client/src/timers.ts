/**
 * Runs something later.
 *
 * @param keepsAlive whether the process does not end before; true if left out
 * @returns what cancels it
 */
export type Later = (ms: number, run: () => void, keepsAlive?: boolean) => () => void

/** By the platform's timers. */
export const afterMs: Later = (ms, run, keepsAlive = true) => {
  const timer = setTimeout(run, ms)
  if (!keepsAlive) unref(timer)
  return () => clearTimeout(timer)
}

export interface Timers {
  /** A clock in milliseconds that never steps back. */
  readonly now: () => number
  readonly later: Later
}

export const PLATFORM: Timers = { now: () => performance.now(), later: afterMs }

/** Platforms other than Node.js have numbers, and need nothing. */
function unref(timer: unknown): void {
  if (typeof timer === 'object' && timer !== null && 'unref' in timer && typeof timer.unref === 'function')
    timer.unref()
}
