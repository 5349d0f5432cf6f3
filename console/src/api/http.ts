import { ApiProblem, Unreachable } from './problem.ts'
import { setReachable } from './reachability.ts'
import type { Api } from './types.ts'

/** What to ask beside a path. */
export interface Call {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Parameters; those that are undefined or null are left out. */
  query?: Record<string, string | number | boolean | null | undefined>
  body?: unknown
  /** The version that a change is meant for. */
  ifMatch?: number
  /** Makes a POST safe to repeat. */
  idempotencyKey?: string
  signal?: AbortSignal
}

/**
 * Calls the API with this token. The caller names the shape of the answer, for the path decides it.
 *
 * @param path below `/api/sms`
 * @throws ApiProblem for what the service says is wrong, Unreachable if it does not answer
 */
export async function send<T>(path: string, call: Call, token: string): Promise<T> {
  const answer = await fetch(urlOf(path, call.query), {
    method: call.method ?? 'GET',
    headers: headersOf(call, token),
    body: call.body === undefined ? null : JSON.stringify(call.body),
    signal: call.signal ?? null,
    credentials: 'omit',
    cache: 'no-store',
  }).catch(error => {
    throw noAnswer(error)
  })
  const content = await contentOf(answer)
  setReachable(true)
  if (answer.ok) return content as T
  throw new ApiProblem(content as Api['Problem'], retryAfterOf(answer))
}

/** A call that the page itself gave up says nothing about the service. */
function noAnswer(error: unknown): unknown {
  if (error instanceof DOMException && error.name === 'AbortError') return error
  setReachable(false)
  return new Unreachable(error)
}

/** What does not speak JSON is not the service, but something before it that cannot reach it. */
async function contentOf(answer: Response): Promise<unknown> {
  if (answer.status === 204) return undefined
  try {
    if (!answer.headers.get('content-type')?.includes('json')) throw new Error(`status ${answer.status} without JSON`)
    return await answer.json()
  } catch (error) {
    throw noAnswer(error)
  }
}

function urlOf(path: string, query: Call['query'] = {}): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) parameters.set(name, String(value))
  }
  return `/api/sms${path}${parameters.size === 0 ? '' : `?${parameters}`}`
}

function headersOf({ body, ifMatch, idempotencyKey }: Call, token: string): Record<string, string> {
  return {
    authorization: `Bearer ${token}`,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(ifMatch === undefined ? {} : { 'if-match': `"${ifMatch}"` }),
    ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
  }
}

function retryAfterOf(answer: Response): number | null {
  const seconds = Number.parseInt(answer.headers.get('retry-after') ?? '', 10)
  return Number.isNaN(seconds) ? null : seconds * 1_000
}
