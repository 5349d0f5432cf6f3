/** Reads the log of denials. The engine writes it (`ledger/add-denials.ts`), `denial-retention.ts` removes from it. */
import { MAX_SCANNED_DENIALS } from '../../domain/basics/bounds.ts'
import { shardOf } from '../../domain/basics/shard.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import type { Denial, DenialKey } from '../../domain/units/denial.ts'
import type { EndedQuota } from '../../domain/units/draft.ts'
import type { ExplanationView } from '../../domain/units/explanation.ts'
import type { DenialReason, Unnamed } from '../../domain/units/reservation.ts'
import type { Database, SqlValue } from '../connection/database.ts'
import { bind } from '../connection/parameters.ts'
import { joinSql, type Sql, sql } from '../connection/sql.ts'
import { BY_KEYS } from '../connection/transaction-settings.ts'
import { timestampParam } from '../connection/values.ts'
import { DENIAL_COLUMNS } from '../ledger/add-denials.ts'
import { readEndedQuotas, readEndedQuotasOfShard } from '../ledger/load-ended-quotas.ts'
import { allOf, type Page, readPage, type Slice } from '../lists/pages.ts'

/** A denial in the log, without its explanation. */
export type LoggedDenial = Denial & DenialKey

/** A denial with the subject of its sender; null if that is not known. */
export type ListedDenial = LoggedDenial & { sender: string | null }

/** The filter of a list; `from` is included, `to` is not. */
export interface DenialFilter {
  user_id?: number
  /** The sender's id. */
  id?: string
  reason?: DenialReason
  country?: string
  message_type?: string
  /** The subject of the sender. */
  sender?: string
  /** Only denials that have none of these. */
  without?: Unnamed
  from?: EpochMs
  to?: EpochMs
}

const COLUMNS = joinSql([sql`at`, sql`number`, ...DENIAL_COLUMNS])
/** The subject, after the page is cut. */
const SENDER = sql`(select subject from principal where id = d.sender) as sender`

/**
 * The expression that each index orders by: `denial_by_id` for a sender's id and the primary key for one user,
 * `denial_by_time` for all. The last one holds an expression, so that the planner cannot take it for the page of one
 * user.
 */
const timeOf = ({ id, user_id }: DenialFilter) => (id === undefined && user_id === undefined ? inUtc(AT) : AT)
const AT = sql`at`
const inUtc = (timestamp: Sql) => sql`(${timestamp} at time zone 'UTC')`

/** A page of denials, newest first. */
export function listDenials(
  db: Database,
  filter: DenialFilter,
  { after, size, maxScanned = MAX_SCANNED_DENIALS }: Page<DenialKey>,
): Promise<Slice<ListedDenial, DenialKey>> {
  const [values, keys]: [SqlValue[], SqlValue[]] = [[], []]
  const among = rangeOf(filter, after, values)
  const selected = whereClauseOf(filter, values)
  const text = sql`select ${COLUMNS}, ${SENDER} from (
      select shard, ${COLUMNS}, sender, ${timeOf(filter)} as denied_at from denial where ${among}
      order by ${timeOf(filter)} desc, number desc limit ${bind(values, maxScanned)}
    ) d where ${selected} order by denied_at desc, number desc limit ${bind(values, size + 1)}`
  const end = sql`select user_id, at, number from denial where ${rangeOf(filter, after, keys)} order by ${timeOf(filter)} desc, number desc
           offset ${bind(keys, maxScanned - 1)} limit 2`
  return readPage(db, size, {
    page: { text, values },
    keyOf: ({ user_id, at, number }) => ({ user_id, at, number }),
    end: { text: end, values: keys },
  })
}

/** The conditions that an index bounds: the sender's id or the user, the time, and the cursor. */
function rangeOf(filter: DenialFilter, after: DenialKey | undefined, values: SqlValue[]): Sql {
  const { user_id, id, from, to } = filter
  const conditions: Sql[] = []
  const timestamp = (at: EpochMs) => {
    const bound = sql`${bind(values, timestampParam(at))}::timestamptz`
    return timeOf(filter) === AT ? bound : inUtc(bound)
  }
  if (id !== undefined) conditions.push(sql`id = ${bind(values, id)}`)
  else if (user_id !== undefined)
    conditions.push(sql`shard = ${bind(values, shardOf(user_id))}`, sql`user_id = ${bind(values, user_id)}`)
  if (from !== undefined) conditions.push(sql`${timeOf(filter)} >= ${timestamp(from)}`)
  // A cursor lies before `to`, so `to` is left out: of two bounds PostgreSQL may begin at the farther one.
  if (after !== undefined)
    conditions.push(sql`(${timeOf(filter)}, number) < (${timestamp(after.at)}, ${bind(values, after.number)})`)
  else if (to !== undefined) conditions.push(sql`${timeOf(filter)} < ${timestamp(to)}`)
  return allOf(conditions)
}

/** The conditions for what a message did not name. Text of the statement comes from here, never from the filter itself. */
const WITHOUT: Readonly<Record<Unnamed, Sql>> = {
  country: sql`country is null`,
  message_type: sql`message_type is null`,
  sender: sql`sender is null`,
}

/** The conditions that are read from the rows. */
function whereClauseOf(filter: DenialFilter, values: SqlValue[]): Sql {
  const { from: _from, to: _to, user_id, id, reason, country, message_type, sender, without, ...none } = filter
  none satisfies Record<string, never>
  const conditions: Sql[] = []
  if (id !== undefined && user_id !== undefined)
    conditions.push(sql`shard = ${bind(values, shardOf(user_id))}`, sql`user_id = ${bind(values, user_id)}`)
  if (reason !== undefined) conditions.push(sql`reason = ${bind(values, reason)}`)
  if (country !== undefined) conditions.push(sql`country = ${bind(values, country)}`)
  if (message_type !== undefined) conditions.push(sql`message_type = ${bind(values, message_type)}`)
  if (sender !== undefined)
    conditions.push(sql`sender = (select id from principal where subject = ${bind(values, sender)})`)
  if (without !== undefined) conditions.push(WITHOUT[without])
  return allOf(conditions)
}

/** A denial with its explanation as it was logged. */
export interface DenialDetails {
  denial: ListedDenial
  explanation: ExplanationView[]
  /** The user's quotas, as they are now, that ended last before the denial. The engine does not read them for the log. */
  ended: EndedQuota[]
}

/** The denial at a place of the log; undefined if there is none, or none any more. */
export function findDenial(db: Database, { user_id, at, number }: DenialKey): Promise<DenialDetails | undefined> {
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    const [row] = await tx.query<ListedDenial & { explanation: ExplanationView[] }>({
      name: 'find-denial',
      text: sql`select ${COLUMNS}, ${SENDER}, explanation from denial d
             where shard = $1 and user_id = $2 and at = $3 and number = $4`,
      values: [shardOf(user_id), user_id, timestampParam(at), number],
    })
    if (row === undefined) return undefined
    const { explanation, ...denial } = row
    const { text, values } = (tx.isCluster ? readEndedQuotasOfShard : readEndedQuotas).call({ now: at }, [user_id])
    return { denial, explanation, ended: await tx.query<EndedQuota>({ text, values }) }
  }, 'snapshot')
}
