/** The conditions of lists of quotas, in SQL. */
import type { QuotaStatus } from '../../domain/quotas/quota.ts'
import type { QuotaKind } from '../../domain/quotas/quota-settings.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import type { SqlValue } from '../connection/database.ts'
import { bind } from '../connection/parameters.ts'
import { type Sql, sql } from '../connection/sql.ts'
import { timestampParam } from '../connection/values.ts'
import { allOf } from '../lists/pages.ts'

/** The parts of which a filter is made. */
interface QuotaFilterParts {
  user_id: number
  kind: QuotaKind
  status: QuotaStatus
  /** The name begins so; case is ignored as far as `lower` of the database knows. */
  name: string
  external_ref: string
  /** The scope names this country, or this type of messages. */
  country: string
  message_type: string
  /** The plan that the quota is of, and the version that was given. */
  plan_id: number
  plan_version: number
  /** Expires at that time or later, and before that time. A quota that never expires is in neither. */
  expires_after: EpochMs
  expires_before: EpochMs
}

export type FilterPart = keyof QuotaFilterParts

/** The filter of a list. It selects deleted quotas only if the status says so. */
export type QuotaFilter = Partial<QuotaFilterParts>

/** Something about a filter's value, for each part of which it may be made. */
export type ByFilterPart<Arguments extends unknown[], Result> = {
  [Part in FilterPart]: (value: QuotaFilterParts[Part], ...rest: Arguments) => Result
}

/** Applies the entry of a part to its value in the filter, or answers `without` if the filter has none. */
export function applyPart<Part extends FilterPart, Arguments extends unknown[], Result, Without>(
  entries: ByFilterPart<Arguments, Result>,
  part: Part,
  filter: QuotaFilter,
  without: Without,
  ...rest: Arguments
): Result | Without {
  const value: QuotaFilterParts[Part] | undefined = filter[part]
  return value === undefined ? without : entries[part](value, ...rest)
}

/** The columns of `shard_head` with the numbers of quotas. */
export const TOTALS: Readonly<Record<'deleted' | 'undeleted', Readonly<Record<QuotaKind, Sql>>>> = {
  deleted: { grant: sql`deleted_grants`, cap: sql`deleted_caps` },
  undeleted: { grant: sql`grants`, cap: sql`caps` },
}

/** Whether a row is deleted or not, as the filter asks; in the words of the partial indexes. */
export function presenceOf({ status }: QuotaFilter): Sql {
  return status === 'deleted' ? sql`deleted_at is not null` : sql`deleted_at is null`
}

/**
 * SQL: a quota `q` that is looked up by its id is not deleted. In words of its own: in those of the partial indexes, they
 * would be eligible, and a planner without statistics took one that begins with the shard and read all of that.
 */
export const NOT_DELETED = sql`coalesce(q.deleted_at, 'infinity') = 'infinity'`

/** The condition on a row of each part; null: `presenceOf`, or the list itself, sees to it. A part without one does not compile. */
const CONDITIONS: ByFilterPart<[values: SqlValue[], now: EpochMs], Sql | null> = {
  user_id: () => null,
  kind: (kind, values) => sql`kind = ${bind(values, kind)}`,
  name: (name, values) => sql`starts_with(lower(name), lower(${bind(values, name)}::text))`,
  external_ref: (reference, values) => sql`external_ref = ${bind(values, reference)}`,
  country: (country, values) => sql`${bind(values, country)} = any(countries)`,
  message_type: (type, values) => sql`${bind(values, type)} = any(message_types)`,
  plan_id: (id, values) => sql`plan is not null and (plan ->> 'id')::bigint = ${bind(values, id)}`,
  plan_version: (version, values) => sql`plan is not null and (plan ->> 'version')::bigint = ${bind(values, version)}`,
  expires_after: (time, values) => sql`expires_at >= ${bind(values, timestampParam(time))}`,
  expires_before: (time, values) => sql`expires_at < ${bind(values, timestampParam(time))}`,
  status: (status, values, now) =>
    status === 'deleted' ? null : statusCondition(status, sql`${bind(values, timestampParam(now))}::timestamptz`),
}

const PARTS = Object.keys(CONDITIONS) as FilterPart[]

const conditionOf = (part: FilterPart, filter: QuotaFilter, values: SqlValue[], now: EpochMs) =>
  applyPart(CONDITIONS, part, filter, null, values, now)

/** All conditions of the filter on a row, but for the user and `presenceOf`. */
export function whereClauseOf(filter: QuotaFilter, now: EpochMs, values: SqlValue[]): Sql {
  const conditions = PARTS.map(part => conditionOf(part, filter, values, now)).filter(condition => condition !== null)
  return allOf(conditions)
}

/** The parts of the filter that are conditions on a row. */
export function conditionalPartsOf(filter: QuotaFilter): FilterPart[] {
  return PARTS.filter(part => conditionOf(part, filter, [], 0) !== null)
}

/** Whether `statusOf` of the rolled quota is this one, in SQL. */
function statusCondition(status: Exclude<QuotaStatus, 'deleted'>, now: Sql): Sql {
  const unexpired = sql`(expires_at is null or expires_at > ${now})`
  // `effectiveTime`: a clock that was ahead may have begun it.
  const hasStarted = sql`(starts_at <= ${now} or window_no > 0 or starts_at <= created_at)`
  const started = sql`${unexpired} and enabled and ${hasStarted}`
  // An unlimited quota has no headroom to compare, and is never exhausted.
  const isExhausted = sql`(${headroomAt(now)} <= 0 and per is null)`
  switch (status) {
    case 'expired':
      return sql`expires_at <= ${now}`
    case 'suspended':
      return sql`${unexpired} and not enabled`
    case 'scheduled':
      return sql`${unexpired} and enabled and not ${hasStarted}`
    case 'exhausted':
      return sql`${started} and ${isExhausted}`
    case 'active':
      return sql`${started} and ${isExhausted} is not true`
  }
}

/**
 * `headroomOf` the rolled quota; null if unlimited. It rolls one window only. After several windows the headroom may be
 * larger, but it is on the same side of 0, which is all that the status depends on.
 */
function headroomAt(now: Sql): Sql {
  const balance = sql`"limit" + rolled_over - used - reserved`
  return sql`(overage_limit + case when window_end <= ${now}
    then "limit" + least(rollover_limit, greatest(0, ${balance})) else ${balance} end)`
}
