/** What a failed call means for the user of the command line: a message and an exit code. */

import { AnswerTooLong, ForeignAnswer, isProblem, jsonOf } from '../../../client/src/answers.ts'
import { QuotaError, UnavailableError } from '../../../client/src/main.ts'
import { runningServices } from '../running.ts'
import { safe } from '../safe.ts'
import { reasonOf } from './connection.ts'

export const DENIED = 3
export const FAILED = 1
const WRONG_USAGE = 2
export const UNAVAILABLE = 4
const NOT_ALLOWED = 5

export interface Failure {
  message: string
  exitCode: number
}

interface Attempted {
  url: string
  /** Makes the call repeatable; undefined if it is a read, or repeatable without one. */
  idempotencyKey: string | undefined
  /** How the command line names a field of the request. */
  nameOf(path: string): string
}

/** @returns undefined if the error is not about the call */
export function failureOf(error: unknown, attempted: Attempted): Failure | undefined {
  if (error instanceof QuotaError) return refusal(error, attempted)
  if (error instanceof UnavailableError) return absence(error, attempted)
  if (error instanceof AnswerTooLong) return { message: `${attempted.url}: ${error.message}`, exitCode: FAILED }
  if (error instanceof CallFailed) return error
  if (error instanceof ForeignAnswer) return foreign(error, attempted.url)
  return undefined
}

function refusal({ code, status, problem }: QuotaError, { url, nameOf }: Attempted): Failure {
  const { title, detail, errors = [], requestId } = problem
  // The detail of an invalid request is its issues, with the names of the API.
  const summary = errors.length > 0 && errors.every(({ message }) => detail.includes(message)) ? '' : ` ${safe(detail)}`
  const lines = errors.map(({ path, message }) => `\n  ${nameOf(path)} ${safe(message)}`)
  // The position of a feed behind events that are not kept any more.
  const goOn = problem.cursor === undefined ? '' : `\nto go on: --after=${safe(problem.cursor)}`
  const id = requestId === '' ? '' : `, request ${safe(requestId)}`
  const message = `${safe(title)}:${summary}${lines.join('')}${goOn}\n(${safe(code)}${id})`
  if (status === 401)
    return { message: `the service at ${url} does not accept the token\n${message}`, exitCode: NOT_ALLOWED }
  if (status === 429 || status === 503) return { message, exitCode: UNAVAILABLE }
  if (status === 403) return { message: `the token does not allow this\n${message}`, exitCode: NOT_ALLOWED }
  return { message, exitCode: code === 'invalid_request' ? WRONG_USAGE : FAILED }
}

const foreign = ({ message }: ForeignAnswer, url: string): Failure => ({
  message: `what answers at ${url} is not sms-quota: ${safe(message)}`,
  exitCode: FAILED,
})

function absence(error: UnavailableError, { url, idempotencyKey }: Attempted): Failure {
  const reason = reasonOf(error.cause)
  if (reason !== undefined) {
    const advice = 'Is the service running, and is this its address? --url, SMS_QUOTA_URL or --profile name another.'
    return { message: `${url} cannot be reached: ${reason}\n${advice}${runningServices()}`, exitCode: UNAVAILABLE }
  }
  const { cause } = error.cause instanceof Error ? error.cause : {}
  const because = cause instanceof Error && !(error.cause instanceof QuotaError) ? ` (${safe(cause.message)})` : ''
  const repeat =
    error.mayHaveTakenEffect && idempotencyKey !== undefined
      ? `\nIt may have been done. Repeat it with --idempotency-key ${idempotencyKey}: then nothing is done twice.`
      : ''
  if (error.cause instanceof ForeignAnswer) {
    const { message, exitCode } = foreign(error.cause, url)
    return { message: message + repeat, exitCode }
  }
  return { message: `${url} is unavailable: ${safe(error.message)}${because}${repeat}`, exitCode: UNAVAILABLE }
}

/* ── Failures that the client does not report, as of calls whose body or answer is a stream ──────────────────────── */

/** A call failed, or its answer is of no use. The message and the exit code are for the user. */
export class CallFailed extends Error {
  readonly exitCode: number

  constructor({ message, exitCode }: Failure) {
    super(message)
    this.exitCode = exitCode
  }
}

/** What an answer other than the expected stream is: a refusal of the service, or not of the service at all. */
export function refusalOf(response: Response, text: string): QuotaError | ForeignAnswer {
  const problem = jsonOf(text)
  return isProblem(problem) ? new QuotaError(problem) : new ForeignAnswer(response, text)
}

/** @returns undefined if the error is not about the call */
export function callFailed(error: unknown, url: string): CallFailed | undefined {
  if (isBroken(error)) return new CallFailed({ message: unreachable(url, error), exitCode: UNAVAILABLE })
  const failure = failureOf(error, { url, idempotencyKey: undefined, nameOf: safe })
  return failure && new CallFailed(failure)
}

/** What `fetch` reports for a connection that failed or broke: a TypeError whose cause says why. */
export function isBroken(error: unknown): error is TypeError {
  return error instanceof TypeError && error.cause instanceof Error
}

export function unreachable(url: string, error: TypeError): string {
  const { message, cause } = error
  return `${url} cannot be reached: ${reasonOf(error) ?? (cause instanceof Error ? cause.message : message)}`
}
