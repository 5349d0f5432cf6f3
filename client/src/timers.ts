/** Runs something later. @returns what cancels it */
export type Later = (ms: number, run: () => void) => () => void

/** By the platform's timers. */
export const afterMs: Later = (ms, run) => {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}

export interface Timers {
  /** A clock in milliseconds that never steps back. */
  readonly now: () => number
  readonly later: Later
}
