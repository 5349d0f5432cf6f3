import { useSyncExternalStore } from 'react'

/** How close the rows of tables are, in all of the console. */
export const DENSITIES = ['comfortable', 'compact'] as const
export type Density = (typeof DENSITIES)[number]

/** Where this browser keeps the choice, and the event that announces another one. */
const KEY = 'sms-quota.density'

function stored(): Density {
  try {
    return localStorage.getItem(KEY) === 'compact' ? 'compact' : 'comfortable'
  } catch {
    // The storage is forbidden.
    return 'comfortable'
  }
}

function subscribe(listener: () => void): () => void {
  window.addEventListener(KEY, listener)
  return () => window.removeEventListener(KEY, listener)
}

export function useDensity(): Density {
  return useSyncExternalStore(subscribe, stored)
}

export function chooseDensity(density: Density): void {
  try {
    localStorage.setItem(KEY, density)
  } catch {
    // The storage is full or forbidden.
  }
  window.dispatchEvent(new Event(KEY))
}
