/** A random key for one intended change, which the service applies once even if the request is repeated. */
export function newIdempotencyKey(): string {
  // Not randomUUID(), which browsers have only on https and localhost.
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
}
