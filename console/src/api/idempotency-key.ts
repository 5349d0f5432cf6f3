/** A key that nobody else has, for one intention: however often it is sent, it is carried out once. */
export function newIdempotencyKey(): string {
  // Not randomUUID(): browsers have it only on https and on this machine.
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
}
