/** A bounded map whose entries expire. The least recently used entry is removed first. */
export interface ExpiringMap<T> {
  /** Undefined if there is no entry, or if it has expired at `now`. */
  get(key: string, now: number): T | undefined
  /** @param until when the entry expires, on the same clock as `now` */
  set(key: string, value: T, until: number): void
  clear(): void
}

export function createExpiringMap<T>(maxSize: number): ExpiringMap<T> {
  // Insertion order is the order of use.
  const entries = new Map<string, { value: T; until: number }>()
  return {
    get(key, now) {
      const entry = entries.get(key)
      if (entry === undefined) return undefined
      entries.delete(key)
      if (now >= entry.until) return undefined
      entries.set(key, entry)
      return entry.value
    },
    set(key, value, until) {
      entries.set(key, { value, until })
      for (const oldest of entries.keys()) {
        if (entries.size <= maxSize) break
        entries.delete(oldest)
      }
    },
    clear: () => entries.clear(),
  }
}
