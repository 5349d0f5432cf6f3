/** Converts between API timestamps and values of `datetime-local` fields, which are in the user's time zone. */

export const LOCAL_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone

/** The value of the field for a timestamp; empty for null. */
export function toFieldText(at: string | null): string {
  if (at === null) return ''
  const date = new Date(at)
  const clock = new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString()
  // Without seconds if they are 0.
  return clock.slice(0, clock.slice(17, 19) === '00' ? 16 : 19)
}

/** The API timestamp of a field value; an invalid value is returned unchanged, and the service rejects it with a message. */
export function toTimestamp(fieldText: string): string {
  const date = new Date(fieldText)
  return Number.isNaN(date.getTime()) ? fieldText : date.toISOString()
}
