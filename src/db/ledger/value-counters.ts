import { shardOfQuota } from '../../domain/basics/shard.ts'
import type { CounterPlace, ValueCounter } from '../../domain/units/value-counter.ts'
import type { StatementResult } from '../connection/pipelined-connection.ts'
import { sql } from '../connection/sql.ts'
import { bigints, hashes, smallints, timestamps } from './arrays.ts'
import { hash, number, type Stored, selectListOf, timestamp } from './rows.ts'
import { COUNT, ledgerStatement, type Parameters } from './statement.ts'

const COUNTER_KEY = {
  shard: smallints(({ quota_id }: CounterPlace) => shardOfQuota(quota_id)),
  quota_id: bigints(({ quota_id }: CounterPlace) => quota_id),
  value_key: hashes(({ key }: CounterPlace) => key),
  window_start: timestamps(({ window_start }: CounterPlace) => window_start),
}

const COLUMNS = {
  quota_id: number,
  value_key: hash,
  window_start: timestamp,
  window_end: timestamp,
  used: number,
  reserved: number,
  seq: number,
}

const { list, at: AT } = selectListOf(COLUMNS, sql`c`)

const byPlaces = ({ k }: Parameters) => sql`select ${list} from ${k}
    join value_counter c on c.shard = k.shard and c.quota_id = k.quota_id and c.value_key = k.value_key
      and c.window_start = k.window_start`

/** Counters by their places, those that exist. */
export const readCounters = ledgerStatement<CounterPlace>('read-counters', COUNTER_KEY, byPlaces)

/** `read-counters` with a lock, in the order in which batches write them. */
export const loadCounters = ledgerStatement<CounterPlace>(
  'load-counters',
  COUNTER_KEY,
  parameters => sql`${byPlaces(parameters)}
    order by c.quota_id, c.value_key, c.window_start for update of c`,
)

export function countersIn(result: StatementResult | undefined): Stored<ValueCounter>[] {
  return (result?.rows ?? []).map(cells => ({
    quota_id: COLUMNS.quota_id.read(cells[AT.quota_id]),
    key: COLUMNS.value_key.read(cells[AT.value_key]),
    window_start: COLUMNS.window_start.read(cells[AT.window_start]),
    window_end: COLUMNS.window_end.read(cells[AT.window_end]),
    used: COLUMNS.used.read(cells[AT.used]),
    reserved: COLUMNS.reserved.read(cells[AT.reserved]),
    seq: COLUMNS.seq.read(cells[AT.seq]),
  }))
}

/**
 * Writes counters, with the `seq` that was read; 0 of one that was missing. It fails unless it writes all: one that another process has made
 * or changed meanwhile has another `seq`.
 */
export const writeCounters = ledgerStatement<Stored<ValueCounter>>(
  'write-counters',
  {
    ...COUNTER_KEY,
    window_end: timestamps(({ window_end }) => window_end),
    used: bigints(({ used }) => used),
    reserved: bigints(({ reserved }) => reserved),
    seq: bigints(({ seq }) => seq + 1),
  },
  ({ names, values, rows, bind }) => sql`with written as (
      insert into value_counter as c (${names}) select ${values} from ${rows}
      on conflict (shard, quota_id, value_key, window_start) do update
      set used = excluded.used, reserved = excluded.reserved, seq = excluded.seq where c.seq = excluded.seq - 1
      returning 1
    )
    select 1 / ((select count(*) from written) = ${bind(COUNT)}::int)::int`,
)
