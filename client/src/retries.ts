/** When a failed call is tried again: back-off with jitter, a budget for all calls of a client, and a circuit breaker. */
import { asUncertain, type QuotaError, UnavailableError } from './errors.ts'

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
  /**
   * `soon`: another process may answer, so the failure says nothing of the service as a whole. `now`: and that costs this one nothing,
   * so the next attempt is made at once. `none` if left out.
   */
  readonly other?: 'none' | 'soon' | 'now'
}

/** A refusal is a final answer, too. */
export type Attempt<T> = { readonly value: T } | { readonly refusal: QuotaError } | { readonly failure: Failure }

export interface RunOptions {
  /** In milliseconds of `performance.now()`. */
  readonly deadline: number
  readonly mayRepeat: boolean
  /** Waits an open circuit and an empty budget out, instead of failing at once. */
  readonly isPatient?: boolean
  readonly signal?: AbortSignal | undefined
  /** Gets each failure, also those that another attempt follows. */
  readonly onFailure?: ((error: UnavailableError) => void) | undefined
}

export interface Retries {
  /**
   * Runs attempts until one has a final answer or a retry would come after the deadline. Its error tells about the call, not
   * about the last attempt: it may have taken effect if any attempt may have.
   *
   * @throws QuotaError, UnavailableError, or the reason of the signal
   */
  run<T>(options: RunOptions, attempt: () => Promise<Attempt<T>>): Promise<T>
  /**
   * How long to wait before the next attempt, in milliseconds. That takes a retry from the budget.
   *
   * @param retries how many there were already
   * @param deadline in milliseconds of `performance.now()`
   * @returns undefined if there is to be no further attempt: the deadline is too near, or the budget is used up
   */
  delay(retries: number, retryAfterMs: number, deadline: number, isPatient?: boolean): number | undefined
}

export interface RetryOptions {
  readonly now: () => number
  readonly random: () => number
  readonly sleep: (ms: number) => Promise<void>
}

const hasOther = ({ other = 'none' }: Failure) => other !== 'none'

/** Open, it lets one call a second through to look. */
function createCircuit(now: () => number) {
  let silentFailures = 0
  let openUntil = Number.NEGATIVE_INFINITY
  return {
    isOpen(): boolean {
      if (silentFailures < FAILURES_TO_OPEN) return false
      if (now() < openUntil) return true
      openUntil = now() + OPEN_MS
      return false
    },

    openUntil: () => openUntil,

    error(): UnavailableError {
      const message = `the service has not answered ${silentFailures} times in a row; the next try is within a second`
      return new UnavailableError(message, { mayHaveTakenEffect: false })
    },

    /** Any answer of the service closes it, but for one that says that the service itself gets none. */
    note(result: Attempt<unknown>): void {
      if (!('failure' in result)) {
        silentFailures = 0
      } else if (hasOther(result.failure)) {
        // The circuit is that of all processes.
      } else if (result.failure.isSilent) {
        silentFailures += 1
        if (silentFailures === FAILURES_TO_OPEN) openUntil = now() + OPEN_MS
      } else if (!result.failure.error.isOutage) {
        silentFailures = 0
      }
    },
  }
}

export function createRetries({ now, random, sleep }: RetryOptions): Retries {
  let budget = BUDGET
  const circuit = createCircuit(now)

  function delay(retries: number, retryAfterMs: number, deadline: number, isPatient = false): number | undefined {
    const backOff = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** retries) * (0.5 + random() / 2)
    const ms = Math.max(backOff, retryAfterMs)
    if (now() + ms >= deadline || (!isPatient && budget < SUCCESSES_PER_RETRY)) return undefined
    budget = Math.max(0, budget - SUCCESSES_PER_RETRY)
    return ms
  }

  /** @throws UnavailableError if the circuit is open and the call does not wait */
  async function passCircuit({ deadline, isPatient = false, signal }: RunOptions): Promise<void> {
    while (circuit.isOpen()) {
      if (!isPatient || circuit.openUntil() >= deadline) throw circuit.error()
      await sleep(circuit.openUntil() - now())
      signal?.throwIfAborted()
    }
  }

  async function run<T>(options: RunOptions, attempt: () => Promise<Attempt<T>>): Promise<T> {
    const { deadline, mayRepeat, isPatient, onFailure } = options
    let mayHaveTakenEffect = false
    const ofCall = (error: unknown) => (mayHaveTakenEffect ? asUncertain(error) : error)
    for (let retries = 0; ; retries++) {
      await passCircuit(options).catch(error => {
        throw ofCall(error)
      })
      const result = await attempt()
      circuit.note(result)
      if ('value' in result) {
        budget = Math.min(BUDGET, budget + 1)
        return result.value
      }
      if ('refusal' in result) throw ofCall(result.refusal)
      const { error, retryAfterMs } = result.failure
      onFailure?.(error)
      mayHaveTakenEffect ||= error.mayHaveTakenEffect
      const isSafe = mayRepeat || !error.mayHaveTakenEffect
      const isAtOnce = result.failure.other === 'now' && now() < deadline
      if (isSafe && isAtOnce) continue
      const ms = isSafe ? delay(retries, hasOther(result.failure) ? 0 : retryAfterMs, deadline, isPatient) : undefined
      if (ms === undefined) throw ofCall(error)
      await sleep(ms)
    }
  }

  return { delay, run }
}
