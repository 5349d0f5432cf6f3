import { useMemo } from 'react'
import { useLocation, useSearch } from 'wouter'

/** Parses a query parameter. An invalid value counts as absent, because users edit URLs. */
type Reader<T> = (text: string | null) => T

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

type Readers = Record<string, Reader<string | number | null>>
export type StateOf<R extends Readers> = { [Name in keyof R]: ReturnType<R[Name]> }

/**
 * State in the query string, so that a page can be shared, reloaded and navigated back to. Default values are left
 * out. Several components of a page can each have their own parameters.
 *
 * @param readers the parameters; a module constant, because the state is memoized by its identity
 * @returns the state, and a function that changes parts of it and adds a history entry
 */
export function useUrlState<R extends Readers>(readers: R): [StateOf<R>, (change: Partial<StateOf<R>>) => void] {
  const search = useSearch()
  const [location, navigate] = useLocation()
  const state = useMemo(() => {
    const query = new URLSearchParams(search)
    const entries = Object.entries(readers).map(([name, read]) => [name, read(query.get(name))])
    return Object.fromEntries(entries) as StateOf<R>
  }, [readers, search])

  function change(parts: Partial<StateOf<R>>): void {
    const query = new URLSearchParams(search)
    for (const [name, value] of Object.entries({ ...state, ...parts })) {
      const isDefault = value === null || value === readers[name]?.(null)
      if (isDefault) query.delete(name)
      else query.set(name, String(value))
    }
    navigate(query.size === 0 ? location : `${location}?${query}`)
  }
  return [state, change]
}

/**
 * The parameters in the query string whose value means nothing, with that value: a list that silently left such a filter
 * out would show, and change, more than was asked for.
 */
export function useMeaningless<R extends Readers>(readers: R): readonly [name: keyof R & string, value: string][] {
  const query = new URLSearchParams(useSearch())
  return Object.entries(readers).flatMap(([name, read]) => {
    const value = query.get(name)
    return value !== null && value !== '' && read(value) === null ? [[name, value] as const] : []
  })
}
