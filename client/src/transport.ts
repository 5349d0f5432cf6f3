/** One HTTP call: the request, its deadline, its retries, and the answer as a value or an error. */
import { ForeignAnswer, isProblem, jsonOf, lines, memberOf, textOf, typeOf } from './answers.ts'
import { type OperationId, type Problem, ROUTES } from './api.ts'
import { type AttemptOptions, createAttempts, silence } from './attempts.ts'
import { QuotaError, UnavailableError } from './errors.ts'
import { camelName, snakeName, toSnake } from './names.ts'
import { headerOf } from './processes.ts'
import type { Attempt, Retries, RunOptions } from './retries.ts'
import { type Route, SENDER_OPERATIONS } from './route.ts'
import type { Span } from './tracing.ts'
import { keyOfReference, type UserKey } from './user.ts'

/** Of a single call. */
export interface CallOptions {
  /** How long the call may take in all, with its retries. */
  timeoutMs?: number
  signal?: AbortSignal
  /** Makes a change repeatable. By default each call that takes a key gets a new one, which its retries share. */
  idempotencyKey?: string
  /** The version that the change shall meet, as the number in the ETag. Otherwise it is refused with `version_mismatch`. */
  ifMatch?: number
}

/** Of a call that this client makes for itself. */
export interface OwnCallOptions extends CallOptions {
  /** Gets each failure, also those that another attempt follows. */
  onFailure?: RunOptions['onFailure']
  /** Returns what the next attempt sends in place of the input. If it throws, there is none. */
  again?: () => Input
}

export interface TransportOptions extends AttemptOptions {
  readonly token: string | (() => string | Promise<string>)
  readonly retries: Retries
}

export type Input = Readonly<Record<string, unknown>>

/** Lines of JSON that are sent as one body, and repeated as a whole. */
interface Lines {
  readonly path: string
  readonly body: string
  /** Names the calls in the service's log, in histories and in the audit. */
  readonly requestId: string
}

export interface Transport {
  /**
   * @param timeoutMs unless the options name another
   * @throws QuotaError, UnavailableError, or the reason of the signal
   */
  call(operation: OperationId, input: Input, options: OwnCallOptions, timeoutMs: number, span?: Span): Promise<unknown>
  /**
   * Sends lines whose call can be repeated, until the response has a last line with the record `end`.
   *
   * @returns the records of the response
   * @throws as `call` does
   */
  sendLines(lines: Lines, options: Pick<CallOptions, 'signal'>, timeoutMs: number): Promise<LineRecord[]>
}

/** A line of a response. */
interface LineRecord {
  readonly record: string
}

const SENDER = '/api/sms/sender/'

/** Answers that ask to try again, or come from a proxy whose service does not answer. */
const TRY_AGAIN: ReadonlySet<number> = new Set([429, 502, 503, 504])
/** Of these, the ones that say for certain that nothing was done. */
const NOTHING_DONE: ReadonlySet<string> = new Set(['rate_limited', 'overloaded'])

/** @throws TypeError if no call can be made with the token */
export function createTransport(transport: TransportOptions): Transport {
  const { token, retries, now } = transport
  if (typeof token === 'string') assertToken(token)

  async function authorization(): Promise<string> {
    const current = typeof token === 'string' ? token : await token()
    assertToken(current)
    return `Bearer ${current}`
  }

  return {
    async call(operation, input, options, timeoutMs, span) {
      const route = ROUTES[operation]
      const deadline = now() + (options.timeoutMs ?? timeoutMs)
      options.signal?.throwIfAborted()
      const made = requestOf(route, input, options, {
        authorization: await authorization(),
        traceparent: span?.traceparent,
      })
      // A sender's operations can all be repeated, and so can what carries a key.
      const mayRepeat = route.method !== 'POST' || route.takesKey === true || route.path.startsWith(SENDER)
      // A change of many quotas goes on until it is done.
      const isPatient = route.isLines === true && route.method === 'POST'
      const { signal, onFailure, again } = options
      let isFirst = true
      let sent = input
      const isShared = route.path.startsWith(SENDER)
      const ask = createAttempts(transport, { user: userOf(input).key, deadline, signal, isShared }, response =>
        read(operation, sent, response),
      )
      return retries.run({ deadline, mayRepeat, isPatient, signal, onFailure }, async () => {
        const [address, init] = made
        if (!isFirst && again !== undefined) {
          sent = again()
          init.body = JSON.stringify(toSnake(sent))
        }
        isFirst = false
        return ask(address, init)
      })
    },

    async sendLines({ path, body, requestId }, { signal }, timeoutMs) {
      const deadline = now() + timeoutMs
      signal?.throwIfAborted()
      const headers = {
        authorization: await authorization(),
        'content-type': 'application/x-ndjson',
        'x-request-id': requestId,
      }
      const ask = createAttempts(transport, { user: undefined, deadline, signal }, readUntilEnd)
      return retries.run({ deadline, mayRepeat: true, isPatient: true, signal }, () =>
        ask(path, { method: 'POST', headers, body }),
      )
    },
  }
}

/** @returns the path, and what is sent there */
function requestOf(
  route: Route,
  input: Input,
  options: CallOptions,
  own: { authorization: string; traceparent: string | undefined },
): [string, RequestInit] {
  const { path, rest } = fillPath(route.path, input)
  const { query, body } = split(route, rest)
  const headers: Record<string, string> = { authorization: own.authorization }
  if (route.hasBody === true) headers['content-type'] = 'application/json'
  if (route.takesKey === true) headers['idempotency-key'] = options.idempotencyKey ?? crypto.randomUUID()
  const user = userOf(input)
  if (user.only !== undefined) headers['sms-quota-user'] = headerOf(user.only)
  if (own.traceparent !== undefined) headers.traceparent = own.traceparent
  if (options.ifMatch !== undefined) headers['if-match'] = `"${options.ifMatch}"`
  const init: RequestInit = { method: route.method, headers }
  if (route.hasBody === true) init.body = JSON.stringify(toSnake(body))
  return [path + query, init]
}

/** The user a call is about. A batch may be about several: the first one says where it goes. */
function userOf(input: Input): { key: UserKey | undefined; only: UserKey | undefined } {
  const { operations = [input] } = input
  const [first, ...others] = Array.isArray(operations) ? operations.map(userKeyOf) : []
  return { key: first, only: others.every(other => other === first) ? first : undefined }
}

/** What names no user is refused by the service. */
function userKeyOf(operation: unknown): UserKey | undefined {
  if (typeof operation !== 'object' || operation === null) return undefined
  if ('userRef' in operation && typeof operation.userRef === 'string') return keyOfReference(operation.userRef)
  if (!('userId' in operation)) return undefined
  const { userId } = operation
  return typeof userId === 'number' && Number.isSafeInteger(userId) ? userId : undefined
}

/**
 * Without one every call would be refused, as if a token had ended; with one that no header can hold, each would fail as if the service
 * were away.
 *
 * @throws TypeError, which does not show the token
 */
function assertToken(token: string): void {
  if (token === '')
    throw new TypeError('the token is empty: `token` of createClient needs a bearer token, or what gets one')
  if (!/^[\x21-\x7e]+$/.test(token.trim()))
    throw new TypeError('the token has characters that no bearer token has, such as blanks or letters with accents')
}

/** Puts the parameters of the path into it. @throws TypeError if one is missing */
function fillPath(template: string, input: Input): { path: string; rest: Map<string, unknown> } {
  const rest = new Map(Object.entries(input).filter(([, value]) => value !== undefined))
  const path = template.replaceAll(/\{(\w+)\}/g, (_, parameter: string) => {
    const name = camelName(parameter)
    const value = rest.get(name)
    const userRef = rest.get('userRef')
    if (value === undefined && name === 'userId' && userRef !== undefined) {
      rest.delete('userRef')
      return `ref:${encodeURIComponent(String(userRef))}`
    }
    if (value === undefined) throw new TypeError(`${name} is missing`)
    rest.delete(name)
    return encodeURIComponent(String(value))
  })
  return { path, rest }
}

function split(route: Route, rest: ReadonlyMap<string, unknown>): { query: string; body: Input } {
  const query = new URLSearchParams()
  const body: Record<string, unknown> = {}
  for (const [name, value] of rest) {
    if (route.query?.includes(name) !== true) body[name] = value
    else for (const one of [value].flat()) query.append(snakeName(name), String(one))
  }
  const text = query.toString()
  return { query: text === '' ? '' : `?${text}`, body }
}

/** @throws ForeignAnswer */
async function read(operation: OperationId, input: Input, response: Response): Promise<Attempt<unknown>> {
  if (!response.ok) return refused(response)
  const type = response.headers.get('content-type') ?? ''
  if (ROUTES[operation].isLines === true && type.includes('ndjson')) return { value: lines(response) }
  const text = await textOf(response)
  const value = contentOf(response.status, type, text)
  if (!isAnswer(operation, input, value)) throw new ForeignAnswer(response, text)
  return { value }
}

/** Null for what no operation answers. */
function contentOf(status: number, type: string, text: string): unknown {
  if (status === 204) return undefined
  if (type.includes('json')) return jsonOf(text)
  return type.startsWith('text/plain') ? text : null
}

/** Whether the service can have answered so. Newer ones may add members. */
function isAnswer(operation: OperationId, input: Input, value: unknown): boolean {
  const { answers, isLines } = ROUTES[operation]
  if (answers === undefined) return value === undefined && isLines !== true
  const part = answers.member === undefined ? value : memberOf(value, answers.member)
  return typeOf(part) === answers.type && (operation !== 'batch' || areResults(input, part))
}

/** Each result is that of its operation. */
function areResults({ operations }: Input, results: unknown): boolean {
  if (!Array.isArray(results) || !Array.isArray(operations) || results.length !== operations.length) return false
  return results.every((result, index) => {
    const [status, body] = [memberOf(result, 'status'), memberOf(result, 'body')]
    if (typeof status !== 'number') return false
    if (status >= 300) return isProblem(body)
    const operation = SENDER_OPERATIONS.find(op => op === memberOf(operations[index], 'op'))
    return operation !== undefined && isAnswer(operation, {}, body)
  })
}

/** A response whose last line is not `end` is not complete. */
async function readUntilEnd(response: Response): Promise<Attempt<LineRecord[]>> {
  if (!response.ok) return refused(response)
  const records: LineRecord[] = []
  for await (const record of lines(response)) records.push(record as LineRecord)
  const last = records.at(-1)
  if (last?.record === 'end') return { value: records }
  const message = last !== undefined && 'detail' in last ? String(last.detail) : 'the response is not complete'
  return silence(new UnavailableError(message, { mayHaveTakenEffect: true }))
}

async function refused(response: Response): Promise<Attempt<never>> {
  const { status, statusText: title, headers } = response
  const text = await textOf(response)
  const said = headers.get('content-type')?.includes('application/problem+json') === true ? jsonOf(text) : null
  if (!TRY_AGAIN.has(status)) {
    if (isProblem(said)) return { refusal: refusalOf(said, status) }
    throw new ForeignAnswer(response, text)
  }
  const { message: detail } = new ForeignAnswer(response, text)
  const page = { type: 'about:blank', title, status, code: 'unavailable', detail, requestId: '' } as const
  const error = tryLater(isProblem(said) ? said : page)
  const isSilent = status === 502 || status === 504
  return { failure: { error, isSilent, retryAfterMs: Number(headers.get('retry-after') ?? 0) * 1_000 || 0 } }
}

/** Of what a service did that failed, nothing is known. */
export function refusalOf(problem: Problem, status: number): QuotaError {
  return new QuotaError(problem, { mayHaveTakenEffect: status >= 500 })
}

/** The error of an answer that asks to try again. A limit of a proxy before the service is no outage either. */
export function tryLater(problem: Problem): UnavailableError {
  const isNothingDone = NOTHING_DONE.has(problem.code)
  const isOutage = !isNothingDone && problem.status !== 429
  const cause = new QuotaError(problem)
  return new UnavailableError(cause.message, { mayHaveTakenEffect: !isNothingDone, isOutage, cause })
}
