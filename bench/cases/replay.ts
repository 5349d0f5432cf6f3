/**
 * The breaker's replay of the last 14 days, all pages, over HTTP, one call at a time. Of a few users who send all the time, ten million
 * messages a day together, and of many with a hundred messages a day. One destination in a hundred is attacked once a day.
 */
import type { Database } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { timestampParam } from '../../src/db/connection/values.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
import { quantile, timeOf } from '../compare.ts'
import { withoutIndexes } from '../fill.ts'
import { megabytes, peakBytes } from '../servers/processes.ts'
import { mintFor, newSecret, startService } from '../servers/test-bed.ts'
import type { Bench, Findings } from './bench.ts'

/** The replayed days, and those of their history. */
const DAYS = 29
/** Messages of an attack. */
const ATTACK = 300

export interface Senders {
  name: string
  users: number
  countries: readonly string[]
  /** Quarters of an hour of a day in which a user sends to each country. */
  times: number
  messagesADay: number
}

export const BUSY_SENDERS: Senders = {
  ...{ name: 'busy', users: 2_500, countries: ['DE', 'FR'], times: 96 },
  messagesADay: 10_000_000,
}
const SENDERS: readonly Senders[] = [
  BUSY_SENDERS,
  { name: 'many', users: 10_000, countries: ['DE'], times: 48, messagesADay: 1_000_000 },
]

export async function replayCase(bench: Bench): Promise<Findings> {
  const notes: string[] = []
  for (const all of SENDERS) {
    const part = bench.settings.isQuick ? 10 : 1
    notes.push(await measureReplay(bench, { ...all, users: all.users / part, messagesADay: all.messagesADay / part }))
  }
  return { rows: [], details: [], notes }
}

async function measureReplay(bench: Bench, senders: Senders): Promise<string> {
  const { postgres, say } = bench
  const { name, users, countries, messagesADay } = senders
  const what = `${users.toLocaleString('en')} users, ${users * countries.length} destinations, ${messagesADay.toLocaleString('en')} messages a day`
  say(`replay: filling ${DAYS} days of ${what}`)
  const { db, url } = await postgres.make(`bench_replay_${name}`)
  await withoutIndexes(db, 'usage', () => fillCodes(db, senders, bench.now))
  await db.query({ text: sql`vacuum (analyze) usage` })
  await postgres.checkpoint()

  say('replay: measuring')
  const secret = newSecret()
  const service = await startService(bench, url, secret)
  const headers = { authorization: `Bearer ${await mintFor('admin', secret)}` }
  const pid = service.processes.service?.pid
  const before = await peakBytes(pid)
  const cpuBefore = await postgres.cpu()
  const times: number[] = []
  let [pauses, stopped, cursor]: [number, number, string | null] = [0, 0, '']
  while (cursor !== null) {
    const address = `${service.url}/api/sms/admin/breaker/replay?page_size=100${cursor === '' ? '' : `&cursor=${cursor}`}`
    const ms = await timeOf(async () => {
      const response = await fetch(address, { headers })
      const text = await response.text()
      if (!response.ok) throw new Error(`the replay answered ${response.status}: ${text}`)
      const page: { items: { stopped: number }[]; next_cursor: string | null } = JSON.parse(text)
      pauses += page.items.length
      for (const item of page.items) stopped += item.stopped
      cursor = page.next_cursor
    })
    times.push(ms)
  }
  const cpu = ((await postgres.cpu()) ?? 0) - (cpuBefore ?? 0)
  const seconds = times.reduce((sum, ms) => sum + ms, 0) / 1_000
  const figures = [
    `${pauses.toLocaleString('en')} pauses that stop ${stopped.toLocaleString('en')} messages`,
    `${seconds.toFixed(1)} s in ${times.length} calls, median ${quantile(times, 0.5).toFixed(0)} ms, longest ${Math.max(...times).toFixed(0)} ms`,
    `${cpu.toFixed(1)} s of PostgreSQL's CPU`,
    `peak memory of the service ${megabytes(before)} before, ${megabytes(await peakBytes(pid))} after`,
  ]
  say(`  ${figures.join('; ')}`)
  return `- ${what}: ${figures.join('; ')}`
}

/** Rows lie in the order of time, as the rollup writes them: those of a user are on as many pages. */
export async function fillCodes(
  db: Database,
  { users, countries, times, messagesADay }: Senders,
  now: number,
): Promise<void> {
  const shards = Array.from({ length: users }, (_, index) => shardOf(index + 1))
  const messages = messagesADay / users / countries.length / times
  for (let day = DAYS; day > 0; day--)
    await db.query({
      text: sql`insert into usage (shard, user_id, bucket, quota_id, country, message_type, committed, committed_messages, refunded,
          refunded_messages, denied, denied_messages, verified_messages)
        select shard, user_id, bucket, user_id, country, 'otp', sent, sent, 0, 0, 0, 0, verified from (
          select shard, user_id, country, bucket, honest + attack as sent, round(honest * (0.85 + 0.1 * random())) as verified
          from (
            select date_bin('15 min', $3::timestamptz - $4::int * interval '1 day' + time * interval '1 day' / $5::int, 'epoch') as bucket, time
            from generate_series(0, $5::int - 1) time
          ) t,
          unnest($1::smallint[]) with ordinality u (shard, user_id), unnest($2::text[]) with ordinality c (country, nth),
          lateral (select round($6::float8 * (0.5 + random())) as honest,
            case when time = $5::int / 2 and mod(user_id * 7 + nth, 100) = 0 then $7::int else 0 end as attack) r
        ) s order by bucket`,
      values: [shards, [...countries], timestampParam(now), day, times, messages, ATTACK],
    })
}
