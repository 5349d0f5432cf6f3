/** Webhooks: deliveries to receivers that are quick and slow, and the fan-out of many events to one webhook. */
import { setTimeout as pause } from 'node:timers/promises'
import { createWebhook } from '../../src/admin/webhooks/webhooks.ts'
import type { Database } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { timestampParam } from '../../src/db/connection/values.ts'
import { fanOut } from '../../src/db/webhooks/fan-out.ts'
import { SHARD_COUNT, SHARDS } from '../../src/domain/basics/shard.ts'
import { SOME_SECRET } from '../../test/support/secrets.ts'
import type { Received, ReceiverJob } from '../receiver.ts'
import { startWorker, type Worker } from '../servers/processes.ts'
import { newSecret, startService } from '../servers/test-bed.ts'
import type { Bench, Findings, Row } from './bench.ts'

/** Attempts under way at one webhook (`src/jobs/webhook-channel.ts`): what it reaches at most is this by the latency. */
const WINDOW = 16
const QUICK_MS = 5
const SLOW_MS = 200
const WEBHOOKS = 50

export async function webhooksCase(bench: Bench): Promise<Findings> {
  const { settings, cleanup, postgres, say } = bench
  const receiver = startWorker('receiver.ts')
  cleanup.add(() => receiver.stop())
  const base = await receiver.ask<string>({ do: 'listen' } satisfies ReceiverJob)
  const { db, url } = await postgres.make('bench_webhooks')
  await startService(bench, url, newSecret(), { WEBHOOK_ALLOW_PRIVATE: 'true' })
  const site = { db, receiver, base, now: bench.now }

  const scale = settings.isQuick ? 1 : 5
  say('webhooks: delivering')
  const [quick] = await deliver(site, [QUICK_MS], 4_000 * scale)
  const [slow] = await deliver(site, [SLOW_MS], 400 * scale)
  const mixed = await deliver(site, [...Array<number>(WEBHOOKS - 1).fill(QUICK_MS), SLOW_MS], 200 * scale)
  const [quickOnes, slowOne] = [mixed.slice(0, -1), mixed.at(-1)]
  const slowest = quickOnes.toSorted((one, other) => other.seconds - one.seconds)[0]
  const total = quickOnes.reduce((sum, { count }) => sum + count, 0) / (slowest?.seconds ?? Number.NaN)
  say('webhooks: fanning out')
  const { events, fanOutSeconds, readSeconds } = await measureFanOut(bench)

  return {
    rows: [
      rateRow(`deliveries to one receiver that takes ${QUICK_MS} ms`, quick, QUICK_MS, 0.5),
      rateRow(`deliveries to one receiver that takes ${SLOW_MS} ms`, slow, SLOW_MS, 0.8),
      rateRow(`the one of ${SLOW_MS} ms, beside ${WEBHOOKS - 1} of ${QUICK_MS} ms`, slowOne, SLOW_MS, 0.5),
      {
        what: `fan-out of ${events.toLocaleString('en')} events to one webhook`,
        peer: 'reading them once, in order',
        ours: `${fanOutSeconds.toFixed(1)} s`,
        theirs: `${readSeconds.toFixed(1)} s`,
        ratio: fanOutSeconds / readSeconds,
        goal: '≤ 2×',
        isMet: fanOutSeconds <= 2 * readSeconds,
      },
    ],
    details: [],
    notes: [
      `${WEBHOOKS} webhooks at once, one of them of ${SLOW_MS} ms: the others got ${Math.round(total).toLocaleString('en')} deliveries/s together, the last of them after ${slowest?.seconds.toFixed(1)} s; the slow one was served for ${slowOne?.seconds.toFixed(1)} s.`,
    ],
  }
}

interface Site {
  db: Database
  receiver: Worker
  base: string
  now: number
}

let made = 0

/** Emits events to webhooks with these latencies. Resolves, in their order, when all of them have been received. */
async function deliver(site: Site, latencies: readonly number[], events: number): Promise<Received[]> {
  const { db, receiver, base, now } = site
  const ids: number[] = []
  const paths: string[] = []
  for (const ms of latencies) {
    made += 1
    paths.push(`/${made}/${ms}`)
    ids.push(await addWebhook(db, `${base}/${made}/${ms}`, now))
  }
  await addEvents(db, events, now)
  for (;;) {
    const received = await receiver.ask<Received[]>({ do: 'count' } satisfies ReceiverJob)
    const ours = paths.flatMap(path => received.filter(one => one.path === path))
    if (ours.length === paths.length && ours.every(({ count }) => count >= events)) {
      await db.query({ text: sql`update webhook set enabled = false where id = any($1)`, values: [ids] })
      return ours
    }
    await pause(50)
  }
}

async function addWebhook(db: Database, url: string, now: number): Promise<number> {
  const webhook = await createWebhook(db, { url }, SOME_SECRET, { now, actor: 'bench', requestId: 'bench' })
  if (webhook === undefined) throw new Error('there are too many webhooks')
  return webhook.id
}

/** Appends events of 600 bytes to the outbox, evenly to all shards. */
async function addEvents(db: Database, count: number, now: number): Promise<void> {
  await db.query({
    text: sql`with added as (
        insert into event (shard, number, user_id, sequence, type, at, data)
        select n % $2, h.last_event + 1 + n / $2, 1000000 + n, 1 + h.last_event, 'quota.updated', $3,
          jsonb_build_object('quota', repeat('x', 600))
        from generate_series(0, $1::int - 1) n join shard_head h on h.shard = n % $2
        returning shard
      )
      update shard_head h set last_event = last_event + a.count
      from (select shard, count(*) as count from added group by shard) a where a.shard = h.shard`,
    values: [count, SHARD_COUNT, timestampParam(now)],
  })
}

/** Fans out to a webhook, without a service, and reads the same events with their data. */
async function measureFanOut({ settings, postgres, now }: Bench) {
  const { db } = await postgres.make('bench_fan_out')
  const id = await addWebhook(db, 'http://127.0.0.1:1/', now)
  const events = settings.isQuick ? 100_000 : 1_000_000
  await addEvents(db, events, now)
  await db.query({ text: sql`vacuum (analyze) event` })
  await postgres.checkpoint()
  const seconds = async (work: () => Promise<void>) => {
    const began = performance.now()
    await work()
    return (performance.now() - began) / 1_000
  }
  const text = sql`select shard, number, user_id, sequence, type, at, data from event where shard = $1 order by number`
  const readSeconds = await seconds(async () => {
    for (const shard of SHARDS) await db.query({ text, values: [shard] })
  })
  const fanOutSeconds = await seconds(async () => {
    while (await fanOut(db, id, now));
  })
  return { events, readSeconds, fanOutSeconds }
}

function rateRow(what: string, received: Received | undefined, latencyMs: number, min: number): Row {
  const rate = received === undefined ? Number.NaN : received.count / received.seconds
  const bound = (WINDOW * 1_000) / latencyMs
  return {
    what,
    peer: `${WINDOW} at a time`,
    ours: `${Math.round(rate).toLocaleString('en')}/s`,
    theirs: `${Math.round(bound).toLocaleString('en')}/s`,
    ratio: rate / bound,
    goal: `≥ ${min}×`,
    isMet: rate / bound >= min,
  }
}
