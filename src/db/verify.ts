/**
 * Proves that counters equal their ledger: for every window of every quota, the one that holds and those closed, that
 * `used` and `reserved` are the sums over the reservations and what retention has folded of them.
 *
 * Each statement judges a range of users in a snapshot of its own. That is exact, because every transaction is whole
 * for each user it touches; one snapshot for all of it would keep dead versions of busy rows from being removed, and
 * slow the senders down twentyfold within half a minute.
 */
import { MAX_INTEGER } from '../domain/bounds.ts'
import { SHARD_COUNT, shardOf } from '../domain/shard.ts'
import { type Database, sqlStateOf, type Transaction } from './database.ts'

interface Counters {
  used: number
  reserved: number
}

/** A window whose counters are not what its ledger adds up to. */
export interface Difference {
  /** Null if the quota itself is not there, so that nobody knows whose it was. */
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
  /** The first ones, by shard and user. With as many as asked for, the rest was not looked at. */
  differences: Difference[]
}

export interface VerifyOptions {
  /** Looks at this user's only. */
  userId?: number
  /** Ends with so many differences. */
  mostDifferences?: number
  /** Is told now and then what was seen so far, and what part of everything that is, from 0 to 1. */
  onProgress?: (seen: Verification, part: number) => void
}

/** Longest that a statement over several users may run; one user's ledger cannot be judged in parts. */
const MAX_MS = 1_000
/** The number of users of a statement is such that it takes about as long as this. */
const GOAL_MS = 300
const FIRST_USERS = 64
const MAX_USERS = 16_384

/**
 * `db` must allow long statements (a `statementTimeout` of 0), for users with millions of reservations. Takes no lock
 * and writes nothing.
 */
export async function verify(db: Database, options: VerifyOptions = {}): Promise<Verification> {
  const { userId, mostDifferences = 20, onProgress = () => {} } = options
  const seen: Verification = { quotas: 0, windows: 0, reservations: 0, differences: [] }
  const add = (found: Verification) => {
    seen.quotas += found.quotas
    seen.windows += found.windows
    seen.reservations += found.reservations
    seen.differences.push(...found.differences.slice(0, mostDifferences - seen.differences.length))
    return seen.differences.length < mostDifferences
  }

  if (userId !== undefined) {
    const range = { shard: shardOf(userId), after: userId - 1, upTo: userId }
    const found = await judgeInTime(db, range, 1, mostDifferences)
    if (found !== undefined) add(found)
    return seen
  }
  let users = FIRST_USERS
  for (let shard = 0; shard < SHARD_COUNT; shard++) {
    for (let after = -1; after < MAX_INTEGER; ) {
      const range = { shard, after, upTo: await endOfRange(db, shard, after, users) }
      const begun = performance.now()
      const found = await judgeInTime(db, range, users, mostDifferences)
      if (found === undefined) {
        users = Math.ceil(users / 4)
        continue
      }
      if (!add(found)) return seen
      const tookMs = performance.now() - begun
      users = Math.ceil(Math.min(MAX_USERS, users * Math.min(2, Math.max(0.25, GOAL_MS / tookMs))))
      after = range.upTo
      onProgress(seen, shard / SHARD_COUNT)
    }
    if (!add(await findStrays(db, shard, mostDifferences))) return seen
    onProgress(seen, (shard + 1) / SHARD_COUNT)
  }
  return seen
}

/** Users of a shard whose ids are above `after` and not above `upTo`, with accounts or without. */
interface Range {
  shard: number
  after: number
  upTo: number
}

async function endOfRange(db: Database, shard: number, after: number, users: number): Promise<number> {
  const [last] = await db.query<{ user_id: number }>({
    text: 'select user_id from account where shard = $1 and user_id > $2 order by user_id offset $3 limit 1',
    values: [shard, after, users - 1],
  })
  return last?.user_id ?? MAX_INTEGER
}

/** Undefined if several users take too long: with fewer it will go. */
async function judgeInTime(
  db: Database,
  range: Range,
  users: number,
  mostDifferences: number,
): Promise<Verification | undefined> {
  const bound = users === 1 ? 0 : MAX_MS
  try {
    return await db.transaction(async tx => {
      // Never a whole table for a range of it, and no compiler for statements that are short.
      await tx.query({
        text: `set local statement_timeout = ${bound}; set local enable_seqscan = off; set local jit = off`,
      })
      return judge(tx, range, mostDifferences)
    })
  } catch (error) {
    if (users > 1 && sqlStateOf(error) === '57014') return undefined
    throw error
  }
}

/**
 * What a reservation counts is said by `countsOf`, and here once more, in other words and another language. The users'
 * quotas are gathered in two halves, because no one index has both the deleted and the others.
 */
const JUDGE = `
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

async function judge(tx: Transaction, range: Range, mostDifferences: number): Promise<Verification> {
  const rows = await tx.query<DifferenceRow & Omit<Verification, 'differences'>>({
    text: JUDGE,
    values: [range.shard, range.after, range.upTo, mostDifferences],
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

/** What is of no quota, and so of no user's range. */
async function findStrays(db: Database, shard: number, mostDifferences: number): Promise<Verification> {
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
    values: [shard, mostDifferences],
  })
  return { quotas: 0, windows: 0, reservations: 0, differences: rows.flatMap(differenceOf) }
}
