import type { Database } from '../db/database.ts'
import { countEvents, type EventCounts, type Positions, readOutboxEnds } from '../db/outbox.ts'
import type { Job } from './runner.ts'

/**
 * Counts the events of the outbox by type, for metrics. It reads behind the writers, so that it costs them nothing. It
 * counts the events of all processes, from its first step on.
 */
export interface EventCounter extends Job {
  /** One step: the events since the last one, up to a thousand of each shard. Resolves to whether there are more. */
  countOnce(): Promise<boolean>
}

export interface EventCounterOptions {
  db: Database
  onEvents: (counts: EventCounts['counts']) => void
}

const INTERVAL_MS = 10_000

export function createEventCounter({ db, onEvents }: EventCounterOptions): EventCounter {
  let counted: Positions | undefined

  async function countOnce(): Promise<boolean> {
    const ends = await readOutboxEnds(db)
    const { counts, reached } = await countEvents(db, counted ?? ends, ends)
    counted = reached
    onEvents(counts)
    return ends.some((end, shard) => end > (reached[shard] ?? 0))
  }

  return {
    name: 'event counter',
    countOnce,
    async step() {
      const isBehind = await countOnce()
      // At most a third of the time, because no caller waits for it.
      return tookMs => (isBehind ? 5 + 2 * tookMs : INTERVAL_MS)
    },
  }
}
