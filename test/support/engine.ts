/** Engines on a database of their own, the commands sent to them, and checks of the ledger. */
import pg from 'pg'
import { afterEach, beforeEach, expect } from 'vitest'
import type { Author } from '../../src/admin/kit/author.ts'
import { createQuota } from '../../src/admin/quotas/create-quota.ts'
import { nodeUrl } from '../../src/config/database-url.ts'
import { type Cluster, findCluster } from '../../src/db/cluster/topology.ts'
import type { Database, Log, Transaction } from '../../src/db/connection/database.ts'
import { type Sql, sql } from '../../src/db/connection/sql.ts'
import { onTables } from '../../src/db/ledger/cluster-statements.ts'
import { verify } from '../../src/db/verify/verify.ts'
import { SHARDS, type Shard, shardOf } from '../../src/domain/basics/shard.ts'
import type { Quota, QuotaDraft } from '../../src/domain/quotas/quota.ts'
import type { EpochMs } from '../../src/domain/time/time.ts'
import type { Command, DrawCommand, SettleCommand } from '../../src/domain/units/command.ts'
import type { BatchReport } from '../../src/engine/batch.ts'
import { createEngine, type Engine, type EngineOptions } from '../../src/engine/engine.ts'
import { type Connect, connectTo, connectToLane } from '../../src/engine/servers.ts'
import { whenDone } from './cleanup.ts'
import { type FreshDatabase, freshDatabase } from './database.ts'
import { createNetwork, type Network } from './network.ts'

export const START = Date.parse('2026-03-15T12:00:00.000Z')

/** The engine of one process, with the reports of its batches and its warnings. */
export interface TestEngine extends Engine {
  readonly reports: BatchReport[]
  readonly warnings: string[]
}

export interface Bench {
  readonly db: Database
  readonly url: string
  /** The time of the engines and the administrators. */
  readonly clock: { now: EpochMs }
  /** `through` is a proxy of `network`, on the engine's way to the users of `someone`. */
  engine(options?: Partial<EngineOptions> & { through?: Network }): TestEngine
  /** A proxy before the database; of a cluster, before the node of the users of `someone`. */
  network(): Promise<Network>
  /** The store of an engine that reaches it through a proxy of `network`. */
  behind(network: Network): Pick<EngineOptions, 'url' | 'cluster'>
  /** Makes a quota: by default a grant of a single window. */
  quota(draft: Partial<QuotaDraft> & { user_id: number }): Promise<Quota>
  author(): Author
  /** Where the rows of a shard lie. */
  placeOf(shard: Shard): Place
  /** How many lanes an engine has, which share its queue. */
  readonly lanes: number
  /** A database connection outside the service. */
  stranger(): Promise<pg.Client>
}

/** The database with the rows of a shard; on a cluster, that of the node which holds them. */
interface Place {
  readonly url: string
  /** A text of the engine's, with the tables' names there. */
  on(text: Sql): Sql
  /** Connects as engines do. */
  readonly connect: Connect
}

/** Call it where tests are declared. Takes a database of its own on the server of the test run, or another. */
export async function createBench(database: Promise<FreshDatabase> = freshDatabase()): Promise<Bench> {
  const { db, url } = await database
  const cluster = await findCluster(db)
  shards = cluster?.lanes[0]?.buckets ?? SHARDS
  const clock = { now: START }
  // What a test opens ends with it: the server of the tests has few connections, and other files use them, too.
  let closing: (() => Promise<void>)[] = []
  const ofFile = closing
  const closeAll = async () => {
    for (const close of closing.splice(0)) await close()
  }
  beforeEach(() => {
    closing = []
  })
  afterEach(closeAll)
  whenDone(async () => {
    closing = ofFile
    await closeAll()
  })
  const author = () => ({ now: clock.now, actor: 'ada', requestId: 'test' })

  return {
    db,
    url,
    clock,
    author,
    lanes: cluster?.lanes.length ?? 1,

    placeOf(shard) {
      const lane = cluster?.lanes.find(({ buckets }) => buckets.includes(shard))
      if (cluster === undefined || lane === undefined) return { url, on: text => text, connect: connectTo(url) }
      const at = new URL(nodeUrl(url, lane))
      at.searchParams.set('options', '-c citus.enable_manual_changes_to_shards=on -c citus.enable_ddl_propagation=off')
      return { url: at.href, on: text => onTables(text, lane.tables), connect: connectToLane(url, lane, cluster) }
    },

    engine({ through, ...options } = {}) {
      const reports: BatchReport[] = []
      const warnings: string[] = []
      const log: Log = { info() {}, warn: (_, message) => warnings.push(message), error() {} }
      const onBatchReport = (report: BatchReport) => reports.push(report)
      // Longer than in the product, so that a busy machine cannot take a test's short wait for a lock that stays.
      const defaults = {
        ...(through === undefined ? { url, cluster } : storeBehind(through, { url, cluster })),
        now: () => clock.now,
        log,
        onBatchReport,
        lockTimeoutMs: 900,
      }
      const engine = createEngine({ ...defaults, ...options })
      closing.push(() => engine.close())
      // Not a copy: what it says of itself would stay as it was then.
      return Object.assign(engine, { reports, warnings })
    },

    network() {
      const [lane] = cluster?.lanes ?? []
      return createNetwork(lane === undefined ? url : nodeUrl(url, lane))
    },

    behind: network => storeBehind(network, { url, cluster }),

    async quota(draft) {
      const created = await db.transaction(tx => createQuota(tx, { limit: 1_000, ...draft }, author()))
      if (created.outcome !== 'created') throw new Error(`no quota: ${JSON.stringify(created)}`)
      return created.quota
    },

    async stranger() {
      const client = new pg.Client({ connectionString: url, application_name: 'a stranger' })
      client.on('error', () => {})
      await client.connect()
      closing.push(() => client.end())
      return client
    },
  }
}

/** The store of an engine whose first lane, on one PostgreSQL its only one, is reached through a proxy. */
function storeBehind(network: Network, { url, cluster }: { url: string; cluster: Cluster | undefined }) {
  if (cluster === undefined) return { url: network.url, cluster }
  const { hostname, port } = new URL(network.url)
  const lanes = cluster.lanes.map((lane, n) => (n === 0 ? { ...lane, host: hostname, port: Number(port) } : lane))
  return { url, cluster: { lanes, findPlacements: async () => lanes } }
}

const FIRST_USER = 1_001
let nextUser = FIRST_USER
/** The file that uses them. Each begins anew, because a user's id decides on the shard, and workers run files in no fixed order. */
let file: string | undefined
/** The shards of the first lane: users of one lane share batches. */
let shards: readonly number[] = SHARDS

/** A user that no other test uses; of the given shard, if any. Users of a file share batches, on a cluster, too. */
export function someone(shard?: number): number {
  const { testPath } = expect.getState()
  if (testPath !== file) nextUser = FIRST_USER
  file = testPath
  let user: number
  do user = nextUser++
  while (!(shard === undefined ? shards.includes(shardOf(user)) : shardOf(user) === shard))
  return user
}

/** Two users of different shards. */
export function usersOfTwoShards(): [number, number] {
  const one = someone()
  let other = someone()
  while (shardOf(other) === shardOf(one)) other = someone()
  return [one, other]
}

/** `count` users of one shard, ascending. */
export function neighbours(count: number): number[] {
  const first = someone()
  return [first, ...Array.from({ length: count - 1 }, () => someone(shardOf(first)))]
}

export function draw(op: DrawCommand['op'], user: number, id: string, units: number, more: Partial<DrawCommand> = {}) {
  const fixed = { country: null, message_type: null, ttl_ms: 600_000, on_expiry: 'release' as const }
  const flags = { allow_partial: false, force: false, explain: false }
  return { op, user_id: user, id, units, ...fixed, ...flags, ...more } satisfies Command
}

export const reserve = (user: number, id: string, units: number, more: Partial<DrawCommand> = {}) =>
  draw('reserve', user, id, units, more)

export function settle(op: SettleCommand['op'], user: number, id: string, total: number | null = null) {
  return { op, user_id: user, id, total_units: total, force: false } satisfies Command
}

/** Sends a check, after which the engine has the user's current rows in memory. */
export async function warm(engine: TestEngine, user: number): Promise<void> {
  await engine.submit(draw('check', user, '', 1))
}

/**
 * Makes an engine run its next 50 batches in locked mode: another process has changed many users that it remembers. One of
 * these batches is used up.
 */
export async function makeLocked(engine: TestEngine, bench: Bench): Promise<void> {
  const users = Array.from({ length: 8 }, () => someone())
  for (const user of users) await bench.quota({ user_id: user })
  await Promise.all(users.map(user => warm(engine, user)))
  await bench.db.query({ text: sql`update quota set seq = seq + 1 where user_id = any($1)`, values: [users] })
  await Promise.all(users.map(user => engine.submit(draw('check', user, '', 1))))
  if (engine.reports.at(-1)?.mode !== 'locked') throw new Error('the engine is not in locked mode')
}

/** A transaction that stays open after its work until `commit`. */
export async function openTransaction<T>(db: Database, work: (tx: Transaction) => Promise<T>) {
  const worked = Promise.withResolvers<T>()
  const gate = Promise.withResolvers<void>()
  const done = db.transaction(async tx => {
    worked.resolve(await work(tx))
    await gate.promise
  })
  done.catch(worked.reject)
  return {
    result: await worked.promise,
    async commit() {
      gate.resolve()
      await done
    },
  }
}

/**
 * Quota windows whose counters differ from the sums of the ledger. Written from the contract and independent of the
 * service's own `verify`: along the draws in burn order, the first committed − refunded units are used and the next
 * outstanding units are reserved. Caps that count each value by itself (3 and 4) have no window of their own here, and those on messages (2)
 * count all of theirs while any unit is left.
 */
export async function differences(db: Database): Promise<object[]> {
  return db.query({
    text: sql`
      with draw as (
        select draws[i] as quota_id, draws[i + 1] as kind, draws[i + 2] as window_no, draws[i + 4] as a, draws[i + 5] as b,
          committed - refunded as spent, units - released - refunded as held
        from reservation, generate_series(1, cardinality(draws), 6) i
      ), sums as (
        select quota_id, window_no, greatest(0, least(b, spent) - a) as used,
          greatest(0, least(b, held) - greatest(a, spent)) as reserved
        from draw where kind < 2
        union all select quota_id, window_no, case when spent > 0 then b else 0 end, case when spent = 0 and held > 0 then b else 0 end
        from draw where kind = 2
        union all select quota_id, window_no, used, 0 from archive
      ), ledger as (
        select quota_id, window_no, sum(used) as used, sum(reserved) as reserved from sums group by 1, 2
      ), counters as (
        select id as quota_id, window_no, used, reserved from quota
        union all select quota_id, window_no, used, reserved from quota_window
      )
      select quota_id, window_no, c.used, c.reserved, l.used as ledger_used, l.reserved as ledger_reserved
      from counters c full join ledger l using (quota_id, window_no)
      where coalesce(c.used, 0) <> coalesce(l.used, 0) or coalesce(c.reserved, 0) <> coalesce(l.reserved, 0)`,
  })
}

/**
 * Expects that nothing of these users is lost or counted twice, by `verify`, and no window of any user, by an independent
 * query. To verify all users and shards takes over a second, so a file does that once, in a last test.
 */
export async function expectVerified(db: Database, ...users: number[]): Promise<void> {
  for (const userId of users) expect((await verify(db, { userId })).differences).toEqual([])
  expect(await differences(db)).toEqual([])
}

/** The counters in a quota's row. */
export async function countersOf(db: Database, quotaId: number): Promise<{ used: number; reserved: number }> {
  const [row] = await db.query<{ used: number; reserved: number }>({
    text: sql`select used, reserved from quota where id = $1`,
    values: [quotaId],
  })
  if (row === undefined) throw new Error('there is no such quota')
  return row
}
