import type { EpochMs } from '../../../src/domain/time/time.ts'

/** The services' time at the start of the chaos test. */
const FIRST = Date.parse('2026-03-14T20:30:00.000Z')

/** The clock that all processes of the chaos test share; CHAOS_LAG_MS sets one back. */
export function clockFrom(env: Record<string, string | undefined>): () => EpochMs {
  const [began, speed, lag] = [env.CHAOS_BEGAN, env.CHAOS_SPEED, env.CHAOS_LAG_MS ?? 0].map(Number) as [
    number,
    number,
    number,
  ]
  return () => Math.round(FIRST + (Date.now() - began) * speed) - lag
}
