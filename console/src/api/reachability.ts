import { useSyncExternalStore } from 'react'

/** Whether the service responded to the last request. Every request sets it; the shell shows it. */
let reachable = true
/** When it last responded. */
let heardAt = Number.NEGATIVE_INFINITY
const listeners = new Set<() => void>()

/** How long a call waits without any response until a cheap one asks whether the service responds at all: some reports take longer. */
const PROBE_MS = 2_000
const SILENCE_MS = 3_000

/** Says that the service does not respond if it is silent for too long while a call waits. */
export function watch(call: Promise<unknown>): void {
  const since = performance.now()
  const ifSilent = (act: () => void) => () => heardAt < since && act()
  const probe = () =>
    void fetch('/livez', { cache: 'no-store' }).then(
      () => setReachable(true),
      () => {},
    )
  const timers = [
    setTimeout(ifSilent(probe), PROBE_MS),
    setTimeout(
      ifSilent(() => setReachable(false)),
      SILENCE_MS,
    ),
  ]
  const stop = () => timers.forEach(clearTimeout)
  call.then(stop, stop)
}

export function setReachable(is: boolean): void {
  if (is) heardAt = performance.now()
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
