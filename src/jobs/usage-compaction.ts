import type { Database, Log } from '../db/connection/database.ts'
import { isDataError } from '../db/connection/errors.ts'
import {
  COMPACTION_PAGE,
  type CompactionStep,
  compactTotals,
  compactUsers,
  type Level,
  oldestUsage,
  UnusableUsage,
} from '../db/usage/compaction.ts'
import { hasPendingBefore, sumBusyUsers, takeBackBusy } from '../db/usage/heavy-users.ts'
import { shardsBehind } from '../db/usage/maintenance.ts'
import { USAGE_DAYS_KEPT, USAGE_DETAIL_DAYS } from '../domain/basics/bounds.ts'
import type { Shard } from '../domain/basics/shard.ts'
import { plainCalendar } from '../domain/time/period.ts'
import { DAY_MS, type EpochMs, HOUR_MS, removalTime } from '../domain/time/time.ts'
import { lastBoundary, nextBoundary } from '../domain/time/window.ts'
import { createPageSize, forEachApart } from './isolation.ts'
import type { Job } from './runner.ts'

/**
 * Keeps usage small and quick to read: compacts old quarters of an hour into days, old days into months, and adds up the
 * many rows of busy users. Any number of processes may run it.
 */
export interface UsageCompaction extends Job {
  /**
   * One step: a page of each shard that has something to do, each in a short transaction.
   * @throws PartsFailed after the last shard, if some failed
   */
  compactOnce(now: EpochMs, signal?: AbortSignal): Promise<Compaction>
}

interface Compaction {
  /** Rows that were compacted. */
  rows: number
  /** Whether there is more to do. */
  isBehind: boolean
}

const nothing = (): Compaction => ({ rows: 0, isBehind: false })

export interface UsageCompactionOptions {
  db: Database
  log: Log
  now: () => EpochMs
  /** The IANA name of the time zone whose days and months usage is compacted into. */
  timeZone: string
  /** Called after every step of the job. */
  onCompaction?: (compaction: Compaction) => void
}

const INTERVAL_MS = 60_000

/** The time after a day's end from which its rows are taken for final: no process's clock is that far behind. */
const SETTLED_MS = HOUR_MS / 2

/** Users of a shard whose usage cannot be added up and is left. With more, the shard waits for an operator. */
const MAX_UNUSABLE = 1_000

const AGES = { day: USAGE_DETAIL_DAYS, month: USAGE_DAYS_KEPT }

/** Compacts shards by pages, and remembers what cannot be compacted. */
function createCompactor(db: Database, log: Log) {
  const page = createPageSize(COMPACTION_PAGE)
  /** Users by level and shard. They are tried again with the next day or month. */
  const unusable = new Map<string, { before: EpochMs; users: Set<number> }>()

  function skippedOf({ level, before }: CompactionStep, shard: Shard): Set<number> {
    const key = `${level} ${shard}`
    const known = unusable.get(key)
    if (known?.before === before) return known.users
    const users = new Set<number>()
    unusable.set(key, { before, users })
    return users
  }

  return {
    totals: (step: CompactionStep) => page.run(rows => compactTotals(db, step, rows)),

    /** A page of a shard. If it holds a row that is refused: the rows before that one, and then without its user. */
    async users(shard: Shard, step: CompactionStep): Promise<{ rows: number; hasMore: boolean }> {
      const skipped = skippedOf(step, shard)
      let max = COMPACTION_PAGE
      for (;;) {
        try {
          return await page.run(async rows => {
            max = Math.min(max, rows)
            return compactUsers(db, shard, step, max, skipped)
          })
        } catch (error) {
          if (error instanceof UnusableUsage && skipped.size < MAX_UNUSABLE) {
            const { userId: user_id } = error
            log.error({ err: error, shard, user_id }, 'usage compaction: left usage that cannot be added up')
            skipped.add(user_id)
          } else if (isDataError(error) && max > 1) {
            max = Math.floor(max / 2)
          } else {
            throw error
          }
        }
      }
    },
  }
}

/** The days or months to compact. */
async function stepOf(db: Database, timeZone: string, level: Level, now: EpochMs): Promise<CompactionStep> {
  const calendar = plainCalendar(level, timeZone)
  const before = lastBoundary(calendar, removalTime(now) - AGES[level] * DAY_MS)
  const oldest = await oldestUsage(db, level, before)
  const starts: EpochMs[] = []
  let start = oldest === null ? before : lastBoundary(calendar, oldest)
  for (; start < before; start = nextBoundary(calendar, start)) starts.push(start)
  return { level, before, starts }
}

export function createUsageCompaction(options: UsageCompactionOptions): UsageCompaction {
  const { db, log, now: clock, timeZone, onCompaction } = options
  const compactor = createCompactor(db, log)

  async function compactLevel(level: Level, now: EpochMs, done: Compaction, signal?: AbortSignal): Promise<void> {
    const step = await stepOf(db, timeZone, level, now)
    await forEachApart(await shardsBehind(db, level, step.before), signal, async shard => {
      const { rows, hasMore } = await compactor.users(shard, step)
      done.rows += rows
      done.isBehind ||= hasMore
    })
    if (step.starts.length === 0) return
    const totals = await compactor.totals(step)
    done.rows += totals
    done.isBehind ||= totals > 0
  }

  async function sumBusy(now: EpochMs, done: Compaction, signal?: AbortSignal): Promise<void> {
    const until = floorDay(now - SETTLED_MS)
    await takeBackBusy(db, until, now)
    // The first whole day (UTC) that is not compacted.
    const since = floorDay(
      lastBoundary(plainCalendar('day', timeZone), removalTime(now) - AGES.day * DAY_MS) + DAY_MS - 1,
    )
    await forEachApart(await shardsBehind(db, 'busy', until), signal, async shard => {
      if (await hasPendingBefore(db, shard, until)) return
      const hasMore = await sumBusyUsers(db, shard, since, until, (user_id, error) =>
        log.error({ err: error, shard, user_id }, 'usage compaction: left a busy user without sums'),
      )
      done.isBehind ||= hasMore
    })
  }

  async function compactInto(done: Compaction, now: EpochMs, signal?: AbortSignal): Promise<void> {
    await forEachApart(
      [
        () => compactLevel('day', now, done, signal),
        () => compactLevel('month', now, done, signal),
        () => sumBusy(now, done, signal),
      ],
      signal,
      work => work(),
    )
  }

  return {
    name: 'usage compaction',
    async compactOnce(now, signal) {
      const done = nothing()
      await compactInto(done, now, signal)
      return done
    },
    async step(signal) {
      const done = nothing()
      try {
        await compactInto(done, clock(), signal)
      } finally {
        onCompaction?.(done)
      }
      // At most a third of the time: senders come first, and old usage only takes space.
      const { isBehind } = done
      return { isBehind, pauseMs: tookMs => (isBehind ? 5 + 2 * tookMs : Math.max(INTERVAL_MS, 2 * tookMs)) }
    },
  }
}

const floorDay = (at: EpochMs) => Math.floor(at / DAY_MS) * DAY_MS
