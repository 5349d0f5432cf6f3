/** Parses a query parameter. An invalid value counts as absent, because users edit URLs. */
export type Reader<T> = (text: string | null) => T

export const uint: Reader<number | null> = text => {
  const value = text !== null && /^(?:0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(value) ? value : null
}

/** A text that matches the pattern. */
export function matching(pattern: RegExp): Reader<string | null> {
  return text => (text !== null && pattern.test(text) ? text : null)
}

/** An opaque cursor of the API. */
export const cursor = matching(/^[A-Za-z0-9_-]{1,5000}$/)

/** A whole number from 1 to `max`; `fallback` otherwise. */
export function count(fallback: number, max = Number.MAX_SAFE_INTEGER): Reader<number> {
  return text => {
    const value = uint(text)
    return value !== null && value >= 1 && value <= max ? value : fallback
  }
}

/** A calendar date, 2026-03-01. */
export const day: Reader<string | null> = text => {
  const at = text !== null && /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T00:00:00Z`) : null
  return at !== null && !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text ?? '') ? text : null
}

/** A timestamp in UTC, 2026-03-01T12:00:00.000Z. */
export const timestamp: Reader<string | null> = text =>
  text !== null && /^\d{4}-\d\d-\d\dT[\d:.]{5,12}Z$/.test(text) && !Number.isNaN(Date.parse(text)) ? text : null

/** One of these; `fallback` otherwise. */
export function oneOf<const T extends string, const F extends T | null>(
  values: readonly T[],
  fallback: F,
): Reader<T | F> {
  return text => values.find(value => value === text) ?? fallback
}

export type Readers = Record<string, Reader<string | number | null>>
export type StateOf<R extends Readers> = { [Name in keyof R]: ReturnType<R[Name]> }
