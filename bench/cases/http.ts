/** The service over HTTP against its peers: ten thousand users, one hot user, batches, and a caller alone. */
import { randomBytes } from 'node:crypto'
import { cpus } from 'node:os'
import { loadConfig } from '../../src/config/config.ts'
import { mintToken } from '../../src/http/auth/tokens.ts'
import { fillUsers } from '../fill.ts'
import type { Job } from '../load-generator/job.ts'
import { type Contestant, measure, race, type Sample } from '../measure.ts'
import type { PeerJob } from '../peer.ts'
import { installPeers } from '../servers/packages.ts'
import { PROJECT, type Running, startServer, startWorker, type Worker } from '../servers/processes.ts'
import { startRedis } from '../servers/redis.ts'
import { type Bench, type Findings, latencyRow, type Row, ratioRow } from './bench.ts'

export const USERS = 10_000
/** Calls in flight: connections × depth. */
export const CROWD = { connections: 64, depth: 16 }
const TRANSACTION_POOL = 10
/** What bin/sms-quota gives Node.js: the peers shall have it, too. */
const SERVERS_FLAGS = ['--max-semi-space-size=64']

/** A server under load, and the processes that work for it. */
interface Target {
  name: string
  url: string
  processes: Record<string, Running>
}

export async function httpCase(bench: Bench): Promise<Findings> {
  const { say, settings } = bench
  const arena = await openArena(bench)
  const { service, peers } = arena
  const all = [service, ...peers]

  say('warming up')
  const warmup = { ...CROWD, users: USERS, warmupMs: 0, measureMs: settings.isQuick ? 1_500 : 5_000 }
  for (const target of all) await arena.contestant(target, warmup).run(0)

  say(`over HTTP, ${USERS.toLocaleString('en')} users`)
  const uniform = await race(
    [
      ...all.map(target => arena.contestant(target, { ...CROWD, users: USERS })),
      arena.contestant({ ...service, name: BATCHED }, { connections: 16, depth: 2, operations: 100, users: USERS }),
    ],
    settings.rounds,
    say,
  )
  say('over HTTP, one hot user')
  const hot = await race(
    all.map(target => arena.contestant(target, { ...CROWD, users: 1 })),
    settings.rounds,
    say,
  )
  say('over HTTP, a caller alone')
  const lone = await race(
    [service, ...peers.filter(({ name }) => name === TRANSACTION)].map(target =>
      arena.contestant(target, { connections: 1, depth: 1, users: USERS, ...settings.calm }),
    ),
    settings.rounds,
    say,
  )
  say('over HTTP, at a fixed rate')
  const rate = Math.round((uniform.get(SERVICE)?.perSecond ?? 0) / 2 / 100) * 100
  const open = await race(
    [service, ...peers.filter(({ name }) => name === REDIS)].map(target =>
      arena.contestant(target, { connections: 64, depth: 1, users: USERS, rate, ...settings.calm }),
    ),
    settings.rounds,
    say,
  )

  const versus = (what: string, samples: Map<string, Sample>, peer: string, least: number): Row =>
    ratioRow(what, peer, { ours: samples.get(SERVICE), theirs: samples.get(peer), least })
  return {
    rows: [
      versus('reserve over HTTP, 10k users', uniform, TRANSACTION, 14),
      versus('reserve over HTTP, one hot user', hot, TRANSACTION, 22),
      versus('reserve over HTTP, 10k users', uniform, REDIS, 1),
      versus('reserve over HTTP, one hot user', hot, REDIS, 1),
      versus('reserve over HTTP, 10k users', uniform, POSTGRES, 3.5),
      versus('reserve over HTTP, one hot user', hot, POSTGRES, 6),
      ratioRow('batch endpoint, 100 operations a call', `${REDIS}, single calls`, {
        ours: uniform.get(BATCHED),
        theirs: uniform.get(REDIS),
        least: 1.5,
      }),
      latencyRow('lone caller, latency p50', TRANSACTION, {
        ours: lone.get(SERVICE)?.p50,
        theirs: lone.get(TRANSACTION)?.p50,
        most: 0.7,
      }),
    ],
    details: [
      ...detailsOf('closed loop, 10k users', uniform),
      ...detailsOf('closed loop, one hot user', hot),
      ...detailsOf('closed loop, one caller', lone),
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

interface Arena {
  /** What senders prove themselves with. */
  token: string
  service: Target
  peers: Target[]
  callers: Worker
  contestant(target: Target, load: Load): Contestant
}

/** Starts the service, its peers and the callers. */
export async function openArena(
  bench: Bench,
  kinds: readonly PeerJob['kind'][] = ['transaction', 'redis', 'postgres'],
) {
  const { postgres, cleanup, settings, say } = bench
  const secret = randomBytes(32).toString('base64url')
  const token = await mintFor('sender', secret)
  const callers = startWorker('load-generator.ts', { flags: bench.flagsFor('callers') })
  cleanup.add(() => callers.stop())

  say(`starting ${SERVICE} on ${cpus().length} cores, with ${USERS.toLocaleString('en')} users`)
  const own = await postgres.make('bench_service')
  await fillUsers(own.db, USERS, bench.now)
  const service = await startService(bench, own.url, secret)

  async function startPeer(kind: PeerJob['kind'], store: string, processes: Record<string, Running> = {}) {
    const worker = startWorker('peer.ts', { flags: [...SERVERS_FLAGS, ...bench.flagsFor(kind)] })
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
  else if (kinds.includes('redis')) say('there is no redis-server on the PATH: its rows are not run')
  if (kinds.includes('postgres')) {
    peers.push(await startPeer('postgres', (await postgres.make('bench_limiter', { empty: true })).url))
  }
  await postgres.checkpoint()

  let jobs = 0
  const arena: Arena = {
    token,
    service,
    peers,
    callers,
    contestant: ({ name, url, processes }, load) => ({
      name,
      run() {
        jobs += 1
        const { warmupMs, measureMs } = settings
        const job: Job = { url, token, rate: null, operations: 1, warmupMs, measureMs, prefix: `j${jobs}-`, ...load }
        return measure(callers, job, { postgres, processes: { ...processes, callers } })
      },
    }),
  }
  return arena
}

/** The service on a database, with further settings if any are given. */
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
  return { name: SERVICE, url: server.said, processes: { service: server } }
}

/** A token of a machine that sends, or of an administrator. */
export async function mintFor(role: 'sender' | 'admin', secret: string): Promise<string> {
  const loaded = loadConfig({ AUTH_SECRET: secret })
  if ('issues' in loaded) throw new Error('the configuration of the benchmark is wrong')
  const { auth } = loaded.config
  const roles = [role === 'sender' ? auth.senderRole : auth.adminRole]
  const whose = { secret, userId: null, subject: `bench-${role}`, roles }
  return mintToken({ ...auth, ...whose, ttlSeconds: 6 * 3600, now: Date.now() })
}
