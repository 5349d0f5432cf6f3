/** The service, its peers and the load generator, as the cases over HTTP measure them. */
import { randomBytes } from 'node:crypto'
import { cpus } from 'node:os'
import { loadConfig } from '../../src/config/config.ts'
import type { Database } from '../../src/db/connection/database.ts'
import { mintToken } from '../../src/http/auth/tokens.ts'
import type { Bench } from '../cases/bench.ts'
import { fillUsers, type UserOptions } from '../fill.ts'
import type { Job } from '../load-generator/job.ts'
import { type Candidate, measure, type Watched } from '../measure.ts'
import type { PeerJob } from '../peer.ts'
import { installPeers } from './packages.ts'
import { PROJECT, type Running, startServer, startWorker, type Worker } from './processes.ts'
import { startRedis } from './redis.ts'

export const USERS = 10_000
/** The full load of a closed loop: connections × depth calls in flight. */
export const FULL_LOAD = { connections: 64, depth: 16 }
const POOL = 10
/** The flags that bin/sms-quota gives Node.js; the peers get them too. */
const SERVER_FLAGS = ['--max-semi-space-size=64', '--no-allocation-site-pretenuring']

export const SERVICE = 'sms-quota'
export const PEERS = {
  transaction: 'one transaction per request',
  bare: 'bare transaction',
  redis: 'rate-limiter-flexible on Redis',
  postgres: 'rate-limiter-flexible on PostgreSQL',
  ledger: 'Redis ledger, fsync every second',
  'ledger-always': 'Redis ledger, fsync always',
} as const

type PeerKind = keyof typeof PEERS

/** A server under load, and the processes whose CPU time counts as its own. */
export interface Target {
  name: string
  url: string
  processes: Record<string, Running>
}

type Load = Pick<Job, 'connections' | 'depth' | 'users'> & Partial<Job>

interface TestBed {
  /** A sender's bearer token. */
  token: string
  /** What the service checks tokens with. */
  secret: string
  /** The service's database. */
  databaseUrl: string
  /** Of that database. */
  db: Database
  service: Target
  peers: Target[]
  loadGenerator: Worker
  candidate(target: Target, load: Load, options?: Omit<Watched, 'postgres' | 'processes'>): Candidate
}

interface TestBedOptions {
  /** Default: none. */
  peers?: readonly PeerKind[]
  /** What the service's users have, beyond a grant. */
  users?: UserOptions
  /** Further environment variables of the service. */
  settings?: Record<string, string>
}

/**
 * Starts the service over ten thousand users, its peers and the load generator.
 * @param name of the case; the names of its databases begin with it
 */
export async function startTestBed(bench: Bench, name: string, options: TestBedOptions = {}): Promise<TestBed> {
  const { postgres, say } = bench
  const secret = newSecret()
  say(`starting ${SERVICE} on ${cpus().length} cores, with ${USERS.toLocaleString('en')} users`)
  const own = await postgres.make(`bench_${name}_service`)
  await fillUsers(own.db, USERS, bench.now, options.users)
  const service = await startService(bench, own.url, secret, options.settings)
  const peers: Target[] = []
  const kinds = options.peers ?? []
  if (kinds.length > 0) installPeers()
  for (const kind of kinds) {
    const peer = await startPeer(bench, kind, { secret, database: `bench_${name}_${kind.replace('-', '_')}` })
    if (peer !== null) peers.push(peer)
  }
  await postgres.checkpoint()
  return { databaseUrl: own.url, db: own.db, service, peers, ...(await startLoadGenerator(bench, secret)) }
}

/** Starts the load generator for servers that share a secret. */
export async function startLoadGenerator(
  bench: Bench,
  secret: string,
): Promise<Omit<TestBed, 'databaseUrl' | 'db' | 'service' | 'peers'>> {
  const { postgres, cleanup, settings } = bench
  const token = await mintFor('sender', secret)
  const loadGenerator = startWorker('load-generator.ts', { flags: bench.flagsFor('load-generator') })
  cleanup.add(() => loadGenerator.stop())
  let jobs = 0
  return {
    token,
    secret,
    loadGenerator,
    candidate: ({ name, url, processes }, load, options) => ({
      name,
      run() {
        jobs += 1
        const { warmupMs, measureMs } = settings
        const shared = { urls: [url], token, rate: null, operations: 1, warmupMs, measureMs }
        const job: Job = { ...shared, prefix: `j${jobs}-`, ...load }
        return measure(loadGenerator, job, { postgres, processes: { ...processes, loadGenerator }, ...options })
      },
    }),
  }
}

/** Null, after a line on stderr, if the peer needs a Redis and there is none. */
async function startPeer(
  bench: Bench,
  kind: PeerKind,
  { secret, database }: { secret: string; database: string },
): Promise<Target | null> {
  const { postgres, cleanup, now, say } = bench
  const processes: Record<string, Running> = {}
  let store: string
  if (kind === 'transaction') {
    const { db, url } = await postgres.make(database)
    await fillUsers(db, USERS, now)
    store = url
  } else if (kind === 'postgres' || kind === 'bare') {
    store = (await postgres.make(database, { empty: true })).url
  } else {
    const redis = await startRedis(cleanup, kind === 'ledger-always' ? 'always' : 'everysec')
    if (redis === null) {
      say(`no redis-server on the PATH: the rows of ${PEERS[kind]} are not run`)
      return null
    }
    processes.redis = redis
    store = redis.socket
  }
  const worker = startWorker('peer.ts', { flags: [...SERVER_FLAGS, ...bench.flagsFor(kind)] })
  cleanup.add(() => worker.stop())
  const job: PeerJob = {
    kind: kind === 'ledger-always' ? 'ledger' : kind,
    store,
    connections: POOL,
    users: USERS,
    secret,
  }
  return { name: PEERS[kind], url: await worker.ask<string>(job), processes: { service: worker, ...processes } }
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

export function newSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** Mints a token of a sender (without a user) or of an administrator. */
export async function mintFor(role: 'sender' | 'admin', secret: string, subject = `bench-${role}`): Promise<string> {
  const loaded = loadConfig({ AUTH_SECRET: secret })
  if ('issues' in loaded) throw new Error('the configuration of the benchmark is invalid')
  const { auth } = loaded.config
  const roles = [role === 'sender' ? auth.senderRole : auth.adminRole]
  const principal = { secret, userId: null, subject, roles }
  return mintToken({ ...auth, ...principal, ttlSeconds: 6 * 3600, now: Date.now() })
}
