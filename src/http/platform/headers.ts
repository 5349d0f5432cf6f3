/** Headers that answers have in common, also those that come before the framework. */
import type { IncomingHttpHeaders } from 'node:http'

export const PLAIN_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

/** With the headers that only browsers use. Senders get thousands of responses a second without them. */
export const SECURITY_HEADERS = {
  ...PLAIN_HEADERS,
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
}

/** For answers over the service's own TLS: browsers come with TLS only from then on, for a year. */
export const STRICT_TLS = { 'strict-transport-security': 'max-age=31536000' }

/** The client's own request id, if it is safe in a header and in the log. */
export function clientRequestId(headers: IncomingHttpHeaders): string | undefined {
  const id = headers['x-request-id']
  return isRequestId(id) ? id : undefined
}

export const isRequestId = (id: unknown): id is string => typeof id === 'string' && /^[A-Za-z0-9._:-]{1,128}$/.test(id)

/** By their lengths. Node.js keeps the first of several, and another server before this one may have looked at the last. It joins others, or refuses them. */
const ONCE: readonly (string | undefined)[] = Object.assign([], { 4: 'host', 12: 'content-type', 13: 'authorization' })

/** A header that a request has more than once, and that counts once. @param rawHeaders names and values in turn */
export function repeatedHeader(rawHeaders: readonly string[]): string | undefined {
  let seen = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    const once = ONCE[name.length]
    if (once === undefined || name.toLowerCase() !== once) continue
    if ((seen & (1 << name.length)) !== 0) return once
    seen |= 1 << name.length
  }
  return undefined
}

/** For responses that report progress: nginx would hold their lines back until its buffer is full. */
export const UNBUFFERED = { 'x-accel-buffering': 'no' }
