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

  constructor(problem: Problem) {
    const issues = (problem.errors ?? []).map(({ path, message }) => `${path} ${message}`).join('; ')
    super(`${problem.code}: ${problem.detail}${issues === '' ? '' : ` (${issues})`}`)
    this.code = problem.code
    this.status = problem.status
    this.requestId = problem.requestId
    this.problem = problem
  }
}

/**
 * There was no final answer in time: the service could not be reached, did not answer, or asked to try later and the
 * deadline was too near. Sender's operations can be repeated with the same id whether or not they took effect.
 */
export class UnavailableError extends Error {
  override readonly name: string = 'UnavailableError'
  /** False if the service did nothing for certain. */
  readonly mayHaveTakenEffect: boolean

  constructor(message: string, options: { mayHaveTakenEffect: boolean; cause?: unknown }) {
    super(message, { cause: options.cause })
    this.mayHaveTakenEffect = options.mayHaveTakenEffect
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
