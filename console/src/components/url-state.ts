import { useMemo } from 'react'
import { useLocation, useSearch } from 'wouter'
import type { Readers, StateOf } from '../model/url-parameters.ts'

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
