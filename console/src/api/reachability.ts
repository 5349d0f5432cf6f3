import { useSyncExternalStore } from 'react'

/** Whether the service responded to the last request. Every request sets it; the shell shows it. */
let reachable = true
const listeners = new Set<() => void>()

export function setReachable(is: boolean): void {
  if (is === reachable) return
  reachable = is
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function useReachable(): boolean {
  return useSyncExternalStore(subscribe, () => reachable)
}
