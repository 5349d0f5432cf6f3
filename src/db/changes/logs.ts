import { COMMON_SHARD, type Shard, shardOf, shardOfQuota } from '../../domain/basics/shard.ts'
import { AUDITED_RESOURCES, type AuditedResource } from '../../domain/events/audit.ts'
import { type Sql, sql } from '../connection/sql.ts'

/** The resources that have a table of changes. An erasure of a user is its own record. */
export type LoggedResource = Exclude<AuditedResource, 'user'>

/** A table of changes. Its columns are those of the others, but for the id of the thing, its user and the cause. */
interface ChangeLog {
  table: string
  /** The column of the thing's id, which is between `shard` and `version` in the key. */
  id: string
  /** The shard of a thing's changes. */
  shardOf: (id: number) => Shard
  /** SQL: the user of a change, as an index begins with it. Undefined: a change has none. */
  user?: Sql
  /** The rows are in the shard of their user, and erased there by `user_id`. Of other logs, the things have pages of their own in an erasure. */
  isErasedByUser?: true
  /** A change may have a reason and a transfer. */
  hasCause?: true
}

const inCommonShard = () => COMMON_SHARD
const user = sql`user_id`

const LOGS = {
  profile: { table: 'profile_change', id: 'user_id', shardOf, user, isErasedByUser: true },
  address: { table: 'user_address_change', id: 'user_id', shardOf, user, isErasedByUser: true },
  webhook: { table: 'webhook_change', id: 'webhook_id', shardOf: shardOfQuota },
  plan: { table: 'plan_change', id: 'plan_id', shardOf: inCommonShard },
  rate_card: { table: 'rate_card_change', id: 'rate_card_id', shardOf: inCommonShard },
  breaker: { table: 'breaker_change', id: 'breaker_id', shardOf: inCommonShard },
  pause: { table: 'pause_change', id: 'pause_id', shardOf: inCommonShard, user },
  increase_request: {
    table: 'increase_request_change',
    id: 'increase_request_id',
    shardOf: shardOfQuota,
    user,
    isErasedByUser: true,
  },
  quota: {
    table: 'quota_change',
    id: 'quota_id',
    shardOf: shardOfQuota,
    user: sql`(after ->> 'user_id')::bigint`,
    hasCause: true,
  },
} as const satisfies Record<LoggedResource, ChangeLog>

/** The logs of changes: how each is written, listed, kept and erased follows from this. */
export const CHANGE_LOGS: Readonly<Record<LoggedResource, ChangeLog>> = LOGS

/** The columns that a log has beside those of all. */
export type FurtherColumns<Resource extends LoggedResource> = Further<(typeof LOGS)[Resource]>
type Further<Log> = Log extends { hasCause: true }
  ? {
      reason: string | null
      transfer_id: number | null
      /** By how many units it moves the limit, of authors with a bound on a day's units; of others null. */
      moved_units: number | null
    }
  : Log extends { id: 'user_id' }
    ? unknown
    : Log extends { isErasedByUser: true }
      ? { user_id: number }
      : Log extends { user: Sql }
        ? { user_id: number | null }
        : unknown

export const LOGGED_RESOURCES: readonly LoggedResource[] = AUDITED_RESOURCES.filter(resource => resource !== 'user')
