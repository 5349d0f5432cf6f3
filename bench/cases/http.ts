/** The service over HTTP compared with its peers: ten thousand users, one hot user, batches, and a single connection. */
import { randomBytes } from 'node:crypto'
import { cpus } from 'node:os'
import { loadConfig } from '../../src/config/config.ts'
import { mintToken } from '../../src/http/auth/tokens.ts'
import { fillUsers } from '../fill.ts'
import type { Job } from '../load-generator/job.ts'
import { type Candidate, measure, measureRounds, type Sample } from '../measure.ts'
import type { PeerJob } from '../peer.ts'
import { installPeers } from '../servers/packages.ts'
import { PROJECT, type Running, startServer, startWorker, type Worker } from '../servers/processes.ts'
import { startRedis } from '../servers/redis.ts'
import { type Bench, type Findings, latencyRow, type Row, ratioRow } from './bench.ts'

export const USERS = 10_000
/** The full load of a closed loop: connections × depth calls in flight. */
export const FULL_LOAD = { connections: 64, depth: 16 }
const TRANSACTION_POOL = 10
/** The flags that bin/sms-quota gives Node.js; the peers get them too. */
const SERVER_FLAGS = ['--max-semi-space-size=64']

/** A server under load, and the processes whose CPU time counts as its own. */
interface Target {
  name: string
  url: string
  processes: Record<string, Running>
}

export async function httpCase(bench: Bench): Promise<Findings> {
  const { say, settings } = bench
  const testBed = await startTestBed(bench)
  const { service, peers } = testBed
  const all = [service, ...peers]

  say('warming up')
  const warmup = { ...FULL_LOAD, users: USERS, warmupMs: 0, measureMs: settings.isQuick ? 1_500 : 5_000 }
  for (const target of all) await testBed.candidate(target, warmup).run(0)

  say(`over HTTP, ${USERS.toLocaleString('en')} users`)
  const uniform = await measureRounds(
    [
      ...all.map(target => testBed.candidate(target, { ...FULL_LOAD, users: USERS })),
      testBed.candidate({ ...service, name: BATCHED }, { connections: 16, depth: 2, operations: 100, users: USERS }),
    ],
    settings.rounds,
    say,
  )
  say('over HTTP, one hot user')
  const hot = await measureRounds(
    all.map(target => testBed.candidate(target, { ...FULL_LOAD, users: 1 })),
    settings.rounds,
    say,
  )
  say('over HTTP, one connection')
  const single = await measureRounds(
    [service, ...peers.filter(({ name }) => name === TRANSACTION)].map(target =>
      testBed.candidate(target, { connections: 1, depth: 1, users: USERS, ...settings.lightLoad }),
    ),
    settings.rounds,
    say,
  )
  say('over HTTP, at a fixed rate')
  const rate = Math.round((uniform.get(SERVICE)?.perSecond ?? 0) / 2 / 100) * 100
  const open = await measureRounds(
    [service, ...peers.filter(({ name }) => name === REDIS)].map(target =>
      testBed.candidate(target, { connections: 64, depth: 1, users: USERS, rate, ...settings.lightLoad }),
    ),
    settings.rounds,
    say,
  )

  const versus = (what: string, samples: Map<string, Sample>, peer: string, min: number): Row =>
    ratioRow(what, peer, { ours: samples.get(SERVICE), theirs: samples.get(peer), min })
  return {
    rows: [
      versus('reserve over HTTP, 10k users', uniform, TRANSACTION, 14),
      versus('reserve over HTTP, one hot user', hot, TRANSACTION, 22),
      versus('reserve over HTTP, 10k users', uniform, REDIS, 1),
      versus('reserve over HTTP, one hot user', hot, REDIS, 1),
      versus('reserve over HTTP, 10k users', uniform, POSTGRES, 3.5),
      versus('reserve over HTTP, one hot user', hot, POSTGRES, 6),
      ratioRow('batch endpoint, 100 operations per call', `${REDIS}, single calls`, {
        ours: uniform.get(BATCHED),
        theirs: uniform.get(REDIS),
        min: 1.5,
      }),
      latencyRow('one connection, latency p50', TRANSACTION, {
        ours: single.get(SERVICE)?.p50,
        theirs: single.get(TRANSACTION)?.p50,
        max: 0.7,
      }),
    ],
    details: [
      ...detailsOf('closed loop, 10k users', uniform),
      ...detailsOf('closed loop, one hot user', hot),
      ...detailsOf('closed loop, one connection', single),
      ...detailsOf(`open loop, ${rate.toLocaleString('en')} calls/s, 10k users`, open),
    ],
    notes: [],
  }
}

const SERVICE = 'sms-quota'
const BATCHED = 'sms-quota, batches of 100'
const TRANSACTION = 'one transaction per request'
const REDIS = 'rate-limiter-flexible on Redis'
const POSTGRES = 'rate-limiter-flexible on PostgreSQL'

const NAMES = { transaction: TRANSACTION, redis: REDIS, postgres: POSTGRES }

function detailsOf(load: string, samples: Map<string, Sample>) {
  return [...samples].map(([side, sample]) => ({ load, side, sample }))
}

type Load = Pick<Job, 'connections' | 'depth' | 'users'> & Partial<Job>

interface TestBed {
  /** A sender's bearer token. */
  token: string
  service: Target
  peers: Target[]
  loadGenerator: Worker
  candidate(target: Target, load: Load): Candidate
}

/** Starts the service, its peers and the load generator. */
export async function startTestBed(
  bench: Bench,
  kinds: readonly PeerJob['kind'][] = ['transaction', 'redis', 'postgres'],
) {
  const { postgres, cleanup, settings, say } = bench
  const secret = randomBytes(32).toString('base64url')
  const token = await mintFor('sender', secret)
  const loadGenerator = startWorker('load-generator.ts', { flags: bench.flagsFor('load-generator') })
  cleanup.add(() => loadGenerator.stop())

  say(`starting ${SERVICE} on ${cpus().length} cores, with ${USERS.toLocaleString('en')} users`)
  const own = await postgres.make('bench_service')
  await fillUsers(own.db, USERS, bench.now)
  const service = await startService(bench, own.url, secret)

  async function startPeer(kind: PeerJob['kind'], store: string, processes: Record<string, Running> = {}) {
    const worker = startWorker('peer.ts', { flags: [...SERVER_FLAGS, ...bench.flagsFor(kind)] })
    cleanup.add(() => worker.stop())
    const connections = TRANSACTION_POOL
    const url = await worker.ask<string>({ kind, store, connections, secret } satisfies PeerJob)
    const name = NAMES[kind]
    return { name, url, processes: { service: worker, ...processes } }
  }
  const peers: Target[] = []
  if (kinds.length > 0) installPeers()
  if (kinds.includes('transaction')) {
    const { db, url } = await postgres.make('bench_transaction')
    await fillUsers(db, USERS, bench.now)
    peers.push(await startPeer('transaction', url))
  }
  const redis = kinds.includes('redis') ? await startRedis(cleanup) : null
  if (redis !== null) peers.push(await startPeer('redis', redis.socket, { redis }))
  else if (kinds.includes('redis')) say('no redis-server on the PATH: the rows of Redis are not run')
  if (kinds.includes('postgres')) {
    peers.push(await startPeer('postgres', (await postgres.make('bench_limiter', { empty: true })).url))
  }
  await postgres.checkpoint()

  let jobs = 0
  const testBed: TestBed = {
    token,
    service,
    peers,
    loadGenerator,
    candidate: ({ name, url, processes }, load) => ({
      name,
      run() {
        jobs += 1
        const { warmupMs, measureMs } = settings
        const job: Job = { url, token, rate: null, operations: 1, warmupMs, measureMs, prefix: `j${jobs}-`, ...load }
        return measure(loadGenerator, job, { postgres, processes: { ...processes, loadGenerator } })
      },
    }),
  }
  return testBed
}

/** Starts the service on a database. @param settings additional environment variables */
export async function startService(
  bench: Bench,
  databaseUrl: string,
  secret: string,
  settings: Record<string, string> = {},
): Promise<Target> {
  const own = { DATABASE_URL: databaseUrl, AUTH_SECRET: secret, PORT: '0', RATE_LIMIT_PER_MINUTE: '0' }
  const server = await startServer(`${PROJECT}bin/sms-quota`, {
    args: ['serve'],
    env: { ...own, NODE_OPTIONS: bench.flagsFor('service').join(' '), ...settings },
    ready: /^sms-quota is at (http\S+),/m,
  })
  bench.cleanup.add(() => server.stop())
  return { name: SERVICE, url: server.readyMatch, processes: { service: server } }
}

/** Mints a token of a sender (without a user) or of an administrator. */
export async function mintFor(role: 'sender' | 'admin', secret: string): Promise<string> {
  const loaded = loadConfig({ AUTH_SECRET: secret })
  if ('issues' in loaded) throw new Error('the configuration of the benchmark is invalid')
  const { auth } = loaded.config
  const roles = [role === 'sender' ? auth.senderRole : auth.adminRole]
  const principal = { secret, userId: null, subject: `bench-${role}`, roles }
  return mintToken({ ...auth, ...principal, ttlSeconds: 6 * 3600, now: Date.now() })
}
