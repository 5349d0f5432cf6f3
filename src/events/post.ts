import http from 'node:http'
import https from 'node:https'
import type { Attempt } from '../db/deliveries.ts'
import { ForbiddenAddress, isPublicAddress, literalAddress, lookupPublic } from './addresses.ts'

export interface PostOptions {
  allowPrivate: boolean
  timeoutMs: number
  signal: AbortSignal
}

/**
 * Sends a body to a receiver. Any 2xx status means delivered. A redirect is not followed, because it could lead to any
 * address. The body of the response is not read. It never rejects.
 */
export async function post(
  url: string,
  headers: Record<string, string>,
  body: string,
  { allowPrivate, timeoutMs, signal }: PostOptions,
): Promise<Attempt> {
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const status = await send(new URL(url), headers, body, allowPrivate, AbortSignal.any([signal, timeout]))
    const delivered = status >= 200 && status < 300
    return { delivered, response_code: status, error: delivered ? null : 'the answer was not a 2xx' }
  } catch (error) {
    const reason = timeout.aborted ? `no answer within ${timeoutMs / 1_000} s` : reasonOf(error)
    return { delivered: false, response_code: null, error: reason }
  }
}

function send(
  url: URL,
  headers: Record<string, string>,
  body: string,
  allowPrivate: boolean,
  signal: AbortSignal,
): Promise<number> {
  const literal = literalAddress(url)
  if (!allowPrivate && literal !== undefined && !isPublicAddress(literal)) return Promise.reject(new ForbiddenAddress())
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const request = (url.protocol === 'https:' ? https : http).request(url, {
    method: 'POST',
    headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    // Each delivery has a separate connection, so that none waits for another one or fails with it.
    agent: false,
    signal,
    ...(allowPrivate ? {} : { lookup: lookupPublic }),
  })
  request.on('error', reject)
  request.on('response', response => {
    resolve(response.statusCode ?? 0)
    // A receiver that keeps sending is cut off.
    response.on('error', () => {})
    response.destroy()
  })
  request.end(body)
  return promise
}

/** The reason for administrators: a code or a few words, and nothing that the receiver sent. */
function reasonOf(error: unknown): string {
  if (error instanceof ForbiddenAddress) return error.message
  if (!(error instanceof Error)) return 'the connection failed'
  return 'code' in error && typeof error.code === 'string'
    ? `the connection failed: ${error.code}`
    : 'the connection failed'
}
