import type { Api } from './types.ts'

/** What the service said is wrong (RFC 9457), as an error to be thrown and shown. */
export class ApiProblem extends Error {
  readonly status: number
  readonly code: Api['Problem']['code']
  readonly title: string
  /** Finds the call in the service's log. */
  readonly requestId: string
  /** The faults of the input, each by a JSON pointer into the body or a parameter's name; empty for other problems. */
  readonly faults: readonly { path: string; message: string }[]
  /** Of a `conflict`: the quota that has the reference already. */
  readonly existingId: number | null
  /** How long the service asks to wait; null if it does not. */
  readonly retryAfterMs: number | null

  constructor(problem: Api['Problem'], retryAfterMs: number | null) {
    super(problem.detail)
    this.name = 'ApiProblem'
    this.status = problem.status
    this.code = problem.code
    this.title = problem.title
    this.requestId = problem.request_id
    this.faults = problem.errors ?? []
    this.existingId = problem.existing_id ?? null
    this.retryAfterMs = retryAfterMs
  }
}

/** There was no answer, or none of this service: nobody knows whether the call was carried out. */
export class Unreachable extends Error {
  constructor(cause: unknown) {
    super('The service does not answer.', { cause })
    this.name = 'Unreachable'
  }
}

/** How long to wait where nobody says how long. */
const RETRY_MS = 2_000

/** When to ask again, in milliseconds: the fault is not the caller's and may go by itself. Null: asking again is no use. */
export function retryDelayOf(error: unknown): number | null {
  if (error instanceof Unreachable) return RETRY_MS
  if (error instanceof ApiProblem && (error.status === 503 || error.status === 429)) {
    return error.retryAfterMs ?? RETRY_MS
  }
  return null
}
