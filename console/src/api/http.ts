import { ApiProblem, Unreachable } from './problem.ts'
import { setReachable, watch } from './reachability.ts'
import type { Api } from './types.ts'

/** Options of a request. */
export interface RequestOptions {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Query parameters; undefined and null are left out, and lists are repeated. */
  query?: Record<string, string | number | boolean | readonly string[] | null | undefined>
  body?: unknown
  /** A body of newline-delimited JSON. */
  lines?: string
  /** The version that the change is based on. */
  ifMatch?: number
  /** Makes a POST safe to retry. */
  idempotencyKey?: string
  /** The same for the calls of one change, so that the history shows them as one. */
  requestId?: string
  signal?: AbortSignal
}

/**
 * Calls the API with a token; null: with none. The caller names the type of the response, which depends on the path.
 *
 * @param path below `/api/sms`
 * @throws ApiProblem for error responses, Unreachable if the service does not respond
 */
export async function send<T>(path: string, options: RequestOptions, token: string | null): Promise<T> {
  const response = await open(path, options, token)
  const content = response.status === 204 ? undefined : await jsonOf(response)
  setReachable(true)
  return content as T
}

/**
 * Calls the API with a token, or with none, and returns the response when its head has come.
 *
 * @param path below `/api/sms`
 * @throws ApiProblem for error responses, Unreachable if the service does not respond
 */
export async function open(path: string, options: RequestOptions, token: string | null): Promise<Response> {
  const call = fetch(urlOf(path, options.query), {
    method: options.method ?? 'GET',
    headers: headersOf(options, token),
    body: options.lines ?? (options.body === undefined ? null : JSON.stringify(options.body)),
    signal: options.signal ?? null,
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

function urlOf(path: string, query: RequestOptions['query'] = {}): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) {
      if (one !== undefined && one !== null) parameters.append(name, String(one))
    }
  }
  return `/api/sms${path}${parameters.size === 0 ? '' : `?${parameters}`}`
}

function headersOf(options: RequestOptions, token: string | null): Record<string, string> {
  const { body, lines, ifMatch, idempotencyKey, requestId } = options
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
