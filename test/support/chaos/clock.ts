import type { EpochMs } from '../../../src/domain/time.ts'

/** When the story of a chaos begins. */
const FIRST = Date.parse('2026-03-14T20:30:00.000Z')

/** A clock that all processes of a chaos share; one may lag behind. */
export function clockFrom(env: Record<string, string | undefined>): () => EpochMs {
  const [began, speed, lag] = [env.CHAOS_BEGAN, env.CHAOS_SPEED, env.CHAOS_LAG_MS ?? 0].map(Number) as [
    number,
    number,
    number,
  ]
  return () => Math.round(FIRST + (Date.now() - began) * speed) - lag
}
