/** The columns of the tables of usage, and the SQL that follows from them. */
import { DENIAL_REASONS } from '../../domain/units/reservation.ts'
import type { Store } from '../connection/database.ts'
import { joinSql, type Sql, sql, sqlInteger, sqlName } from '../connection/sql.ts'
import { OF_ALL_SHARDS, USAGE_KIND_CODES } from '../ledger/add-usage.ts'

/** Counts of every table of usage. */
const COUNTS = [
  'committed',
  'committed_messages',
  'refunded',
  'refunded_messages',
  'denied',
  'denied_messages',
] as const

/** Messages whose code was entered; null if there are none. */
const VERIFIED = 'verified_messages'

/** Segments of committed messages that a rate card has priced; null if there are none. */
const SEGMENTS = 'committed_segments'

/** Messages that came back: they were refunded, all of each at once. Null if there are none. */
const RETURNED = 'returned_messages'

/** Denials by reason, each part of `denied`; null if there are none. */
const REASONS = DENIAL_REASONS.flatMap(reason => [reason, `${reason}_messages`] as const)

/** The part of `committed` that no grant paid for. Tables that name the grant have no such columns. */
const UNFUNDED = ['unfunded', 'unfunded_messages'] as const

/** The counts in each row of `usage`, `usage_day` and `usage_month`. */
export const USAGE_COUNTS = [...COUNTS, ...REASONS, VERIFIED, SEGMENTS] as const

/** The counts in a row of `usage`, which the breaker reads, too. */
export const ROW_COUNTS = [...USAGE_COUNTS, RETURNED] as const

/** The counts in a row of `usage_total` and `usage_busy`. */
export const TOTAL_COUNTS = [...USAGE_COUNTS, ...UNFUNDED] as const

/** The codes of `usage_total.dimension`: what its `key` is. */
export const DIMENSIONS = { none: 0, country: 1, message_type: 2, sender: 3 }

/** Units and messages of each kind. */
export type UsageSums = Record<(typeof TOTAL_COUNTS)[number], number>

/** Columns that are null where there is nothing to count. */
const isNullable = (name: string) => [...REASONS, VERIFIED, SEGMENTS, RETURNED].some(nullable => nullable === name)

/** A list of columns. */
export const columnsOf = (names: readonly string[]): Sql => joinSql(names.map(sqlName))

/** The assignments of an upsert that adds to what `table` holds. */
export function additionsTo(table: Sql, names: readonly string[]): Sql {
  const added = (name: string) => {
    const column = sqlName(name)
    const [held, more] = [sql`${table}.${column}`, sql`excluded.${column}`]
    return isNullable(name) ? sql`coalesce(${held} + ${more}, ${held}, ${more})` : sql`${held} + ${more}`
  }
  return joinSql(names.map(name => sql`${sqlName(name)} = ${added(name)}`))
}

/** The sums of columns, of rows that are moved or added up: null stays null. */
export function sumsOf(names: readonly string[]): Sql {
  return joinSql(names.map(sqlName).map(name => sql`sum(${name}) as ${name}`))
}

/** The sums that a report shows, as whole numbers. */
export const REPORTED = joinSql(
  TOTAL_COUNTS.map(sqlName).map(name => sql`coalesce(sum(${name}), 0)::bigint as ${name}`),
)

/** The columns `unfunded` of rows that name the grant that paid. */
export const UNFUNDED_OF_GRANTS = sql`
  case when quota_id is null then committed else 0 end as unfunded,
  case when quota_id is null then committed_messages else 0 end as unfunded_messages`

/** The last code of `usage_pending.kinds`: another one is of a newer version, and what it counts is not known. */
export const LAST_KIND = Math.max(...Object.values(USAGE_KIND_CODES))

/** The codes of `usage_pending.kinds` that a column counts: its own, and `denied` those of all reasons and of none. */
const CODES: Record<Exclude<keyof typeof USAGE_KIND_CODES, 'verified' | 'segments'> | 'denied', Sql> = {
  committed: only('committed'),
  refunded: only('refunded'),
  denied: sql`in (2, ${joinSql(DENIAL_REASONS.map(reason => sqlInteger(USAGE_KIND_CODES[reason])))})`,
  no_quota: only('no_quota'),
  cap_reached: only('cap_reached'),
  quota_exhausted: only('quota_exhausted'),
  destination_paused: only('destination_paused'),
}
function only(kind: keyof typeof USAGE_KIND_CODES): Sql {
  return sql`= ${sqlInteger(USAGE_KIND_CODES[kind])}`
}
const PENDING = [
  ...Object.entries(CODES).flatMap(([name, codes]) => [
    { name, counted: sql`units`, codes },
    { name: `${name}_messages`, counted: sql`messages`, codes },
  ]),
  { name: VERIFIED, counted: sql`messages`, codes: only('verified') },
  { name: SEGMENTS, counted: sql`units`, codes: only('segments') },
]

/** The counts of one entry `e` of a pending batch, by the names of `USAGE_COUNTS`. */
export const PENDING_COUNTS = joinSql(
  PENDING.map(
    ({ name, counted, codes }) => sql`case when e.kind ${codes} then e.${counted} else 0 end as ${sqlName(name)}`,
  ),
)

/** The sums of entries `e` of pending batches. */
export const PENDING_SUMS = joinSql(
  PENDING.map(({ name, counted, codes }) => {
    const sum = sql`sum(e.${counted}) filter (where e.kind ${codes})`
    return sql`${isNullable(name) ? sum : sql`coalesce(${sum}, 0)`} as ${sqlName(name)}`
  }),
)

/** The sum of the column `returned_messages` of such entries. */
export const PENDING_RETURNED = sql`sum(e.messages) filter (where ${isReturned(sql`e`)}) as ${sqlName(RETURNED)}`

/** Whether an entry is of messages that came back: it says when they were sent. */
export function isReturned(entry: Sql): Sql {
  return sql`${entry}.kind ${only('refunded')} and ${entry}.sent_at is not null`
}

/** The sums of the columns `unfunded` of such entries. */
export const PENDING_UNFUNDED = joinSql(
  Object.entries({ unfunded: sql`units`, unfunded_messages: sql`messages` }).map(
    ([name, counted]) =>
      sql`coalesce(sum(e.${counted}) filter (where e.kind = 0 and e.quota_id is null), 0) as ${sqlName(name)}`,
  ),
)

/**
 * The entries of the batches `batches`, as a table `e`. An earlier version wrote no senders: they are null. So are the shards of
 * entries of one shard, the batch's own.
 */
export function entriesOf(batches: Sql): Sql {
  return sql`unnest(${batches}.users, ${batches}.quotas, ${batches}.countries, ${batches}.message_types, ${batches}.kinds,
    ${batches}.units, ${batches}.messages, ${batches}.senders, ${batches}.shards, ${batches}.sent_at)
    e (user_id, quota_id, country, message_type, kind, units, messages, sender, shard, sent_at)`
}

/**
 * That a batch of `usage_pending p` may hold usage of a shard's users. In a transaction on a cluster, where each batch is of one shard,
 * the statement has to stay in that; elsewhere the store is not known, and a shard without batches costs nothing.
 */
export function ofShard({ isCluster }: Store, shard: Sql): Sql {
  return isCluster ? sql`p.shard = ${shard}` : sql`p.shard in (${shard}, ${sqlInteger(OF_ALL_SHARDS)})`
}
