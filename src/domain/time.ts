/** A moment: whole milliseconds since 1970-01-01T00:00:00Z. The domain is told the time; it has no clock of its own. */
export type Instant = number

/** RFC 3339 in UTC with milliseconds: how every moment leaves the service. */
export function formatInstant(at: Instant): string {
  return new Date(at).toISOString()
}
