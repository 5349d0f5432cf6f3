import type { EpochMs } from '../../domain/time.ts'

/**
 * A read that all callers share: it runs once at a time, and answers for a while what it has read. A failure is not kept. What comes
 * too late for one caller is there for the next.
 */
export function keep<T>(keptMs: number, now: () => EpochMs, read: (at: EpochMs) => Promise<T>): () => Promise<T> {
  let kept: { value: T; at: EpochMs } | null = null
  let reading: Promise<T> | null = null

  async function readNow(): Promise<T> {
    const at = now()
    try {
      const value = await read(at)
      kept = { value, at }
      return value
    } finally {
      reading = null
    }
  }

  return async () => {
    // The absolute value, so that a clock that was ahead once does not make what is kept stay.
    if (kept !== null && Math.abs(now() - kept.at) < keptMs) return kept.value
    reading ??= readNow()
    return reading
  }
}
