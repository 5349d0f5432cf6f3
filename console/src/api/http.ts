import type { Answer, Call, Input, Operation, Options } from './operations.ts'
import { ApiProblem, Unreachable } from './problem.ts'
import { setReachable, watch } from './reachability.ts'
import type { Api } from './types.ts'

/** The input of any operation. */
interface AnyInput extends Options {
  query?: Record<string, unknown>
  body?: unknown
  /** A body of newline-delimited JSON. */
  lines?: string
  [param: string]: unknown
}

/**
 * Calls an operation with a token; null: with none.
 *
 * @throws ApiProblem for error responses, Unreachable if the service does not respond
 */
export async function send<O extends Call>(operation: O, input: Input<O>, token: string | null): Promise<Answer<O>> {
  const response = await open(operation, input, token)
  const content = response.status === 204 ? undefined : await jsonOf(response)
  setReachable(true)
  return content as Answer<O>
}

/**
 * Calls an operation with a token, or with none, and returns the response when its head has come.
 *
 * @throws ApiProblem for error responses, Unreachable if the service does not respond
 */
export async function open(operation: Operation, input: Options, token: string | null): Promise<Response> {
  const [method = '', path = ''] = operation.split(' ')
  const { body, lines, signal, ...params }: AnyInput = input
  const call = fetch(urlOf(path, params), {
    method,
    headers: headersOf(input, token),
    body: lines ?? (body === undefined ? null : JSON.stringify(body)),
    signal: signal ?? null,
    credentials: 'omit',
    cache: 'no-store',
  })
  watch(call)
  const response = await call.catch(error => {
    throw toUnreachable(error)
  })
  if (response.ok) return response
  const problem = await jsonOf(response)
  setReachable(true)
  throw new ApiProblem(problem as Api['Problem'], retryAfterOf(response))
}

/** Converts a failed fetch. An aborted request says nothing about the service. */
export function toUnreachable(error: unknown): unknown {
  if (error instanceof DOMException && error.name === 'AbortError') return error
  setReachable(false)
  return new Unreachable(error)
}

/** A response without JSON comes from a proxy that cannot reach the service. */
async function jsonOf(response: Response): Promise<unknown> {
  try {
    if (!response.headers.get('content-type')?.includes('json'))
      throw new Error(`status ${response.status} without JSON`)
    return await response.json()
  } catch (error) {
    throw toUnreachable(error)
  }
}

function urlOf(template: string, { query = {}, ...params }: AnyInput): string {
  const path = template.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(params[name])))
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) {
      if (one !== undefined && one !== null) parameters.append(name, String(one))
    }
  }
  return `/api/sms${path}${parameters.size === 0 ? '' : `?${parameters}`}`
}

function headersOf(input: AnyInput, token: string | null): Record<string, string> {
  const { body, lines, ifMatch, idempotencyKey, requestId } = input
  return {
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(lines === undefined ? {} : { 'content-type': 'application/x-ndjson' }),
    ...(ifMatch === undefined ? {} : { 'if-match': `"${ifMatch}"` }),
    ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    ...(requestId === undefined ? {} : { 'x-request-id': requestId }),
  }
}

function retryAfterOf(response: Response): number | null {
  const seconds = Number.parseInt(response.headers.get('retry-after') ?? '', 10)
  return Number.isNaN(seconds) ? null : seconds * 1_000
}

/** A random key for one intended change, which the service applies once even if the request is repeated. */
export function newIdempotencyKey(): string {
  // Not randomUUID(), which browsers have only on https and localhost.
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
}
