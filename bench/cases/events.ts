/**
 * A million packages that end at one instant: how long until all their events are emitted, by one service and by two, and
 * how long a reader of the feed takes for these events, compared with reading the table once.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { type Database, openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { timestampParam } from '../../src/db/connection/values.ts'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { createFeed, type FeedQuery } from '../../src/events/feed.ts'
import { rawSql } from '../../test/support/sql.ts'
import { timeOf } from '../compare.ts'
import { fillUsers } from '../fill.ts'
import { newSecret, startService } from '../servers/test-bed.ts'
import type { Bench, Findings, Row } from './bench.ts'

const GOAL_S = 60
/** Times the reading of the table once. */
const READER_GOAL = 4
const PAGE = 200

export async function eventsCase(bench: Bench): Promise<Findings> {
  const ends = bench.settings.isQuick ? 100_000 : 1_000_000
  const one = await emit(bench, ends, 1)
  const two = await emit(bench, ends, 2)
  const reading = await read(bench, one.url, ends)
  return {
    rows: [emissionRow('one service', ends, one.seconds), emissionRow('two services', ends, two.seconds), reading],
    details: [],
    notes: [],
  }
}

/** Starts services on a database whose quotas have all ended, and waits until every event is there. */
async function emit(bench: Bench, ends: number, services: number): Promise<{ url: string; seconds: number }> {
  const { postgres, now, say } = bench
  say(`events: filling ${ends.toLocaleString('en')} packages`)
  const { db, url } = await postgres.make(`bench_events_${services}`)
  await fillUsers(db, ends, now - 60 * DAY_MS)
  // Without a period: a package has one window, until its end.
  await db.query({
    text: sql`update quota set period = null, window_end = null, expires_at = $1`,
    values: [timestampParam(now)],
  })
  await db.query({ text: sql`vacuum (analyze) quota` })
  await postgres.checkpoint()
  const secret = newSecret()
  const began = performance.now()
  const running = await Promise.all(Array.from({ length: services }, () => startService(bench, url, secret)))
  while ((await countEmitted(db)) < ends) await pause(200)
  const seconds = (performance.now() - began) / 1000
  say(`  ${running.length} running: ${seconds.toFixed(1)} s, with their start`)
  await Promise.all(running.flatMap(({ processes }) => Object.values(processes).map(process => process.stop())))
  return { url, seconds }
}

async function countEmitted(db: Database): Promise<number> {
  const [row] = await db.query<{ emitted: number }>({
    text: sql`select sum(last_event)::bigint as emitted from shard_head`,
  })
  return row?.emitted ?? 0
}

/** One reader of the feed, page after page, and the whole table in the order of its key. */
async function read({ say, cleanup }: Bench, url: string, ends: number): Promise<Row> {
  const db = openDatabase({ url, maxConnections: 2, statementTimeout: 0 })
  cleanup.add(() => db.close())
  const feed = createFeed(db)
  let count = 0
  const feedMs = await timeOf(async () => {
    let after: FeedQuery['after'] = 'oldest'
    for (let isAll = false; !isAll; ) {
      const page = await feed.read({ after, limit: PAGE, waitMs: 0 }, 'bench', AbortSignal.timeout(3_600_000))
      if (page.outcome !== 'page') throw new Error(`the feed answered ${page.outcome}`)
      count += page.events.length
      after = page.next
      isAll = page.events.length === 0
    }
  })
  feed.stop()
  if (count !== ends) throw new Error(`the feed gave ${count} events of ${ends}`)
  const tableMs = await timeOf(async () => {
    let [shard, number] = [0, 0]
    for (let rows = 1; rows > 0; ) {
      const page = await db.query<{ shard: number; number: number }>({
        text: rawSql`select shard, number, type, at, user_id, sequence, data from event
          where (shard, number) > ($1, $2) order by shard, number limit ${PAGE}`,
        values: [shard, number],
      })
      rows = page.length
      shard = page.at(-1)?.shard ?? 0
      number = page.at(-1)?.number ?? 0
    }
  })
  say(`  the feed: ${(feedMs / 1000).toFixed(1)} s, the table once: ${(tableMs / 1000).toFixed(1)} s`)
  return {
    what: `a reader of the feed, ${ends.toLocaleString('en')} events in pages of ${PAGE}`,
    peer: 'the table once, in pages of the same size',
    ours: `${(feedMs / 1000).toFixed(1)} s`,
    theirs: `${(tableMs / 1000).toFixed(1)} s`,
    ratio: feedMs / tableMs,
    goal: `≤ ${READER_GOAL}×`,
    isMet: feedMs / tableMs <= READER_GOAL,
  }
}

function emissionRow(who: string, ends: number, seconds: number): Row {
  const goal = (GOAL_S * ends) / 1_000_000
  return {
    what: `${ends.toLocaleString('en')} packages end at one instant, ${who}: until all events are there`,
    peer: 'the goal',
    ours: `${seconds.toFixed(1)} s`,
    theirs: `${goal} s`,
    ratio: seconds / goal,
    goal: '≤ 1×',
    isMet: seconds <= goal,
  }
}
