/** When a failed call is tried again: back-off with jitter, a budget for all calls of a client, and a circuit breaker. */
import { UnavailableError } from './errors.ts'

const FIRST_DELAY_MS = 50
const MAX_DELAY_MS = 2_000
/** A success pays for a tenth of a retry, so that retries add at most a tenth to the load of a service in trouble. */
const SUCCESSES_PER_RETRY = 10
/** In successes: fifty retries may follow each other without one. */
const BUDGET = 50 * SUCCESSES_PER_RETRY
const FAILURES_TO_OPEN = 10
const OPEN_MS = 1_000

/** Why an attempt gave no final answer. */
interface Failure {
  readonly error: UnavailableError
  /** Whether nothing answered, as opposed to an answer that asks to try later. */
  readonly isSilent: boolean
  /** The earliest time for the next attempt that the service named, in milliseconds from now. */
  readonly retryAfterMs: number
}

export type Attempt<T> = { readonly value: T } | { readonly failure: Failure }

export interface Retries {
  /**
   * Runs attempts until one has a value or a retry would come after the deadline.
   *
   * @param deadline in milliseconds of `performance.now()`
   * @throws UnavailableError
   */
  run<T>(deadline: number, mayRepeat: boolean, attempt: () => Promise<Attempt<T>>): Promise<T>
  /**
   * How long to wait before the next attempt, in milliseconds. That takes a retry from the budget.
   *
   * @param retries how many there were already
   * @param deadline in milliseconds of `performance.now()`
   * @returns undefined if there is to be no further attempt: the deadline is too near, or the budget is used up
   */
  delay(retries: number, retryAfterMs: number, deadline: number): number | undefined
}

export interface RetryOptions {
  readonly now: () => number
  readonly random: () => number
  readonly sleep: (ms: number) => Promise<void>
}

export function createRetries({ now, random, sleep }: RetryOptions): Retries {
  let budget = BUDGET
  let silentFailures = 0
  let openUntil = Number.NEGATIVE_INFINITY

  /** While the circuit is open, one call a second is let through to look. */
  function isOpen(): boolean {
    if (silentFailures < FAILURES_TO_OPEN) return false
    if (now() < openUntil) return true
    openUntil = now() + OPEN_MS
    return false
  }

  function noteFailure({ isSilent }: Failure): void {
    if (!isSilent) return
    silentFailures += 1
    if (silentFailures === FAILURES_TO_OPEN) openUntil = now() + OPEN_MS
  }

  function delay(retries: number, retryAfterMs: number, deadline: number): number | undefined {
    const backOff = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** retries) * (0.5 + random() / 2)
    const ms = Math.max(backOff, retryAfterMs)
    if (budget < SUCCESSES_PER_RETRY || now() + ms >= deadline) return undefined
    budget -= SUCCESSES_PER_RETRY
    return ms
  }

  return {
    delay,
    async run(deadline, mayRepeat, attempt) {
      let mayHaveTakenEffect = false
      for (let retries = 0; ; retries++) {
        if (isOpen()) {
          const message = `the service has not answered ${silentFailures} times in a row; the next try is within a second`
          throw new UnavailableError(message, { mayHaveTakenEffect })
        }
        const result = await attempt()
        if ('value' in result) {
          silentFailures = 0
          budget = Math.min(BUDGET, budget + 1)
          return result.value
        }
        const { failure } = result
        noteFailure(failure)
        mayHaveTakenEffect ||= failure.error.mayHaveTakenEffect
        const isSafe = mayRepeat || !failure.error.mayHaveTakenEffect
        const ms = isSafe ? delay(retries, failure.retryAfterMs, deadline) : undefined
        if (ms === undefined) {
          const { message, cause } = failure.error
          throw new UnavailableError(message, { mayHaveTakenEffect, cause })
        }
        await sleep(ms)
      }
    },
  }
}
