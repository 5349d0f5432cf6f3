import type { FastifyError } from 'fastify'
import { isUnavailable, PoolFull } from '../../db/connection/database.ts'
import { UnreadableSecret } from '../../db/webhooks/secret-keys.ts'
import { UnknownValue } from '../../domain/basics/unknown-value.ts'
import { Closed, EngineFailure, Overloaded } from '../../engine/completion.ts'
import { ERRORS, type ErrorCode, Problem } from '../../errors.ts'
import { problemType } from './openapi.ts'

/** Invalid requests that Fastify and its plugins find, by their codes. */
const FRAMEWORK_ERRORS: Record<string, [ErrorCode, string]> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type', 'Send the body as Content-Type: application/json.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['invalid_request', 'The length of the body differs from Content-Length.'],
}

/** Refusals for which the client alone is at fault. */
export const CLIENT_FAULTS: ReadonlySet<ErrorCode> = new Set([
  'unauthenticated',
  'forbidden',
  'rate_limited',
  'invalid_request',
  'method_not_allowed',
  'payload_too_large',
  'unsupported_media_type',
])

/** A commit whose confirmation was lost may have taken effect. */
const UNKNOWN_EFFECT = 'The call may or may not have taken effect; repeat the call.'

/**
 * The problem that answers a thrown error. Errors without a code and a text of their own reveal nothing.
 *
 * @param bodyLimit the maximum size of the route's bodies, in bytes
 */
export function problemOf(error: unknown, bodyLimit: number): Problem {
  if (error instanceof Problem) return error
  if (error instanceof EngineFailure) return problemOfEngine(error)
  if (error instanceof PoolFull) {
    const detail = 'All database connections of this process are in use. It is safe to repeat the call.'
    return new Problem('overloaded', detail, { cause: error })
  }
  if (isUnavailable(error)) {
    return new Problem('unavailable', `The database is not available. ${UNKNOWN_EFFECT}`, { cause: error })
  }
  if (error instanceof UnreadableSecret) {
    const detail = 'This process has no key for the secret of the webhook. Nothing was done.'
    return new Problem('unavailable', detail, { cause: error })
  }
  if (error instanceof UnknownValue) return unknownValue(error)
  const { code, statusCode } = error as Partial<FastifyError>
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return new Problem('payload_too_large', `The body is larger than ${bodyLimit} bytes.`)
  }
  const issue = FRAMEWORK_ERRORS[code ?? '']
  if (issue !== undefined) return new Problem(issue[0], issue[1])
  // Other errors that Fastify attributes to the request.
  if (statusCode === 400) return new Problem('invalid_request', 'The request cannot be read, or its path is malformed.')
  return new Problem('internal', 'The service failed unexpectedly.', { cause: error })
}

function problemOfEngine(failure: EngineFailure): Problem {
  const { cause } = failure
  if (failure instanceof Overloaded) {
    const detail = 'Too many calls of this sender are waiting. Nothing was done; repeat the call.'
    return new Problem('overloaded', detail, { cause })
  }
  if (failure instanceof Closed) {
    return new Problem('unavailable', 'The service is stopping. Nothing was done; repeat the call.', { cause })
  }
  return new Problem('unavailable', `The database cannot decide this now. ${UNKNOWN_EFFECT}`, { cause })
}

/** A stored value that a newer version has written: another process may be of that version. */
export function unknownValue(cause: UnknownValue): Problem {
  const detail = `This process cannot decide it: ${cause.message}. Nothing was done; repeat the call, which a process of a newer version can answer.`
  return new Problem('unavailable', detail, { cause })
}

/** An Idempotency-Key that came with another request before. */
export function keyMismatch(fields: readonly string[]): Problem {
  return new Problem(
    'idempotency_mismatch',
    `This Idempotency-Key was already used for a different request. These fields differ: ${fields.join(', ')}.`,
    { members: { errors: fields.map(name => ({ path: `/${name}`, message: 'differs' })) } },
  )
}

/** The body of a problem (RFC 9457). */
export function problemBody(problem: Problem, requestId: string) {
  const { status, title } = ERRORS[problem.code]
  return {
    type: problemType(problem.code),
    title,
    status,
    code: problem.code,
    detail: problem.message,
    request_id: requestId,
    ...problem.members,
  }
}
