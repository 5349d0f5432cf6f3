import type { Problem } from './api.ts'

/** A code of the service's documentation, for example `not_found`. */
export type ErrorCode = Problem['code']

/** The service refused a call. What to do depends on `code`. */
export class QuotaError extends Error {
  override readonly name = 'QuotaError'
  readonly code: ErrorCode
  readonly status: number
  /** The id of the call in the service's log. */
  readonly requestId: string
  /** The whole answer, with the fields that only some codes have. */
  readonly problem: Problem
  /** True if an earlier attempt of the call, whose answer was lost, may have done what this one was refused. */
  readonly mayHaveTakenEffect: boolean

  constructor(problem: Problem, { mayHaveTakenEffect = false }: { mayHaveTakenEffect?: boolean } = {}) {
    const issues = (problem.errors ?? []).map(({ path, message }) => `${path} ${message}`).join('; ')
    super(`${problem.code}: ${problem.detail}${issues === '' ? '' : ` (${issues})`}`)
    this.code = problem.code
    this.status = problem.status
    this.requestId = problem.requestId
    this.problem = problem
    this.mayHaveTakenEffect = mayHaveTakenEffect
  }
}

/**
 * There was no final answer in time: the service could not be reached, did not answer, or asked to try later and the
 * deadline was too near. Sender's operations can be repeated with the same id whether or not they took effect.
 */
export class UnavailableError extends Error {
  override readonly name: string = 'UnavailableError'
  /** False if no attempt of the call has done anything, for certain. */
  readonly mayHaveTakenEffect: boolean
  /**
   * False if the service is there, since something answered, such as `rate_limited` or `overloaded`; and if a limit of this process
   * is met, such as too many calls that wait. That is no reason to send without it.
   */
  readonly isOutage: boolean

  constructor(message: string, options: { mayHaveTakenEffect: boolean; isOutage?: boolean; cause?: unknown }) {
    super(message, { cause: options.cause })
    this.mayHaveTakenEffect = options.mayHaveTakenEffect
    this.isOutage = options.isOutage ?? true
  }
}

/** The service gave no answer, and the journal has no room for a further debt. Nothing was sent. */
export class JournalFull extends UnavailableError {
  override readonly name = 'JournalFull'

  constructor(maxEntries: number) {
    super(`the service did not answer, and the journal is full: it holds ${maxEntries} debts`, {
      mayHaveTakenEffect: true,
    })
  }
}

/** Whether an attempt of the call that failed so may have taken effect: only an error of this file can rule that out. */
export function isUncertain(error: unknown): boolean {
  return !(error instanceof QuotaError || error instanceof UnavailableError) || error.mayHaveTakenEffect
}

/** The error of a call of which an earlier attempt may have taken effect. */
export function asUncertain(error: unknown): unknown {
  if (isUncertain(error)) return error
  if (error instanceof QuotaError) return new QuotaError(error.problem, { mayHaveTakenEffect: true })
  if (!(error instanceof UnavailableError)) return error
  const { message, isOutage, cause } = error
  return new UnavailableError(message, { mayHaveTakenEffect: true, isOutage, cause })
}

export function hasCode(error: unknown, code: ErrorCode): boolean {
  return error instanceof QuotaError && error.code === code
}

/** Whether the service has no such reservation, because it has none of the id, or no user of the reference. */
export function isNotFound(error: unknown): boolean {
  return hasCode(error, 'not_found') || hasCode(error, 'unknown_user')
}

/** Whether the service would refuse the call again. What it says of a token, or of its own state, passes. */
export function isRefusedForGood(error: unknown): boolean {
  return error instanceof QuotaError && error.status < 500 && error.status !== 401 && error.status !== 403
}
