import type { Database } from '../db/connection/database.ts'
import { countEvents, type EventCounts, readOutboxEnds } from '../db/outbox/outbox.ts'
import { SHARDS, type Shard } from '../domain/basics/shard.ts'
import { createPageSize, forEachApart } from './isolation.ts'
import type { Job } from './runner.ts'

/**
 * Counts the events of the outbox by type, for metrics. It reads behind the writers, so that it costs them nothing. It
 * counts the events of all processes, from its first step on.
 */
export interface EventCounter extends Job {
  /** One step: the events since the last one, up to a thousand of each shard. Resolves to whether there are more. */
  countOnce(signal?: AbortSignal): Promise<boolean>
}

export interface EventCounterOptions {
  db: Database
  onEvents: (counts: EventCounts) => void
}

const INTERVAL_MS = 10_000

/** Events of a shard that are counted at a time. */
const PAGE = 1_000

export function createEventCounter({ db, onEvents }: EventCounterOptions): EventCounter {
  /** The last number that was counted in each shard. */
  let counted: number[] | undefined
  const pageSize = createPageSize(PAGE)

  async function countOnce(signal?: AbortSignal): Promise<boolean> {
    const ends = await readOutboxEnds(db)
    counted ??= [...ends]
    const reached = counted
    // A fail-over that lost events moved the ends back.
    for (const [shard, end] of ends.entries()) reached[shard] = Math.min(reached[shard] ?? 0, end)
    const isBehind = (shard: Shard) => (ends[shard] ?? 0) > (reached[shard] ?? 0)
    await forEachApart(SHARDS.filter(isBehind), signal, async shard => {
      const after = reached[shard] ?? 0
      await pageSize.run(async rows => {
        const until = Math.min(ends[shard] ?? 0, after + rows)
        onEvents(await countEvents(db, shard, after, until))
        reached[shard] = until
      })
    })
    return SHARDS.some(isBehind)
  }

  return {
    name: 'event counter',
    countOnce,
    async step(signal) {
      const isBehind = await countOnce(signal)
      // At most a third of the time, because no caller waits for it.
      return { isBehind, pauseMs: tookMs => (isBehind ? 5 + 2 * tookMs : INTERVAL_MS) }
    },
  }
}
