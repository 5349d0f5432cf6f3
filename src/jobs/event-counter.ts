import type { Database, Log } from '../db/database.ts'
import { countEvents, type EventCounts, type Positions, readOutboxEnds } from '../db/outbox.ts'
import { createLoop, type Loop } from './job.ts'

/**
 * Counts what the outbox tells, by type, for metrics: behind those who write it, so that it costs them nothing. It sees
 * the events of all processes, from its first step on.
 */
export interface EventCounter extends Loop {
  /** One step: what came since the one before, a thousand events of a shard at most. Answers whether there is more. */
  countOnce(): Promise<boolean>
}

export interface EventCounterOptions {
  db: Database
  log: Log
  onEvents: (counts: EventCounts['counts']) => void
}

const INTERVAL_MS = 10_000

export function createEventCounter({ db, log, onEvents }: EventCounterOptions): EventCounter {
  let counted: Positions | undefined

  async function countOnce(): Promise<boolean> {
    const ends = await readOutboxEnds(db)
    const { counts, reached } = await countEvents(db, counted ?? ends, ends)
    counted = reached
    onEvents(counts)
    return ends.some((head, shard) => head > (reached[shard] ?? 0))
  }

  const loop = createLoop({
    name: 'counting of events',
    log,
    async step() {
      const isBehind = await countOnce()
      // A third of the time at most, for nobody waits for it.
      return tookMs => (isBehind ? 5 + 2 * tookMs : INTERVAL_MS)
    },
  })
  return { countOnce, start: loop.start, stop: loop.stop }
}
