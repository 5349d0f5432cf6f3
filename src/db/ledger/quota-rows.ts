import type { Allowance } from '../../domain/quotas/quota.ts'
import { COUNTED_VALUES, COUNTS, QUOTA_KINDS } from '../../domain/quotas/quota-settings.ts'
import { PERIODS } from '../../domain/time/period.ts'
import type { Cells, StatementResult } from '../connection/pipelined-connection.ts'
import { sql } from '../connection/sql.ts'
import { QUOTA_KEY, USER_KEY } from './keys.ts'
import {
  boolean,
  type CellColumn,
  number,
  numberOrNull,
  numbers,
  oneOf,
  oneOfOrNull,
  type Stored,
  selectListOf,
  text,
  textOrNull,
  timestamp,
  timestampOrNull,
  wordsOrNull,
} from './rows.ts'
import { ledgerStatement, NOW, type Parameters } from './statement.ts'
import { periodIn } from './stored-period.ts'
import { unexpiredAt } from './unexpired.ts'

const COLUMNS = {
  id: number,
  user_id: number,
  seq: number,
  kind: oneOf('the kind of a quota', QUOTA_KINDS),
  limit: numberOrNull,
  overage_limit: number,
  rollover_limit: number,
  priority: number,
  period: { ...oneOfOrNull('the period of a quota', PERIODS), select: periodIn },
  anchor: textOrNull,
  time_zone: text,
  per: oneOfOrNull('per of a quota', COUNTED_VALUES),
  counts: oneOf('what a quota counts', COUNTS),
  starts_at: timestamp,
  expires_at: timestampOrNull,
  enabled: boolean,
  countries: wordsOrNull,
  message_types: wordsOrNull,
  window_no: number,
  window_start: timestamp,
  window_end: timestampOrNull,
  used: number,
  reserved: number,
  rolled_over: number,
  created_at: timestamp,
  deleted_at: timestampOrNull,
  alert_at: numbers,
  alerted: numbers,
} satisfies Record<keyof Stored<Allowance>, CellColumn<unknown>>

const { list, at: AT } = selectListOf(COLUMNS, sql`q`)

/** The select list of a quota `q` for `quotasIn`. */
const QUOTA_LIST = list

export function quotasIn(result: StatementResult | undefined): Stored<Allowance>[] {
  return (result?.rows ?? []).map(readQuota)
}

function readQuota(cells: Cells): Stored<Allowance> {
  return {
    id: COLUMNS.id.read(cells[AT.id]),
    user_id: COLUMNS.user_id.read(cells[AT.user_id]),
    seq: COLUMNS.seq.read(cells[AT.seq]),
    kind: COLUMNS.kind.read(cells[AT.kind]),
    limit: COLUMNS.limit.read(cells[AT.limit]),
    overage_limit: COLUMNS.overage_limit.read(cells[AT.overage_limit]),
    rollover_limit: COLUMNS.rollover_limit.read(cells[AT.rollover_limit]),
    priority: COLUMNS.priority.read(cells[AT.priority]),
    period: COLUMNS.period.read(cells[AT.period]),
    anchor: COLUMNS.anchor.read(cells[AT.anchor]),
    time_zone: COLUMNS.time_zone.read(cells[AT.time_zone]),
    per: COLUMNS.per.read(cells[AT.per]),
    counts: COLUMNS.counts.read(cells[AT.counts]),
    starts_at: COLUMNS.starts_at.read(cells[AT.starts_at]),
    expires_at: COLUMNS.expires_at.read(cells[AT.expires_at]),
    enabled: COLUMNS.enabled.read(cells[AT.enabled]),
    countries: COLUMNS.countries.read(cells[AT.countries]),
    message_types: COLUMNS.message_types.read(cells[AT.message_types]),
    window_no: COLUMNS.window_no.read(cells[AT.window_no]),
    window_start: COLUMNS.window_start.read(cells[AT.window_start]),
    window_end: COLUMNS.window_end.read(cells[AT.window_end]),
    used: COLUMNS.used.read(cells[AT.used]),
    reserved: COLUMNS.reserved.read(cells[AT.reserved]),
    rolled_over: COLUMNS.rolled_over.read(cells[AT.rolled_over]),
    created_at: COLUMNS.created_at.read(cells[AT.created_at]),
    deleted_at: COLUMNS.deleted_at.read(cells[AT.deleted_at]),
    alert_at: COLUMNS.alert_at.read(cells[AT.alert_at]),
    alerted: COLUMNS.alerted.read(cells[AT.alerted]),
  }
}

/**
 * Sorts by id, in words that no index has. For a plain `id` PostgreSQL takes the index of users' quotas by id, which has
 * the order and not the expiry, and reads the expired quotas too.
 */
const BY_ID = sql`q.id + 0`

const ofUsers = ({ k, bind }: Parameters) => sql`select ${QUOTA_LIST} from ${k}
    join quota q on q.shard = k.shard and q.user_id = k.user_id
    where ${unexpiredAt(bind(NOW))}
    order by q.user_id, ${BY_ID}`

/** Users' quotas that are neither deleted nor over, locked: for a batch in locked mode. */
export const loadQuotas = ledgerStatement(
  'load-quotas',
  USER_KEY,
  parameters => sql`${ofUsers(parameters)} for update of q`,
)

/** Users' quotas that are neither deleted nor over, without a lock: a batch in optimistic mode guards what it has read. */
export const readQuotas = ledgerStatement('read-quotas', USER_KEY, ofUsers)

const byId = ({ k }: Parameters) => sql`select ${QUOTA_LIST} from ${k}
    join quota q on q.shard = k.shard and q.id = k.id
    order by q.user_id, q.id`

/** Quotas by id, locked: deleted ones, and those that are over, on which reservations still draw. */
export const loadDrawnQuotas = ledgerStatement(
  'load-drawn-quotas',
  QUOTA_KEY,
  parameters => sql`${byId(parameters)} for update of q`,
)

/** `load-drawn-quotas` without the lock. */
export const readDrawnQuotas = ledgerStatement('read-drawn-quotas', QUOTA_KEY, byId)
