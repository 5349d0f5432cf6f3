/**
 * Proves that counters equal their ledger: for every window of every quota, current or closed, `used` and `reserved`
 * are the sums over the reservations and the archive of removed ones.
 *
 * Each statement checks a range of users in a snapshot of its own. That is exact, because no user is left half-written
 * by a transaction. One snapshot for everything would keep PostgreSQL from removing dead versions of busy rows, and
 * slow senders down twentyfold within half a minute.
 */
import { MAX_INTEGER } from '../domain/bounds.ts'
import { SHARD_COUNT, SHARDS, type Shard, shardOf } from '../domain/shard.ts'
import { type Database, sqlStateOf, type Transaction } from './database.ts'

interface Counters {
  used: number
  reserved: number
}

/** A window whose counters do not equal its ledger. */
export interface Difference {
  /** Null if the quota does not exist, so its user is unknown. */
  user_id: number | null
  quota_id: number
  window_no: number
  /** Null if there is no such window, or no such quota. */
  counters: Counters | null
  /** The sums over the reservations and the archive. */
  ledger: Counters
}

export interface Verification {
  quotas: number
  windows: number
  reservations: number
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

/**
 * Takes no lock and writes nothing. `db` must allow long statements (a `statementTimeout` of 0), for users with
 * millions of reservations.
 */
export async function verify(db: Database, options: VerifyOptions = {}): Promise<Verification> {
  const { userId, maxDifferences = 20, onProgress = () => {} } = options
  const checked: Verification = { quotas: 0, windows: 0, reservations: 0, differences: [] }
  const add = (found: Verification) => {
    checked.quotas += found.quotas
    checked.windows += found.windows
    checked.reservations += found.reservations
    checked.differences.push(...found.differences.slice(0, maxDifferences - checked.differences.length))
    return checked.differences.length < maxDifferences
  }

  if (userId !== undefined) {
    const range = { shard: shardOf(userId), after: userId - 1, upTo: userId }
    const found = await checkInTime(db, range, 1, maxDifferences)
    if (found !== undefined) add(found)
    return checked
  }
  let users = FIRST_USERS
  for (const shard of SHARDS) {
    for (let after = -1; after < MAX_INTEGER; ) {
      const range = { shard, after, upTo: await endOfRange(db, shard, after, users) }
      const startedAt = performance.now()
      const found = await checkInTime(db, range, users, maxDifferences)
      if (found === undefined) {
        users = Math.ceil(users / 4)
        continue
      }
      if (!add(found)) return checked
      const tookMs = performance.now() - startedAt
      users = Math.ceil(Math.min(MAX_USERS, users * Math.min(2, Math.max(0.25, GOAL_MS / tookMs))))
      after = range.upTo
      onProgress(checked, shard / SHARD_COUNT)
    }
    if (!add(await findOrphans(db, shard, maxDifferences))) return checked
    onProgress(checked, (shard + 1) / SHARD_COUNT)
  }
  return checked
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

/** Undefined if several users take too long; the caller then tries fewer. */
async function checkInTime(
  db: Database,
  range: Range,
  users: number,
  maxDifferences: number,
): Promise<Verification | undefined> {
  const bound = users === 1 ? 0 : MAX_MS
  try {
    return await db.transaction(async tx => {
      // No scan of a whole table for a range of it, and no JIT compilation for short statements.
      await tx.query({
        text: `set local statement_timeout = ${bound}; set local enable_seqscan = off; set local jit = off`,
      })
      return check(tx, range, maxDifferences)
    })
  } catch (error) {
    if (users > 1 && sqlStateOf(error) === '57014') return undefined
    throw error
  }
}

/**
 * Computes what a reservation counts independently of `countsOf`. The quotas of the users come in two halves, because
 * no index holds both the deleted ones and the others.
 */
const CHECK = `
  with mine as materialized (
    select user_id, id as quota_id, window_no, used, reserved from quota
    where shard = $1 and user_id > $2 and user_id <= $3 and deleted_at is null
    union all
    select user_id, id, window_no, used, reserved from quota
    where shard = $1 and user_id > $2 and user_id <= $3 and deleted_at is not null
  ), counted as materialized (
    select * from mine
    union all
    select mine.user_id, w.quota_id, w.window_no, w.used, w.reserved
    from mine join quota_window w on w.shard = $1 and w.quota_id = mine.quota_id
  ), draw as (
    select user_id, draws, committed - refunded as spent, units - released - refunded as held,
      generate_series(1, cardinality(draws), 6) as i
    from reservation where shard = $1 and user_id > $2 and user_id <= $3
  ), entries as (
    select user_id, draws[i] as quota_id, draws[i + 2] as window_no,
      greatest(0, least(draws[i + 5], spent) - draws[i + 4]) as used,
      greatest(0, least(draws[i + 5], held) - greatest(draws[i + 4], spent)) as reserved
    from draw
    union all
    select mine.user_id, a.quota_id, a.window_no, a.used, 0
    from mine join archive a on a.shard = $1 and a.quota_id = mine.quota_id
  ), ledger as (
    select user_id, quota_id, window_no, sum(used)::bigint as used, sum(reserved)::bigint as reserved
    from entries group by user_id, quota_id, window_no
  ), different as (
    select user_id, quota_id, window_no, counted.used as counted_used, counted.reserved as counted_reserved,
      coalesce(ledger.used, 0) as used, coalesce(ledger.reserved, 0) as reserved
    from counted full join ledger using (user_id, quota_id, window_no)
    where (counted.used, counted.reserved) is distinct from (coalesce(ledger.used, 0), coalesce(ledger.reserved, 0))
    order by user_id, quota_id, window_no limit $4
  )
  select sums.*, different.*
  from (select (select count(*) from mine) as quotas, (select count(*) from counted) as windows,
          (select count(*) from reservation where shard = $1 and user_id > $2 and user_id <= $3) as reservations) sums
  left join different on true`

interface DifferenceRow extends Counters {
  user_id: number | null
  quota_id: number | null
  window_no: number
  counted_used: number | null
  counted_reserved: number | null
}

async function check(tx: Transaction, range: Range, maxDifferences: number): Promise<Verification> {
  const rows = await tx.query<DifferenceRow & Omit<Verification, 'differences'>>({
    text: CHECK,
    values: [range.shard, range.after, range.upTo, maxDifferences],
  })
  const { quotas = 0, windows = 0, reservations = 0 } = rows[0] ?? {}
  return { quotas, windows, reservations, differences: rows.flatMap(differenceOf) }
}

function differenceOf(row: DifferenceRow): Difference[] {
  const { user_id, quota_id, window_no, counted_used, counted_reserved, used, reserved } = row
  if (quota_id === null) return []
  const isCounted = counted_used !== null && counted_reserved !== null
  const counters = isCounted ? { used: counted_used, reserved: counted_reserved } : null
  return [{ user_id, quota_id, window_no, counters, ledger: { used, reserved } }]
}

/** Windows and archive rows of quotas that do not exist, which no user's range contains. */
async function findOrphans(db: Database, shard: Shard, maxDifferences: number): Promise<Verification> {
  const rows = await db.query<DifferenceRow>({
    text: `
      select null::bigint as user_id, quota_id, window_no, w.used as counted_used, w.reserved as counted_reserved,
        coalesce(a.used, 0) as used, 0::bigint as reserved
      from (select * from quota_window w where shard = $1
            and not exists (select from quota q where q.shard = $1 and q.id = w.quota_id)) w
      full join (select * from archive a where shard = $1
                 and not exists (select from quota q where q.shard = $1 and q.id = a.quota_id)) a
        using (quota_id, window_no)
      order by quota_id, window_no limit $2`,
    values: [shard, maxDifferences],
  })
  return { quotas: 0, windows: 0, reservations: 0, differences: rows.flatMap(differenceOf) }
}
