/**
 * Proves what docs/guarantees.md promises of the ledger: one module per proof in this folder, which says what it proves and
 * what is not provable.
 *
 * Each statement checks a range of users in a snapshot of its own. That is exact, because no user is left half-written
 * by a transaction. One snapshot for everything would keep PostgreSQL from removing dead versions of busy rows, and
 * slow senders down twentyfold within half a minute.
 */
import { MAX_INTEGER } from '../../domain/bounds.ts'
import { SHARD_COUNT, SHARDS, type Shard, shardOf } from '../../domain/shard.ts'
import { type Database, isStatementTimeout, type SqlValue } from '../database.ts'
import { BY_KEYS } from '../planner-settings.ts'
import { counters, END_OF_QUOTAS, ORPHANS, QUOTAS_PAGE } from './counters.ts'
import { draws } from './draws.ts'
import { EVENTS_PAGE, NUMBERS, SEQUENCE_TABLE, sequences } from './events.ts'
import { TABLES } from './ledger.ts'
import { limits } from './limits.ts'
import { live } from './live.ts'
import { type Conclusion, type Difference, type ProofName, rangeStatement } from './proof.ts'
import { rollover } from './rollover.ts'
import { TOTALS } from './totals.ts'
import { usage } from './usage.ts'

export interface Proved {
  /** How many rows were compared: the unit depends on the proof. */
  checked: number
  /** How many of them could neither be confirmed nor refuted. */
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

/** Longest that a statement over several users may run. A single user has no limit: the ledger cannot be split. */
const MAX_MS = 1_000
/** The number of users per statement is adapted so that it takes about this long. */
const GOAL_MS = 300
const FIRST_USERS = 64
const MAX_USERS = 16_384

const RANGE = rangeStatement(`${TABLES}, ${SEQUENCE_TABLE}`, [
  counters,
  limits,
  draws,
  rollover,
  usage,
  live,
  sequences,
])

/**
 * Takes no lock and writes nothing. `db` must allow long statements (a `statementTimeout` of 0), for users with
 * millions of reservations.
 */
export async function verify(db: Database, options: VerifyOptions = {}): Promise<Verification> {
  const { userId, maxDifferences = 20, onProgress = () => {} } = options
  const { verification, add } = createVerification(maxDifferences)

  if (userId !== undefined) {
    add(await checkRange(db, { shard: shardOf(userId), after: userId - 1, upTo: userId }, 1, maxDifferences))
    return verification
  }
  let users = FIRST_USERS
  for (const shard of SHARDS) {
    for (let after = -1; after < MAX_INTEGER; ) {
      const range = { shard, after, upTo: await endOfRange(db, shard, after, users) }
      const startedAt = performance.now()
      const checking = checkRange(db, range, users, maxDifferences)
      const found = await (users === 1 ? checking : unlessTooLong(checking))
      if (found === undefined) {
        users = Math.ceil(users / 4)
        continue
      }
      if (!add(found)) return verification
      const tookMs = performance.now() - startedAt
      users = Math.ceil(Math.min(MAX_USERS, users * Math.min(2, Math.max(0.25, GOAL_MS / tookMs))))
      after = range.upTo
      onProgress(verification, shard / SHARD_COUNT)
    }
    for await (const found of checkShard(db, shard, maxDifferences)) if (!add(found)) return verification
    onProgress(verification, (shard + 1) / SHARD_COUNT)
  }
  return verification
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
    text: 'select user_id from account where shard = $1 and user_id > $2 order by user_id offset $3 limit 1',
    values: [shard, after, users - 1],
  })
  return last?.user_id ?? MAX_INTEGER
}

function checkRange(db: Database, { shard, after, upTo }: Range, users: number, max: number): Promise<Conclusion[]> {
  return read(db, users === 1 ? 0 : MAX_MS, { text: RANGE, values: [shard, after, upTo, max] })
}

/** What concerns a shard and no single user of it. */
async function* checkShard(db: Database, shard: Shard, max: number): AsyncGenerator<Conclusion[]> {
  for (let after = -1, upTo = 0; after < MAX_INTEGER; after = upTo) {
    const [page] = await read<{ up_to: number }>(db, MAX_MS, {
      text: END_OF_QUOTAS,
      values: [shard, after, QUOTAS_PAGE],
    })
    upTo = page?.up_to ?? MAX_INTEGER
    yield await read(db, MAX_MS, { text: ORPHANS, values: [shard, after, upTo, max] }, BY_KEYS)
  }

  const totals = await unlessTooLong(read<Conclusion>(db, MAX_MS, { text: TOTALS, values: [shard] }))
  yield totals ?? [{ proof: 'totals', checked: 0, not_provable: 1, differences: [] }]

  for (let after = 0, last = 1; after < last; after += EVENTS_PAGE) {
    const values = [shard, after, after + EVENTS_PAGE]
    const pages = await read<Conclusion & { last_event: number }>(db, MAX_MS, { text: NUMBERS, values }, BY_KEYS)
    last = pages[0]?.last_event ?? 0
    yield pages
  }
}

/** Undefined if the statement took too long. */
async function unlessTooLong<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result
  } catch (error) {
    if (isStatementTimeout(error)) return undefined
    throw error
  }
}

/** No scan of a whole table for a range of it, and no JIT compilation for short statements. */
const FOR_RANGES = 'set local enable_seqscan = off; set local jit = off'

/** Runs a statement in a snapshot of its own, for `maxMs` at the longest; 0 means no limit. */
function read<R extends object>(
  db: Database,
  maxMs: number,
  statement: { text: string; values: SqlValue[] },
  settings = FOR_RANGES,
): Promise<R[]> {
  return db.transaction(async tx => {
    await tx.query({ text: `set local statement_timeout = ${maxMs}; ${settings}` })
    return tx.query<R>(statement)
  })
}
