/**
 * The list of all changes that are audited, newest first. Those of a resource are in a table of their own, which the list reads by its
 * indexes and merges. A page scans a bounded number of rows of each.
 */

import { SHARD_COUNT, type Shard, shardOf } from '../../domain/basics/shard.ts'
import { AUDITED_RESOURCES, type AuditedAction, type AuditedResource } from '../../domain/events/audit.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import type { Database, Queryable, SqlValue } from '../connection/database.ts'
import { bind } from '../connection/parameters.ts'
import { joinSql, type Sql, sql, sqlName, sqlText } from '../connection/sql.ts'
import { IN_INDEX_ORDER } from '../connection/transaction-settings.ts'
import { timestampParam } from '../connection/values.ts'
import { allOf, cut, MAX_SCANNED, type Page, type Slice, scanPage } from '../lists/pages.ts'
import { CHANGE_LOGS, LOGGED_RESOURCES } from './logs.ts'

/** A change's place in the list: by time, then by resource in the order of `AUDITED_RESOURCES`, then by key. */
export interface AuditKey {
  at: EpochMs
  resource: AuditedResource
  shard: number
  /** Of what was changed; of a profile, an address and an erasure, of the user; 0 of the breaker. */
  id: number
  /** 0 for an erasure, which has none. */
  version: number
}

export interface AuditedChange extends AuditKey {
  action: AuditedAction
  actor: string
  request_id: string | null
  user_id: number | null
  reason: string | null
  /** The transfer that a change of a quota belongs to. */
  transfer_id: number | null
  /** What was changed as the API showed it; null for an erasure. */
  before: object | null
  after: object | null
}

/** The filter of a list; `from` is included, `to` is not. */
export interface AuditFilter {
  resource?: AuditedResource
  action?: AuditedAction
  actor?: string
  request_id?: string
  user_id?: number
  /** The id of a change. With `resource`, the changes are of one thing. */
  thing_id?: number
  /** Only changes that raised a limit. */
  raised?: 'true'
  from?: EpochMs
  to?: EpochMs
}

type AuditSlice<Row> = Slice<Row, AuditKey>

/** A table that the list reads. */
interface Source {
  resource: AuditedResource
  table: Sql
  /** The column of the thing's id. */
  id: string
  shardOf: (id: number) => Shard
  /** SQL: the user of a change, as an index begins with it. */
  user?: Sql
  /** The columns of the key, in the order of `AuditKey`. */
  key: readonly [Sql, ...Sql[]]
  columns: Sql
}

const NO_CAUSE = sql`null as reason, null::bigint as transfer_id`

const LOGS = LOGGED_RESOURCES.map((resource): Source => {
  const { table, hasCause, ...log } = CHANGE_LOGS[resource]
  const id = sqlName(log.id)
  return {
    ...log,
    resource,
    table: sqlName(table),
    key: [sql`at`, sql`shard`, id, sql`version`],
    columns: sql`at, ${sqlText(resource)} as resource, shard, ${id} as id, version, action, actor, request_id,
      ${log.user ?? sql`null::bigint`} as user_id, ${hasCause ? sql`reason, transfer_id` : NO_CAUSE}, before, after`,
  }
})

const ERASURES: Source = {
  resource: 'user',
  table: sql`erasure`,
  id: 'user_id',
  shardOf,
  user: sql`user_id`,
  key: [sql`requested_at`, sql`shard`, sql`user_id`],
  columns: sql`requested_at as at, 'user' as resource, shard, user_id as id, 0::bigint as version, 'erased' as action,
    requested_by as actor, request_id, user_id, ${NO_CAUSE}, null::jsonb as before, null::jsonb as after`,
}

/** A page of changes, newest first. */
export function listChanges<Row extends AuditedChange = AuditedChange>(
  db: Database,
  filter: AuditFilter,
  page: Page<AuditKey>,
): Promise<AuditSlice<Row>> {
  // One snapshot, so that the next page begins exactly where this scan ended.
  return db.transaction(async tx => {
    await tx.query({ text: IN_INDEX_ORDER })
    const slices: AuditSlice<Row>[] = []
    for (const source of [...LOGS, ERASURES]) {
      if (mayHold(source, filter)) slices.push(await listOf<Row>(tx, source, filter, page))
    }
    return merge(slices, page.size)
  }, 'snapshot')
}

/** Whether a table can hold what the filter selects. */
function mayHold({ resource, user }: Source, filter: AuditFilter): boolean {
  if (filter.raised !== undefined && resource !== 'quota') return false
  if (filter.resource !== undefined && filter.resource !== resource) return false
  return filter.user_id === undefined || user !== undefined
}

/** A page is complete down to where the first table's scan ended; what lies behind it is read by the next page. */
function merge<Row extends AuditedChange>(slices: readonly AuditSlice<Row>[], size: number): AuditSlice<Row> {
  const [only, ...others] = slices
  if (others.length === 0) return only ?? { items: [], next: null }
  const end = slices.flatMap(({ next }) => next ?? []).toSorted(newestFirst)[0]
  const changes = slices
    .flatMap(({ items }) => items)
    .filter(change => end === undefined || newestFirst(change, end) <= 0)
    .toSorted(newestFirst)
  const { items, next } = cut(changes, size, keyOf)
  return { items, next: next ?? end ?? null }
}

const keyOf = ({ at, resource, shard, id, version }: AuditKey): AuditKey => ({ at, resource, shard, id, version })
const rankOf = (resource: AuditedResource) => AUDITED_RESOURCES.indexOf(resource)

function newestFirst(one: AuditKey, other: AuditKey): number {
  return (
    other.at - one.at ||
    rankOf(other.resource) - rankOf(one.resource) ||
    other.shard - one.shard ||
    other.id - one.id ||
    other.version - one.version
  )
}

/* ── One table ──────────────────────────────────────────────────────────────────────────────────────────────────── */

function listOf<Row extends AuditedChange>(
  tx: Queryable,
  source: Source,
  filter: AuditFilter,
  { after, size, maxScanned = MAX_SCANNED }: Page<AuditKey>,
): Promise<AuditSlice<Row>> {
  const [values, keys]: [SqlValue[], SqlValue[]] = [[], []]
  const scanned = scanOf(source, filter, after, values)
  const conditions = conditionsOf(filter, values)
  const text = sql`select * from (
        select ${source.columns} from (${scanned} limit ${bind(values, maxScanned)}) scanned
      ) c where ${allOf(conditions)} limit ${bind(values, size + 1)}`
  const end = sql`select at, resource, shard, id, version from (
        select ${source.columns} from (${scanOf(source, filter, after, keys)} offset ${bind(keys, maxScanned - 1)} limit 2) ends
      ) c`
  return scanPage<Row, AuditKey>(tx, size, {
    page: { text, values },
    keyOf,
    // Where each row that is scanned is selected, less than a scan is all there is.
    end: conditions.length === 0 && size < maxScanned ? undefined : { text: end, values: keys },
  })
}

/** Selects the rows that an index finds, in its order: of a thing, a user, a call, an actor, or all. */
function scanOf(source: Source, filter: AuditFilter, after: AuditKey | undefined, values: SqlValue[]): Sql {
  const conditions = accessOf(source, filter, values)
  // The changes of one thing are in the order of their versions, which is that of the primary key. Erasures have none.
  const isByVersion = isOfOne(filter) && source.resource !== 'user'
  const key = isByVersion ? [sql`version`] : source.key
  const [time] = source.key
  if (!isByVersion) {
    if (filter.from !== undefined) conditions.push(sql`${time} >= ${bind(values, timestampParam(filter.from))}`)
    // A cursor lies before `to`, so `to` is left out: of two bounds PostgreSQL may begin at the farther one.
    if (filter.to !== undefined && after === undefined)
      conditions.push(sql`${time} < ${bind(values, timestampParam(filter.to))}`)
  }
  if (after !== undefined) {
    const bounds = isByVersion ? [after.version] : boundsOf(source, after).slice(0, key.length)
    conditions.push(sql`(${joinSql(key)}) < (${joinSql(bounds.map(bound => bind(values, bound)))})`)
  }
  return sql`select * from ${source.table} where ${allOf(conditions)} order by ${joinSql(key.map(column => sql`${column} desc`))}`
}

const isOfOne = ({ resource, thing_id }: AuditFilter) => resource !== undefined && thing_id !== undefined

/** The values that an index begins with. `erasure` has none by request or actor: there are few erasures. */
function accessOf({ resource, id, shardOf, user }: Source, filter: AuditFilter, values: SqlValue[]): Sql[] {
  const { user_id, request_id, actor } = filter
  const one = isOfOne(filter) ? filter.thing_id : id === 'user_id' ? user_id : undefined
  if (one !== undefined) return [sql`shard = ${bind(values, shardOf(one))}`, sql`${sqlName(id)} = ${bind(values, one)}`]
  if (resource === 'user') return []
  if (request_id !== undefined) return [sql`request_id = ${bind(values, request_id)}`]
  if (user_id !== undefined && user !== undefined) return [sql`${user} = ${bind(values, user_id)}`]
  return actor === undefined ? [] : [sql`actor = ${bind(values, actor)}`]
}

/** The place after which a table's rows follow a change: a table holds the changes of one resource only. */
function boundsOf({ resource }: Source, after: AuditKey): SqlValue[] {
  const at = timestampParam(after.at)
  const order = rankOf(resource) - rankOf(after.resource)
  if (order === 0) return [at, after.shard, after.id, after.version]
  return [at, order < 0 ? SHARD_COUNT : -1, 0, 0]
}

const allowedBy = (quota: Sql) =>
  sql`((${quota} ->> 'limit')::bigint + coalesce((${quota} ->> 'overage_limit')::bigint, 0))`

/** More is allowed than before, where null is unlimited, or a grant was given, by no plan and no transfer: these have a history of their own. */
const RAISED = sql`case action
    when 'updated' then before ->> 'limit' is not null and coalesce(${allowedBy(sql`after`)} > ${allowedBy(sql`before`)}, true)
    when 'created' then after ->> 'kind' = 'grant' and transfer_id is null and coalesce(after -> 'plan', 'null') = 'null'
    else false end`

/** The conditions that are read from the rows. Those that an index has found hold anyway. */
function conditionsOf(filter: AuditFilter, values: SqlValue[]): Sql[] {
  const { resource: _, thing_id, action, actor, request_id, user_id, raised, from, to, ...none } = filter
  none satisfies Record<string, never>
  const conditions: Sql[] = []
  const id = isOfOne(filter) ? undefined : thing_id
  for (const [column, value] of Object.entries({ id, action, actor, request_id, user_id })) {
    if (value !== undefined) conditions.push(sql`${sqlName(column)} = ${bind(values, value)}`)
  }
  if (raised !== undefined) conditions.push(RAISED)
  if (isOfOne(filter)) {
    if (from !== undefined) conditions.push(sql`at >= ${bind(values, timestampParam(from))}`)
    if (to !== undefined) conditions.push(sql`at < ${bind(values, timestampParam(to))}`)
  }
  return conditions
}
