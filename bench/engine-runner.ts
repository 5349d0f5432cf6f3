/** The process that measures the engine alone, or the plain bulk statements it is compared with. */
import { findCluster } from '../src/db/cluster/topology.ts'
import { openDatabase } from '../src/db/connection/database.ts'
import { connectPipelined } from '../src/db/connection/pipelined-connection.ts'
import { LEDGER_STATEMENTS } from '../src/db/ledger/statements.ts'
import { type Shard, shardOf } from '../src/domain/basics/shard.ts'
import { createEngine } from '../src/engine/engine.ts'
import { createJobRunner } from '../src/jobs/runner.ts'
import { createUsageRollup } from '../src/jobs/usage-rollup.ts'
import { createHistogram } from './load-generator/histogram.ts'
import { type Counts, MEASURED, MEASURING } from './load-generator/job.ts'
import { BARE_STATEMENTS, writeBare } from './peers/bulk.ts'
import { serveParent } from './servers/worker.ts'

export interface EngineJob {
  side: 'engine' | 'bulk'
  url: string
  /** Users 1…users exist; of them every `stride`-th one is active. */
  users: number
  stride: number
  connections: number
  batchSize?: number
  /** Commands in flight (engine), rows of a batch (bulk). */
  width: number
  warmupMs: number
  measureMs: number
  prefix: string
  /** Default: reserve. A consume is recorded as usage. */
  op?: 'reserve' | 'consume'
  keepsUsage?: boolean
}

type Note = (text: string) => void

serveParent((job: EngineJob, note: Note) => (job.side === 'engine' ? runEngine(job, note) : runBulk(job, note)))

const silent = { info: () => {}, warn: console.warn, error: console.error }

/** Runs `width` senders in a closed loop: each submits its next command when the last one is answered. */
async function runEngine(job: EngineJob, note: Note): Promise<Counts> {
  const { url, connections, batchSize = 256, keepsUsage = true } = job
  const db = openDatabase({ url, maxConnections: 2 })
  const cluster = await findCluster(db)
  // All commands are of one principal, which may fill half of the queue.
  const queueCommands = 2 * job.width + 1
  const own = { connections, batchSize, queueCommands, keepsUsage }
  const engine = createEngine({ url, cluster, now: Date.now, log: silent, ...own })
  const rollup = keepsUsage && createJobRunner([createUsageRollup({ db, log: silent })], { log: silent })
  if (rollup) rollup.start()
  const counter = createOperationCounter(job, note)
  const active = Math.floor(job.users / job.stride)
  let made = 0
  async function sender(): Promise<void> {
    while (!counter.isFinished()) {
      made += 1
      const begin = performance.now()
      const outcome = await engine.submit({
        op: job.op ?? 'reserve',
        user_id: job.stride * (1 + Math.floor(Math.random() * active)),
        id: `${job.prefix}${made}`,
        units: 1,
        country: null,
        message_type: null,
        ttl_ms: 300_000,
        on_expiry: 'release',
        allow_partial: false,
        force: false,
        explain: false,
      })
      counter.add(1, begin, outcome.outcome === 'granted' ? null : outcome.outcome)
    }
  }
  await Promise.all(Array.from({ length: job.width }, sender))
  await engine.close()
  if (rollup) await rollup.stop()
  await db.close()
  return counter.counts()
}

/** Writes batches on `connections` connections, one shard after another, without reads, decisions or guards. */
async function runBulk(job: EngineJob, note: Note): Promise<Counts> {
  const usersOfShard = new Map<Shard, number[]>()
  for (let user = job.stride; user <= job.users; user += job.stride) {
    const shard = shardOf(user)
    const users = usersOfShard.get(shard) ?? []
    users.push(user)
    usersOfShard.set(shard, users)
  }
  const shards = [...usersOfShard]
  const counter = createOperationCounter(job, note)
  let made = 0
  async function writer(number: number): Promise<void> {
    const statements = { ...LEDGER_STATEMENTS, ...BARE_STATEMENTS }
    const connection = await connectPipelined({ url: job.url, statements, settings: {} })
    for (let next = number; !counter.isFinished(); next += job.connections) {
      const [shard, users] = shards[next % shards.length] ?? []
      if (shard === undefined || users === undefined) throw new Error('there are no users')
      const begin = performance.now()
      const written = await writeBare(connection, shard, pick(users, job.width), () => {
        made += 1
        return `${job.prefix}${made}`
      })
      counter.add(written, begin, null)
    }
    await connection.close()
  }
  await Promise.all(Array.from({ length: job.connections }, (_, number) => writer(number)))
  return counter.counts()
}

function pick(users: readonly number[], count: number): number[] {
  const picked = new Set<number>()
  while (picked.size < Math.min(count, users.length)) {
    picked.add(users[Math.floor(Math.random() * users.length)] ?? 0)
  }
  return [...picked].sort((one, other) => one - other)
}

function createOperationCounter({ warmupMs, measureMs }: EngineJob, note: Note) {
  const from = performance.now() + warmupMs
  const until = from + measureMs
  setTimeout(() => note(MEASURING), warmupMs)
  setTimeout(() => note(MEASURED), warmupMs + measureMs)
  const latencies = createHistogram()
  let operations = 0
  let refused = 0
  let firstRefusal: string | null = null
  return {
    isFinished: () => performance.now() >= until,
    add(count: number, begin: number, refusal: string | null) {
      const now = performance.now()
      if (now < from || now > until) return
      operations += count
      latencies.add(now - begin)
      if (refusal === null) return
      refused += count
      firstRefusal ??= refusal
    },
    counts: (): Counts => ({
      operations,
      refused,
      firstRefusal,
      seconds: measureMs / 1000,
      p50: latencies.quantile(0.5),
      p99: latencies.quantile(0.99),
    }),
  }
}
