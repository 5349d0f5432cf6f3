import { useState } from 'react'

/**
 * State that this browser keeps, such as the columns of a table. Without storage, as in some private windows, it lasts
 * until the page is left.
 *
 * @param read checks what is stored, because an older version or the user may have written it; `undefined`: nothing is
 * @returns the state, and a function that replaces it
 */
export function useStored<T>(key: string, read: (stored: unknown) => T): [T, (next: T) => void] {
  const [value, setValue] = useState(() => read(storedAt(key)))
  function store(next: T): void {
    setValue(next)
    try {
      localStorage.setItem(key, JSON.stringify(next))
    } catch {
      // The storage is full or forbidden.
    }
  }
  return [value, store]
}

function storedAt(key: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(key) ?? 'null') ?? undefined
  } catch {
    return undefined
  }
}
