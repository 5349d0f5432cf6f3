/** Runs something later. @returns what cancels it */
export type Later = (ms: number, run: () => void) => () => void

export interface Clockwork {
  /** A clock in milliseconds that never steps back. */
  readonly now: () => number
  readonly later: Later
}
