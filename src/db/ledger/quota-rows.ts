import type { Allowance } from '../../domain/quota.ts'
import type { StatementResult } from '../pipelined-connection.ts'
import {
  boolean,
  number,
  numberOrNull,
  numbers,
  oneOf,
  type Stored,
  selectionOf,
  text,
  timestamp,
  timestampOrNull,
  wordsOrNull,
} from './rows.ts'

const { list, read } = selectionOf({
  id: number,
  user_id: number,
  seq: number,
  kind: oneOf<Allowance['kind']>(),
  limit: numberOrNull,
  overage_limit: number,
  rollover_limit: number,
  priority: number,
  period: oneOf<Allowance['period']>(),
  time_zone: text,
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
})

/** What to select for `readQuotas`. */
export const QUOTA_LIST = list

export function quotasIn(result: StatementResult | undefined): Stored<Allowance>[] {
  return (result?.rows ?? []).map(cells => ({
    id: read.id(cells),
    user_id: read.user_id(cells),
    seq: read.seq(cells),
    kind: read.kind(cells),
    limit: read.limit(cells),
    overage_limit: read.overage_limit(cells),
    rollover_limit: read.rollover_limit(cells),
    priority: read.priority(cells),
    period: read.period(cells),
    time_zone: read.time_zone(cells),
    starts_at: read.starts_at(cells),
    expires_at: read.expires_at(cells),
    enabled: read.enabled(cells),
    countries: read.countries(cells),
    message_types: read.message_types(cells),
    window_no: read.window_no(cells),
    window_start: read.window_start(cells),
    window_end: read.window_end(cells),
    used: read.used(cells),
    reserved: read.reserved(cells),
    rolled_over: read.rolled_over(cells),
    created_at: read.created_at(cells),
    deleted_at: read.deleted_at(cells),
    alert_at: read.alert_at(cells),
    alerted: read.alerted(cells),
  }))
}
