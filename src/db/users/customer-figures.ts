/** How the figures of customers are kept: the users whose figures are due, what they are made of, and their rows. */
import { USAGE_BUCKET_MS } from '../../domain/basics/bounds.ts'
import type { Shard } from '../../domain/basics/shard.ts'
import { type DayOfUsage, FIGURE_DAYS, type Figures } from '../../domain/forecasts/customer-figures.ts'
import type { CustomerState } from '../../domain/forecasts/customer-standing.ts'
import type { Quota } from '../../domain/quotas/quota.ts'
import { CLOCK_MARGIN_MS, DAY_MS, type EpochMs, MINUTE_MS } from '../../domain/time/time.ts'
import { QUOTA_DENIAL_REASONS } from '../../domain/units/reservation.ts'
import { usageBucketOf } from '../../domain/units/usage.ts'
import type { Database, Transaction } from '../connection/database.ts'
import { joinSql, type Sql, sql, sqlInteger, sqlName } from '../connection/sql.ts'
import { BY_KEYS_IN_ORDER } from '../connection/transaction-settings.ts'
import { timestampParam } from '../connection/values.ts'
import { quotasOfUsers } from '../quotas/quotas.ts'
import { walk } from '../usage/maintenance.ts'
import { firstUsageOf, rolledUpUsageOf } from '../usage/sums.ts'
import { lastActivityOf } from './users.ts'

/** The figures of a user, as they are stored. Shares are in millionths. */
export interface StoredFigures extends Figures {
  user_id: number
  computed_at: EpochMs
  due_at: EpochMs
  sequence: number
  profile_version: number
  name_key: string
  state: CustomerState
  urgency: number
  used_share: number
  daily_rate: number | null
  last_message_at: EpochMs
}

const TYPES: Readonly<Record<keyof StoredFigures, Sql>> = {
  user_id: sql`bigint`,
  computed_at: sql`timestamptz`,
  due_at: sql`timestamptz`,
  sequence: sql`bigint`,
  profile_version: sql`bigint`,
  name_key: sql`text`,
  state: sql`text`,
  urgency: sql`bigint`,
  used_share: sql`integer`,
  daily: sql`bigint[]`,
  sent: sql`bigint`,
  sent_before: sql`bigint`,
  denied: sql`bigint`,
  denied_share: sql`integer`,
  unmet: sql`bigint`,
  growth: sql`integer`,
  daily_rate: sql`double precision`,
  last_message_at: sql`timestamptz`,
}
const NAMES = Object.keys(TYPES).map(sqlName)

/** The records that a user's figures are made of. */
export interface FiguresSource {
  user_id: number
  sequence: number
  profile_version: number
  name: string | null
  /** The beginning of the first usage; null: there was none. */
  first: EpochMs | null
  last_message_at: EpochMs | null
  /** Undeleted, some of them expired minutes ago. */
  quotas: readonly Quota[]
  days: readonly DayOfUsage[]
}

/** Accounts that a page passes over, at most, for each user whose figures it may make: each is some look-ups by a key. */
const PASSED_EACH = 20

/**
 * A user who goes on sending has new figures after this time, at the earliest. Usage may be rolled up later than they are made: in the rest of
 * `FIGURES_DELAY_MS` it is; what is rolled up more than five minutes late may be missing for a day.
 */
const REST_MS = 4 * MINUTE_MS

/** All that happened so long before a walk began is in the figures that it leaves. */
export const FIGURES_DELAY_MS = 5 * MINUTE_MS

/** The number of the newest event of a user `k`, and the version of the profile. */
const sequenceOf = (shard: Sql) => sql`coalesce(
  (select max(e.sequence) from event e where e.shard = ${shard} and e.user_id = k.user_id),
  (select s.last from event_sequence s where s.shard = ${shard} and s.user_id = k.user_id), 0)`
const profileVersionOf = (shard: Sql) =>
  sql`coalesce((select p.version from user_profile p where p.shard = ${shard} and p.user_id = k.user_id), 0)`

/**
 * Whether the figures `f` of a user `k` are due: there are none; their time has come, or lies ahead because a clock was; an event or a
 * change of the profile has come since; or usage. Usage is known by the quarter of an hour, so it counts for twenty minutes more. Users
 * whose data is being erased get none. The times are `timesOf`.
 */
const isDueOf = (shard: Sql) => sql`(f.user_id is null or f.due_at <= $1 or f.computed_at > $2
    or f.sequence <> ${sequenceOf(shard)} or f.profile_version <> ${profileVersionOf(shard)}
    or f.computed_at <= $3 and exists (select from usage u
      where u.shard = ${shard} and u.user_id = k.user_id and u.bucket >= f.computed_at - interval '20 minutes'))
  and not exists (select from erasure e where e.shard = ${shard} and e.user_id = k.user_id and e.finished_at is null)`
const timesOf = (now: EpochMs) => [now, now + CLOCK_MARGIN_MS, now - REST_MS].map(timestampParam)

/** Users of a page of accounts whose figures are due. */
const FIND_DUE = sql`
  with k as materialized (
    select user_id from account where shard = $4 and user_id >= $5 order by user_id limit $6::bigint * ${sqlInteger(PASSED_EACH)}
  ), due as (
    select k.user_id from k left join customer_figures f on f.shard = $4 and f.user_id = k.user_id
    where ${isDueOf(sql`$4`)}
    order by k.user_id limit $6::bigint
  )
  select (select count(*) from k) as passed, (select max(user_id) from k) as last, array(select user_id from due) as users`

/** Accounts of a shard that the statement for all shards looks at, at most: each is some look-ups by a key. */
const MAX_IDLE = 50

/** Walks over shards with few accounts of which no figures are due, and no figures without an account (`removeOrphans`). */
const WALK_IDLE = sql`
  with behind as materialized (
    select shard from usage_upkeep where task = 'figures' and until < $4 and next_user is null order by shard for update skip locked
  )
  update usage_upkeep w set until = $1, done_until = $1 from behind b
  where w.shard = b.shard and w.task = 'figures' and case
    when (select count(*) from (select from account where shard = b.shard limit ${sqlInteger(MAX_IDLE + 1)}) a) > ${sqlInteger(MAX_IDLE)} then false
    else not exists (select from account k left join customer_figures f on f.shard = b.shard and f.user_id = k.user_id
        where k.shard = b.shard and ${isDueOf(sql`b.shard`)})
      and not exists (select from customer_figures f where f.shard = b.shard
        and not exists (select from account a where a.shard = b.shard and a.user_id = f.user_id))
  end`

/**
 * Walks, in one statement, over all shards in which nothing is to be done, of those not walked since a time: walked one by one, they would
 * be most of what an idle service costs. Not on a cluster, which refuses to lock rows of several shards.
 */
export async function walkIdleShards(db: Database, now: EpochMs, since: EpochMs): Promise<void> {
  await db.transaction(async tx => {
    if (tx.isCluster) return
    await tx.query({ text: BY_KEYS_IN_ORDER })
    await tx.query({ name: 'walk-idle-figures', text: WALK_IDLE, values: [...timesOf(now), timestampParam(since)] })
  })
}

interface DuePage {
  passed: number
  last: number | null
  users: number[]
}

/**
 * Makes figures anew: of at most `size` users of a shard, from where the walk over its accounts stands. No usage of the shard is compacted,
 * and no user of it erased meanwhile.
 *
 * @param figure what becomes of a user; undefined: the figures stay as they are
 * @returns of how many users they were due, whether the shard has more, and who has none because rows cannot be read
 */
export async function renewFigures(
  db: Database,
  shard: Shard,
  now: EpochMs,
  size: number,
  figure: (source: FiguresSource) => StoredFigures | undefined,
): Promise<{ due: number; hasMore: boolean; unreadable: readonly UnreadableUser[] }> {
  let due = 0
  let unreadable: UnreadableUser[] = []
  const hasMore = await walk(db, shard, 'figures', now, async (tx, from) => {
    const [page] = await tx.query<DuePage>({
      name: 'find-due-figures',
      text: FIND_DUE,
      values: [...timesOf(now), shard, from, size],
    })
    const { passed = 0, last = null, users = [] } = page ?? {}
    due = users.length
    const { sources, unreadable: found } = await readableSources(tx, shard, users, now)
    unreadable = found
    await writeFigures(
      tx,
      shard,
      sources.flatMap(source => figure(source) ?? []),
    )
    const lastUser = users.at(-1)
    const isFull = users.length === size && lastUser !== undefined
    const end = isFull ? lastUser + 1 : passed < size * PASSED_EACH || last === null ? null : last + 1
    await removeOrphans(tx, shard, from, end)
    return end
  })
  return { due, hasMore, unreadable }
}

/* ── What they are made of ──────────────────────────────────────────────────────────────────────────────────────── */

const OF_K = { shard: sql`$1::smallint`, user: sql`k.user_id` }
const FACTS = sql`
  select k.user_id, ${sequenceOf(sql`$1`)} as sequence, ${profileVersionOf(sql`$1`)} as profile_version,
    (select p.name from user_profile p where p.shard = $1 and p.user_id = k.user_id) as name,
    ${firstUsageOf(OF_K)} as first, ${lastActivityOf(OF_K)} as last_message_at
  from unnest($2::bigint[]) k (user_id)`

/** Refunds of units that no grant paid for are rare, and count as those of others. No sum is more than a number of JavaScript holds. */
const sumUpTo = (units: Sql) => sql`least(sum(${units}), 9007199254740991)::bigint`
const UNMET = joinSql(
  QUOTA_DENIAL_REASONS.map(reason => sql`coalesce(u.${sqlName(reason)}, 0)`),
  sql` + `,
)
const DAYS = sql`
  select k.user_id, floor(extract(epoch from $2::timestamptz - u.bucket - interval '1 ms') / 86400)::int as day,
    ${sumUpTo(sql`u.committed`)} as sent, ${sumUpTo(sql`u.denied`)} as denied,
    ${sumUpTo(UNMET)} as unmet,
    ${sumUpTo(sql`u.committed - u.unfunded - u.refunded`)} as funded
  from unnest($4::bigint[]) k (user_id), lateral (${rolledUpUsageOf({ shard: sql`$3::smallint`, user: sql`k.user_id` }, true)}) u
  group by 1, 2`

interface UnreadableUser {
  user_id: number
  error: RangeError
}

/** If a row of one user has a value that cannot be read, such as a counter past 2^53, each user is read alone: others have their figures. */
async function readableSources(tx: Transaction, shard: Shard, users: readonly number[], now: EpochMs) {
  const sources: FiguresSource[] = []
  const unreadable: UnreadableUser[] = []
  try {
    sources.push(...(await sourcesOf(tx, shard, users, now)))
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    const [user_id = 0] = users
    if (users.length === 1) return { sources, unreadable: [{ user_id, error }] }
    for (const user of users) {
      const one = await readableSources(tx, shard, [user], now)
      sources.push(...one.sources)
      unreadable.push(...one.unreadable)
    }
  }
  return { sources, unreadable }
}

async function sourcesOf(
  tx: Transaction,
  shard: Shard,
  users: readonly number[],
  now: EpochMs,
): Promise<FiguresSource[]> {
  if (users.length === 0) return []
  // First the sequences: with an event that comes between the statements, the user is found again.
  const facts = await tx.query<Omit<FiguresSource, 'quotas' | 'days'>>({
    name: 'facts-of-figures',
    text: FACTS,
    values: [shard, users],
  })
  const quotas = await quotasOfUsers(
    tx,
    users.map(user_id => ({ user_id })),
    now,
    'read',
  )
  // The current quarter of an hour belongs to the last day.
  const to = usageBucketOf(now) + USAGE_BUCKET_MS
  const days = await tx.query<DayOfUsage & { user_id: number }>({
    name: 'days-of-figures',
    text: DAYS,
    values: [timestampParam(to - 2 * FIGURE_DAYS * DAY_MS), timestampParam(to), shard, users],
  })
  const quotasOf = Map.groupBy(quotas, ({ user_id }) => user_id)
  const daysOf = Map.groupBy(days, ({ user_id }) => user_id)
  return facts.map(fact => ({
    ...fact,
    quotas: quotasOf.get(fact.user_id) ?? [],
    days: daysOf.get(fact.user_id) ?? [],
  }))
}

/* ── Their rows ─────────────────────────────────────────────────────────────────────────────────────────────────── */

const WRITE = sql`
  insert into customer_figures (shard, ${joinSql(NAMES)})
  select h.shard, ${joinSql(NAMES.map(name => sql`k.${name}`))}
  from json_to_recordset($2::json) k (${joinSql(Object.values(TYPES).map((type, at) => sql`${NAMES[at] ?? sql``} ${type}`))})
    cross join shard_head h
  where h.shard = $1 order by k.user_id
  on conflict (shard, user_id) do update set ${joinSql(NAMES.slice(1).map(name => sql`${name} = excluded.${name}`))}`

async function writeFigures(tx: Transaction, shard: Shard, rows: readonly StoredFigures[]): Promise<void> {
  if (rows.length === 0) return
  const records = rows.map(row => ({
    ...row,
    computed_at: timestampParam(row.computed_at),
    due_at: timestampParam(row.due_at),
    last_message_at: timestampParam(row.last_message_at),
  }))
  await tx.query({ name: 'write-figures', text: WRITE, values: [shard, JSON.stringify(records)] })
}

/** Removes the figures of users who were erased by a version that does not know them, from a user to another; null: to the last. */
async function removeOrphans(tx: Transaction, shard: Shard, from: number, to: number | null): Promise<void> {
  await tx.query({
    name: 'remove-orphaned-figures',
    text: sql`delete from customer_figures f where f.shard = $1 and f.user_id >= $2 and f.user_id < coalesce($3::bigint, 9223372036854775807)
           and not exists (select from account a where a.shard = $1 and a.user_id = f.user_id)`,
    values: [shard, from, to],
  })
}

/**
 * Begins the walks anew that a clock which was ahead has begun: they would be taken for done until that time comes. Nothing if there are
 * none.
 */
export async function takeBackWalks(db: Database, now: EpochMs): Promise<void> {
  await db.query({
    name: 'take-back-figures',
    text: sql`update usage_upkeep set until = '-infinity', next_user = null, done_until = null
           where task = 'figures' and until > $1`,
    values: [timestampParam(now + CLOCK_MARGIN_MS)],
  })
}

/** When the walk of the shard began whose last complete walk is the oldest; null if a shard has none. */
export async function figuresWalkedAt(tx: Transaction): Promise<EpochMs | null> {
  const [row] = await tx.query<{ at: EpochMs | null }>({
    name: 'figures-walked-at',
    text: sql`select case when count(*) = count(done_until) then min(done_until) end as at from usage_upkeep where task = 'figures'`,
  })
  return row?.at ?? null
}
