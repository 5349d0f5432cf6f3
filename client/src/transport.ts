/** One HTTP call: the request, its deadline, its retries, and the answer as a value or an error. */
import { type OperationId, type Problem, ROUTES } from './api.ts'
import { QuotaError, UnavailableError } from './errors.ts'
import { camelName, snakeName, toCamel, toSnake } from './names.ts'
import type { Attempt, Retries, RunOptions } from './retries.ts'
import type { Route } from './route.ts'
import type { Span } from './tracing.ts'

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

export interface TransportOptions {
  readonly url: string
  readonly token: string | (() => string | Promise<string>)
  readonly fetch: typeof fetch
  readonly isFinal: (error: unknown) => boolean
  readonly retries: Retries
  readonly now: () => number
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

/** Answers that ask to try again, or come from a proxy whose service does not answer. */
const TRY_AGAIN: ReadonlySet<number> = new Set([429, 502, 503, 504])
/** Of these, the ones that say for certain that nothing was done. */
const NOTHING_DONE: ReadonlySet<string> = new Set(['rate_limited', 'overloaded'])

/** @throws TypeError if no call can be made with the address or the token */
export function createTransport(transport: TransportOptions): Transport {
  const { url, token, retries, now } = transport
  const base = url.replace(/\/+$/, '')

  if (!(URL.canParse(base) && /^https?:/i.test(base)))
    throw new TypeError('`url` of createClient is no address such as https://quota.example')
  if (typeof token === 'string') assertToken(token)

  async function authorization(): Promise<string> {
    const current = typeof token === 'string' ? token : await token()
    assertToken(current)
    return `Bearer ${current}`
  }

  async function request(
    route: Route,
    input: Input,
    options: CallOptions,
    traceparent: string | undefined,
  ): Promise<[string, RequestInit]> {
    const { path, rest } = fillPath(route.path, input)
    const { query, body } = split(route, rest)
    const headers: Record<string, string> = { authorization: await authorization() }
    if (route.hasBody === true) headers['content-type'] = 'application/json'
    if (route.takesKey === true) headers['idempotency-key'] = options.idempotencyKey ?? crypto.randomUUID()
    if (traceparent !== undefined) headers.traceparent = traceparent
    if (options.ifMatch !== undefined) headers['if-match'] = `"${options.ifMatch}"`
    const init: RequestInit = { method: route.method, headers }
    if (route.hasBody === true) init.body = JSON.stringify(toSnake(body))
    return [base + path + query, init]
  }

  return {
    async call(operation, input, options, timeoutMs, span) {
      const route = ROUTES[operation]
      const deadline = now() + (options.timeoutMs ?? timeoutMs)
      options.signal?.throwIfAborted()
      const made = await request(route, input, options, span?.traceparent)
      // A sender's operations can all be repeated, and so can what carries a key.
      const mayRepeat = route.method !== 'POST' || route.takesKey === true || route.path.startsWith('/api/sms/sender/')
      // A change of many quotas goes on until it is done.
      const isPatient = route.isLines === true && route.method === 'POST'
      const { signal, onFailure, again } = options
      let isFirst = true
      return retries.run({ deadline, mayRepeat, isPatient, signal, onFailure }, async () => {
        const [address, init] = made
        if (!isFirst && again !== undefined) init.body = JSON.stringify(toSnake(again()))
        isFirst = false
        return attempt(transport, [address, init], { deadline, signal }, response => read(route, response))
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
      return retries.run({ deadline, mayRepeat: true, isPatient: true, signal }, () =>
        attempt(transport, [base + path, { method: 'POST', headers, body }], { deadline, signal }, readUntilEnd),
      )
    },
  }
}

/** One exchange, until its response is read. */
async function attempt<T>(
  { fetch, isFinal, now }: Pick<TransportOptions, 'fetch' | 'isFinal' | 'now'>,
  [address, init]: readonly [string, RequestInit],
  { deadline, signal }: { deadline: number; signal: AbortSignal | undefined },
  read: (response: Response) => Promise<Attempt<T>>,
): Promise<Attempt<T>> {
  const timeout = AbortSignal.timeout(Math.max(1, Math.ceil(deadline - now())))
  try {
    const either = signal === undefined ? timeout : AbortSignal.any([timeout, signal])
    // The service never redirects. Elsewhere, bodies with numbers and texts of messages would reach any host that a proxy names.
    return await read(await fetch(address, { ...init, redirect: 'manual', signal: either }))
  } catch (error) {
    if (error instanceof AnswerTooLong)
      throw new UnavailableError(error.message, { mayHaveTakenEffect: true, isOutage: false, cause: error })
    signal?.throwIfAborted()
    const message = timeout.aborted ? 'the service did not answer in time' : 'the service cannot be reached'
    const unavailable = new UnavailableError(message, { mayHaveTakenEffect: true, cause: error })
    if (isFinal(error)) throw unavailable
    return silence(unavailable)
  }
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

async function read(route: Route, response: Response): Promise<Attempt<unknown>> {
  if (!response.ok) return refused(response)
  if (route.isLines === true) return { value: lines(response) }
  const text = await textOf(response)
  if (response.headers.get('content-type')?.includes('json') === true) return { value: toCamel(JSON.parse(text)) }
  return { value: text === '' ? undefined : text }
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
  const problem = await problemOf(response)
  if (!TRY_AGAIN.has(response.status)) return { refusal: refusalOf(problem, response.status) }
  const error = tryLater(problem)
  const isSilent = response.status === 502 || response.status === 504
  return { failure: { error, isSilent, retryAfterMs: Number(response.headers.get('retry-after') ?? 0) * 1_000 || 0 } }
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

/** The problem of an answer; proxies answer with pages of their own. */
async function problemOf(response: Response): Promise<Problem> {
  const text = await textOf(response)
  if (response.headers.get('content-type')?.includes('application/problem+json') === true) {
    return toCamel(JSON.parse(text)) as Problem
  }
  const location = response.headers.get('location')
  const isRedirect = location !== null && response.status >= 300 && response.status < 400
  return {
    type: 'about:blank',
    title: response.statusText,
    status: response.status,
    code: response.status >= 500 ? 'unavailable' : 'invalid_request',
    detail: isRedirect
      ? `The address redirects to ${location.slice(0, 200)}, which is not followed: name the address of the service itself`
      : `The answer with status ${response.status} is not the service's: ${text.slice(0, 200)}`,
    requestId: response.headers.get('x-request-id') ?? '',
  }
}

/** No record of the service is longer, in characters. */
const MAX_LINE = 4 * 1024 * 1024

/** Reads lines of JSON while they arrive. @throws AnswerTooLong */
async function* lines(response: Response): AsyncGenerator<unknown> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = parts.pop() ?? ''
    if (rest.length > MAX_LINE) throw new AnswerTooLong(MAX_LINE)
    for (const line of parts) if (line !== '') yield parseLine(line)
  }
  if (rest !== '') yield parseLine(rest)
}

/** @throws UnavailableError if the line was cut, or is not the service's */
function parseLine(line: string): unknown {
  try {
    return toCamel(JSON.parse(line))
  } catch (cause) {
    throw new UnavailableError('the response broke off in a line', { mayHaveTakenEffect: true, cause })
  }
}

const silence = (error: UnavailableError) => ({ failure: { error, isSilent: true, retryAfterMs: 0 } })

/** No answer of the service that is read as a whole is nearly as long. */
const MAX_BYTES = 64 * 1024 * 1024

export class AnswerTooLong extends Error {
  constructor(max: number) {
    super(`the answer, or a line of it, is longer than ${max} bytes`)
  }
}

/**
 * The text of an answer, without trust in its length: what answers may not be the service.
 * @throws AnswerTooLong
 */
export async function textOf(response: Response): Promise<string> {
  const length = response.headers.get('content-length')
  // The connection ends such an answer there. Encoded ones become longer.
  if (length !== null && Number(length) <= MAX_BYTES && !response.headers.has('content-encoding'))
    return response.text()
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > MAX_BYTES) throw new AnswerTooLong(MAX_BYTES)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}
