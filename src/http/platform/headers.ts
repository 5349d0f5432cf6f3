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
  return typeof id === 'string' && /^[A-Za-z0-9._:-]{1,128}$/.test(id) ? id : undefined
}

/** For responses that report progress: nginx would hold their lines back until its buffer is full. */
export const UNBUFFERED = { 'x-accel-buffering': 'no' }
