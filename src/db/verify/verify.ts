/**
 * Proves what docs/guarantees.md promises of the ledger: the modules of this folder say what each proof proves, and what is
 * not provable.
 *
 * Each statement checks a range of users in a snapshot of its own. That is exact, because no user is left half-written
 * by a transaction. One snapshot for everything would keep PostgreSQL from removing dead versions of busy rows, and
 * slow senders down twentyfold within half a minute.
 */
import { MAX_INTEGER } from '../../domain/basics/bounds.ts'
import { SHARD_COUNT, SHARDS, type Shard, shardOf } from '../../domain/basics/shard.ts'
import type { Database, SqlValue } from '../connection/database.ts'
import { isStatementTimeout } from '../connection/errors.ts'
import { type Sql, sql, sqlInteger } from '../connection/sql.ts'
import { BY_KEYS } from '../connection/transaction-settings.ts'
import { OF_ALL_SHARDS } from '../ledger/add-usage.ts'
import { counters, draws, END_OF_QUOTAS, ORPHANS } from './counters.ts'
import { NUMBERS, SEQUENCE_TABLE, sequences } from './events.ts'
import { TABLES } from './ledger.ts'
import { checkPlans } from './plans.ts'
import { type Conclusion, type Difference, type ProofName, rangeStatement } from './proof.ts'
import { checkReadable, readableColumns } from './readable.ts'
import { checkProfiles, checkReferences } from './references.ts'
import { limits, rollover } from './rollover.ts'
import { live, TOTALS } from './totals.ts'
import { receivers, transfers } from './transfers.ts'
import { usageIn } from './usage.ts'
import { checkValueCounters } from './value-counters.ts'

export interface Proved {
  /** The number of rows that were compared: the unit depends on the proof. */
  checked: number
  /** The number of those that could neither be confirmed nor refuted. */
  notProvable: number
}

export interface Verification {
  /** A proof that did not run has no entry: those of whole shards, if only one user is verified. */
  proofs: Map<ProofName, Proved>
  /** The first ones, by shard and user. At `maxDifferences` the verification ended early. */
  differences: Difference[]
}

export interface VerifyOptions {
  /** Checks this user only. */
  userId?: number
  /** Ends at this number of differences; 20 by default. */
  maxDifferences?: number
  /** Called after each range with what was checked so far, and the share of the whole, from 0 to 1. */
  onProgress?: (checked: Verification, share: number) => void
}

/** Sizes of the first statement and of the largest. */
const USERS = { first: 64, max: 16_384 }
const WINDOWS = { first: 10_000, max: 20_000 }
const EVENTS = { first: 50_000, max: 100_000 }

const rangeIn = (store: { isCluster: boolean }) =>
  rangeStatement(sql`${TABLES}, ${SEQUENCE_TABLE}`, [
    counters,
    limits,
    draws,
    rollover,
    usageIn(store),
    transfers,
    live,
    sequences,
  ])
const RANGE = { one: rangeIn({ isCluster: false }), cluster: rangeIn({ isCluster: true }) }

/**
 * Takes no lock and writes nothing. `db` must allow long statements (a `statementTimeout` of 0), for users with
 * millions of reservations.
 */
export async function verify(db: Database, options: VerifyOptions = {}): Promise<Verification> {
  const { userId, maxDifferences = 20 } = options
  const { verification, add } = createVerification(maxDifferences)

  if (userId !== undefined) {
    const range = { shard: shardOf(userId), after: userId - 1, upTo: userId }
    add([...(await checkRange(db, range, maxDifferences, 0)), ...(await checkByDomain(db, range, maxDifferences))])
    return verification
  }
  if (!(await addReadable(db, maxDifferences, add))) return verification
  try {
    await addShards(db, options, verification, add)
  } catch (error) {
    // What cannot be read is reported already.
    if (verification.differences.length === 0 || !(error instanceof RangeError)) throw error
  }
  return verification
}

type Add = ReturnType<typeof createVerification>['add']

/** Proves that all can be read: all shards at once, and each by itself on a cluster, where statements stay in one. */
async function addReadable(db: Database, max: number, add: Add): Promise<boolean> {
  const columns = await readableColumns(db)
  const isCluster = await db.transaction(async tx => tx.isCluster)
  const shards = [...SHARDS, OF_ALL_SHARDS]
  for (const some of isCluster ? shards.map(shard => [shard]) : [shards]) {
    const found = await checkReadable(some, columns, max, statement => read(db, MAX_MS, statement, WITHOUT_JIT))
    if (!add(found)) return false
  }
  return true
}

/** Proves the rest, shard by shard. */
async function addShards(
  db: Database,
  { maxDifferences = 20, onProgress = () => {} }: VerifyOptions,
  verification: Verification,
  add: Add,
): Promise<void> {
  const pace = createPace(USERS.first, USERS.max)
  for (const shard of SHARDS) {
    for (let after = -1; after < MAX_INTEGER; ) {
      const range = { shard, after, upTo: await endOfRange(db, shard, after, pace.size) }
      const found = await pace.run(maxMs => checkRange(db, range, maxDifferences, maxMs))
      if (found === undefined) continue
      if (!add([...found, ...(await checkByDomain(db, range, maxDifferences))])) return
      after = range.upTo
      onProgress(verification, shard / SHARD_COUNT)
    }
    for await (const found of checkShard(db, shard, maxDifferences)) if (!add(found)) return
    onProgress(verification, (shard + 1) / SHARD_COUNT)
  }
}

/** Sums up conclusions. `add` returns whether there is room for more differences. */
function createVerification(maxDifferences: number) {
  const verification: Verification = { proofs: new Map(), differences: [] }
  const { proofs, differences } = verification
  const add = (conclusions: readonly Conclusion[]): boolean => {
    for (const { proof, checked, not_provable, differences: found } of conclusions) {
      const before = proofs.get(proof) ?? { checked: 0, notProvable: 0 }
      proofs.set(proof, { checked: before.checked + checked, notProvable: before.notProvable + not_provable })
      const room = maxDifferences - differences.length
      differences.push(...found.slice(0, room).map(difference => ({ ...difference, proof })))
    }
    return differences.length < maxDifferences
  }
  return { verification, add }
}

/** Users of a shard whose ids are above `after` and not above `upTo`, with accounts or without. */
interface Range {
  shard: Shard
  after: number
  upTo: number
}

async function endOfRange(db: Database, shard: Shard, after: number, users: number): Promise<number> {
  const [last] = await db.query<{ user_id: number }>({
    text: sql`select user_id from account where shard = $1 and user_id > $2 order by user_id offset $3 limit 1`,
    values: [shard, after, users - 1],
  })
  return last?.user_id ?? MAX_INTEGER
}

function checkRange(db: Database, { shard, after, upTo }: Range, max: number, maxMs: number): Promise<Conclusion[]> {
  return read(db, maxMs, { text: RANGE, values: [shard, after, upTo, max] })
}

/** Proves what the domain has a part in. */
async function checkByDomain(db: Database, range: Range, max: number): Promise<Conclusion[]> {
  return [
    await checkPlans(db, range, max),
    await checkValueCounters(db, range, max),
    await checkProfiles(db, range, max),
  ]
}

/** Proves what concerns a shard and no single user of it. */
async function* checkShard(db: Database, shard: Shard, max: number): AsyncGenerator<Conclusion[]> {
  yield* checkOrphans(db, shard, max)
  yield await checkTotals(db, shard)
  yield* checkReceivers(db, shard)
  yield* checkReferences(db, shard)
  yield* checkNumbers(db, shard)
}

async function* checkOrphans(db: Database, shard: Shard, max: number): AsyncGenerator<Conclusion[]> {
  const pace = createPace(WINDOWS.first, WINDOWS.max)
  for (let after = -1; after < MAX_INTEGER; ) {
    const [page] = await db.query<{ up_to: number }>({ text: END_OF_QUOTAS, values: [shard, after, pace.size] })
    const upTo = page?.up_to ?? MAX_INTEGER
    const found = await pace.run(maxMs =>
      read<Conclusion>(db, maxMs, { text: ORPHANS, values: [shard, after, upTo, max] }, BY_KEYS),
    )
    if (found === undefined) continue
    yield found
    after = upTo
  }
}

/** The quotas of a shard cannot be counted in parts: their total could change in between. */
async function checkTotals(db: Database, shard: Shard): Promise<Conclusion[]> {
  try {
    return await read(db, MAX_MS, { text: TOTALS, values: [shard] })
  } catch (error) {
    if (!isStatementTimeout(error)) throw error
    return [{ proof: 'totals', checked: 0, not_provable: 1, differences: [] }]
  }
}

async function* checkReceivers(db: Database, shard: Shard): AsyncGenerator<Conclusion[]> {
  for (let after: number | null = -1; after !== null; ) {
    const from: number = after
    const { conclusion, last } = await db.transaction(tx => receivers(tx, shard, from), 'keyed snapshot')
    yield [conclusion]
    after = last
  }
}

async function* checkNumbers(db: Database, shard: Shard): AsyncGenerator<Conclusion[]> {
  const pace = createPace(EVENTS.first, EVENTS.max)
  for (let after = 0, last = 1; after < last; ) {
    const upTo = after + pace.size
    const found = await pace.run(maxMs =>
      read<Conclusion & { last_event: number }>(db, maxMs, { text: NUMBERS, values: [shard, after, upTo] }, BY_KEYS),
    )
    if (found === undefined) continue
    yield found
    after = upTo
    last = found[0]?.last_event ?? 0
  }
}

/** No JIT compilation for short statements. */
const WITHOUT_JIT = sql`set local jit = off`
/** Nor a scan of a whole table for a range of it. */
const FOR_RANGES = sql`set local enable_seqscan = off; ${WITHOUT_JIT}`

/** Runs a statement in a snapshot of its own, for `maxMs` at the longest; 0 means no limit. */
function read<R extends object>(
  db: Database,
  maxMs: number,
  { text, values }: { text: Sql | typeof RANGE; values: SqlValue[] },
  settings = FOR_RANGES,
): Promise<R[]> {
  return db.transaction(async tx => {
    await tx.query({ text: sql`set local statement_timeout = ${sqlInteger(maxMs)}; ${settings}` })
    return tx.query<R>({ text: typeof text === 'object' ? text[tx.isCluster ? 'cluster' : 'one'] : text, values })
  })
}

/** Longest that a statement over more than one row of its size may run, in milliseconds. */
const MAX_MS = 1_000
/** Sizes are adapted so that a statement takes about this long. */
const GOAL_MS = 300

/** The size of the statements of a walk. It follows the time that statements take. */
interface Pace {
  /** The number of users, rows or numbers that the next statement shall cover; 1 at least. */
  readonly size: number
  /**
   * Runs a statement of that size, which shall be ended after `maxMs`; 0 means no limit, because the size is 1. Undefined if
   * it was ended: the next size is then smaller.
   */
  run<T>(statement: (maxMs: number) => Promise<T>): Promise<T | undefined>
}

function createPace(first: number, max: number): Pace {
  let size = first
  return {
    get size() {
      return size
    },
    async run(statement) {
      const startedAt = performance.now()
      try {
        const result = await statement(size === 1 ? 0 : MAX_MS)
        const tookMs = performance.now() - startedAt
        size = Math.ceil(Math.min(max, size * Math.min(2, Math.max(0.25, GOAL_MS / tookMs))))
        return result
      } catch (error) {
        if (size === 1 || !isStatementTimeout(error)) throw error
        size = Math.ceil(size / 4)
        return undefined
      }
    },
  }
}
