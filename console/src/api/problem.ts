import type { Api } from './types.ts'

/** An error response of the service (RFC 9457). */
export class ApiProblem extends Error {
  readonly status: number
  readonly code: Api['Problem']['code']
  readonly title: string
  /** Identifies the request in the service's log. */
  readonly requestId: string
  /** Validation issues, each with a JSON pointer into the body or the name of a parameter; empty for other problems. */
  readonly issues: readonly { path: string; message: string }[]
  /** For a `conflict`: the quota that already has the reference. */
  readonly existingId: number | null
  /** The delay of `Retry-After`; null without one. */
  readonly retryAfterMs: number | null

  constructor(problem: Api['Problem'], retryAfterMs: number | null) {
    super(problem.detail)
    this.name = 'ApiProblem'
    this.status = problem.status
    this.code = problem.code
    this.title = problem.title
    this.requestId = problem.request_id
    this.issues = problem.errors ?? []
    this.existingId = problem.existing_id ?? null
    this.retryAfterMs = retryAfterMs
  }
}

/** No response from the service. The request may have been processed. */
export class Unreachable extends Error {
  constructor(cause: unknown) {
    super('The service is not responding.', { cause })
    this.name = 'Unreachable'
  }
}

/** Delay before a retry if the response names none. */
const RETRY_MS = 2_000

/** Delay in milliseconds before a retry of a transient error; null for errors that a retry does not resolve. */
export function retryDelayOf(error: unknown): number | null {
  if (error instanceof Unreachable) return RETRY_MS
  if (error instanceof ApiProblem && (error.status === 503 || error.status === 429)) {
    return error.retryAfterMs ?? RETRY_MS
  }
  return null
}

/** Whether there is nothing of the name or id. */
export function isNotFound(error: unknown): boolean {
  return error instanceof ApiProblem && error.status === 404
}

/** Whether a change was refused because it is based on an older version. */
export function isOutdated(error: unknown): boolean {
  return error instanceof ApiProblem && error.code === 'version_mismatch'
}
