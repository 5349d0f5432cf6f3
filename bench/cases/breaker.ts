/**
 * What the breaker costs at ten million messages a day to 5,000 destinations: its turns, and the rollup of 15 seconds of usage with its
 * minutes and without them. In CPU, of PostgreSQL and of this process.
 */
import type { Database } from '../../src/db/connection/database.ts'
import { sql, sqlInteger } from '../../src/db/connection/sql.ts'
import { timestampParam } from '../../src/db/connection/values.ts'
import { OF_ALL_SHARDS } from '../../src/db/ledger/add-usage.ts'
import { rollUpUsage } from '../../src/db/usage/rollup.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
import { createPauses } from '../../src/engine/pauses.ts'
import { createBreaker } from '../../src/jobs/breaker.ts'
import { quantile } from '../compare.ts'
import { withoutIndexes } from '../fill.ts'
import type { Bench, Findings } from './bench.ts'
import { BUSY_SENDERS, fillCodes, type Senders } from './replay.ts'

const OF_ALL = sqlInteger(OF_ALL_SHARDS)
const INTERVAL_MS = 15_000
const TURNS = 20
/** Batches of a rollup, and of each the messages: what comes in 15 seconds. */
const BATCHES = 58
const MESSAGES = 30

export async function breakerCase(bench: Bench): Promise<Findings> {
  const { postgres, settings, say, now: at } = bench
  const part = settings.isQuick ? 10 : 1
  const senders = { ...BUSY_SENDERS, users: BUSY_SENDERS.users / part, messagesADay: BUSY_SENDERS.messagesADay / part }
  const { db } = await postgres.make('bench_breaker')
  say('breaker: filling 29 days of codes, and the last minutes')
  await withoutIndexes(db, 'usage', () => fillCodes(db, senders, at))
  await fillMinutes(db, senders, at)
  await db.query({ text: sql`vacuum (analyze) usage` })
  await db.query({ text: sql`vacuum (analyze) breaker_minute` })
  await postgres.checkpoint()

  const log = { info() {}, warn() {}, error() {} }
  const now = () => at
  const rollup = { rollUpOnce: async () => ({ batches: 0, rows: 0, pages: 0, isBehind: false }) }
  const pauses = createPauses({ db, now })
  const breaker = createBreaker({ db, log, now, pauses, rollup, intervalMs: INTERVAL_MS, messageTypes: ['otp'] })
  /** Seconds of CPU. */
  async function cpuOf(work: () => Promise<unknown>): Promise<number> {
    const [node, server] = [process.cpuUsage(), await postgres.cpu()]
    await work()
    const { user, system } = process.cpuUsage(node)
    return ((await postgres.cpu()) ?? 0) - (server ?? 0) + (user + system) / 1_000_000
  }
  say('breaker: measuring')
  const turn = async (judged: { hour: boolean; day: boolean }) => {
    const lastly = (isJudged: boolean) => (isJudged ? null : timestampParam(at))
    await db.query({
      text: sql`update breaker set judged_at = null, hour_judged_at = $1, day_judged_at = $2`,
      values: [lastly(judged.hour), lastly(judged.day)],
    })
    await breaker.judgeOnce()
  }
  const perTurn = async (judged: { hour: boolean; day: boolean }) =>
    (await cpuOf(async () => {
      for (let n = 0; n < TURNS; n++) await turn(judged)
    })) / TURNS
  // The first one reads what was usual of each suspect, for the day.
  const first = await cpuOf(() => turn({ hour: true, day: true }))
  const trips = (await db.query({ text: sql`select 1 from pause` })).length
  const young = await perTurn({ hour: false, day: false })
  const hour = (await perTurn({ hour: true, day: false })) - young
  const day = (await perTurn({ hour: false, day: true })) - young
  const rollups = { with: [] as number[], without: [] as number[] }
  for (let round = 0; round < 10; round++) {
    for (const [side, types] of [
      ['with', ['otp']],
      ['without', []],
    ] as const) {
      await fillPending(db, senders, at)
      rollups[side].push(await cpuOf(() => rollUpUsage(db, OF_ALL_SHARDS, types)))
    }
  }
  const [counted, plain] = [quantile(rollups.with, 0.5), quantile(rollups.without, 0.5)]
  const share = (young + counted - plain) / (INTERVAL_MS / 1_000) + hour / 60 + day / 900
  const figures = [
    `the first turn of a day ${ms(first)} (${trips} destinations tripped)`,
    `young messages, every 15 s, ${ms(young)}`,
    `an hour, every minute, ${ms(hour)}`,
    `a day, every quarter of an hour, ${ms(day)}`,
    `a rollup of ${BATCHES * MESSAGES} messages ${ms(counted)} with minutes, ${ms(plain)} without`,
    `together ${(100 * share).toFixed(2)} % of a core (goal: 1 %)`,
  ]
  say(`  ${figures.join('; ')}`)
  const what = `${senders.messagesADay.toLocaleString('en')} messages a day, ${senders.users * senders.countries.length} destinations`
  return { rows: [], details: [], notes: [`- Breaker, ${what}, in CPU: ${figures.join('; ')}`] }
}

const ms = (seconds: number) => `${(1_000 * seconds).toFixed(1)} ms`

/** Codes are entered after two minutes: of the last ones, none is yet. */
async function fillMinutes(db: Database, { users, countries, messagesADay }: Senders, at: number): Promise<void> {
  const shards = Array.from({ length: users }, (_, index) => shardOf(index + 1))
  await db.query({
    text: sql`insert into breaker_minute (shard, minute, user_id, country, sent, verified)
      select shard, minute, user_id, country, sent, case when back < 2 then 0 else round(sent * (0.85 + 0.1 * random())) end
      from (
        select shard, date_bin('1 min', $3::timestamptz - back * interval '1 min', 'epoch') as minute, back, user_id, country,
          floor(random() * 2 * $4::float8 + 0.5)::bigint as sent
        from unnest($1::smallint[]) with ordinality u (shard, user_id), unnest($2::text[]) country, generate_series(0, 74) back
      ) m where sent > 0`,
    values: [shards, [...countries], timestampParam(at), messagesADay / users / countries.length / 1_440],
  })
}

/** Batches as the engine writes them: each message is committed, and a code of before is entered. */
async function fillPending(db: Database, { users, countries }: Senders, at: number): Promise<void> {
  const shards = Array.from({ length: users }, (_, index) => shardOf(index + 1))
  await db.query({
    text: sql`insert into usage_pending (shard, number, bucket, at, users, quotas, countries, message_types, kinds, units, messages, senders, shards, sent_at)
      select ${OF_ALL}, batch, date_bin('15 min', $3::timestamptz, 'epoch'), $3::timestamptz, array_agg(user_id), array_agg(user_id),
        array_agg(country), array_agg('otp'::text), array_agg(kind), array_agg(units), array_agg(1), array_agg(null::int),
        array_agg(shard), array_agg(case when kind = 7 then $3::timestamptz - interval '1 min' end)
      from (
        select batch, kind, 1 - kind / 7 as units, user_id, ($1::smallint[])[user_id] as shard, ($2::text[])[1 + user_id % cardinality($2::text[])] as country
        from generate_series(1, $4::int) batch, generate_series(1, $5::int) message, unnest('{0,7}'::smallint[]) kind,
          lateral (select 1 + floor(random() * $6::int + 0 * message * batch)::int as user_id) u
      ) e group by batch`,
    values: [shards, [...countries], timestampParam(at), BATCHES, MESSAGES, users],
  })
}
