/** A bounded map whose entries expire. The least recently used entry is removed first, to the precision of a second. */
export interface ExpiringMap<T> {
  /** Undefined if there is no entry, or if it has expired at `now`. */
  get(key: string, now: number): T | undefined
  /** @param until when the entry expires, on the same clock as `now` */
  set(key: string, value: T, until: number): void
  clear(): void
}

/** To move an entry at each use would make the map's table anew all the time. */
const MOVE_MS = 1_000

/** @param maxMs how long an entry stays at most: one of a clock that was ahead stays no longer */
export function createExpiringMap<T>(maxMs: number, maxSize: number): ExpiringMap<T> {
  // Insertion order is the order of use.
  const entries = new Map<string, { value: T; until: number; movedAt: number }>()
  return {
    get(key, now) {
      const entry = entries.get(key)
      if (entry === undefined) return undefined
      const isOver = now >= entry.until || now < entry.until - maxMs
      // The absolute value, so that a clock that was ahead once does not keep an entry in its place.
      if (!isOver && Math.abs(now - entry.movedAt) < MOVE_MS) return entry.value
      entries.delete(key)
      if (isOver) return undefined
      entry.movedAt = now
      entries.set(key, entry)
      return entry.value
    },
    set(key, value, until) {
      entries.set(key, { value, until, movedAt: Number.NEGATIVE_INFINITY })
      for (const oldest of entries.keys()) {
        if (entries.size <= maxSize) break
        entries.delete(oldest)
      }
    },
    clear: () => entries.clear(),
  }
}
