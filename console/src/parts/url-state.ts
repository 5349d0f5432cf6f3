import { useMemo } from 'react'
import { useLocation, useSearch } from 'wouter'

/** How a parameter of the address is read. What makes no sense counts as absent: addresses are typed by people. */
type Reader<T> = (text: string | null) => T

export const uint: Reader<number | null> = text => {
  const value = text !== null && /^(?:0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(value) ? value : null
}

/** Where a page of a list begins, as the API gave it. */
export const cursor: Reader<string | null> = text =>
  text !== null && /^[A-Za-z0-9_-]{1,1000}$/.test(text) ? text : null

/** A whole number from 1 to `max`; `fallback` otherwise. */
export function count(fallback: number, max = Number.MAX_SAFE_INTEGER): Reader<number> {
  return text => {
    const value = uint(text)
    return value !== null && value >= 1 && value <= max ? value : fallback
  }
}

/** One of these; `fallback` otherwise. */
export function oneOf<const T extends string, const F extends T | null>(
  values: readonly T[],
  fallback: F,
): Reader<T | F> {
  return text => values.find(value => value === text) ?? fallback
}

type Readers = Record<string, Reader<string | number | null>>
type StateOf<R extends Readers> = { [Name in keyof R]: ReturnType<R[Name]> }

/**
 * What a page shows, kept in the query of its address, so that it can be sent, reloaded and gone back to. What is as
 * it would be anyway is left out.
 *
 * @param readers the parameters; a constant, not made anew at each rendering
 * @returns the state, and how to change parts of it as a step that "back" takes back
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
    const query = new URLSearchParams()
    for (const [name, value] of Object.entries({ ...state, ...parts })) {
      const isDefault = value === null || value === readers[name]?.(null)
      if (!isDefault) query.set(name, String(value))
    }
    navigate(query.size === 0 ? location : `${location}?${query}`)
  }
  return [state, change]
}
