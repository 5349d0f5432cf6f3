import { DENIAL_REASONS, DRAWING_OPS, type Draw, ON_EXPIRY, type Reservation } from '../../domain/reservation.ts'
import { UnknownValue } from '../../domain/unknown-value.ts'
import type { Cells, StatementResult } from '../connection/pipelined-connection.ts'
import { joinSql, sql, sqlName } from '../connection/sql.ts'
import { RESERVATION_KEY, type ReservationKey } from './keys.ts'
import {
  boolean,
  type CellColumn,
  number,
  numbers,
  oneOf,
  oneOfOrNull,
  type Stored,
  selectListOf,
  text,
  textOrNull,
  timestamp,
} from './rows.ts'
import { ledgerStatement } from './statement.ts'

const FIELDS = {
  user_id: number,
  id: text,
  op: oneOf('the operation of a reservation', DRAWING_OPS),
  asked: number,
  country: textOrNull,
  message_type: textOrNull,
  allow_partial: boolean,
  force: boolean,
  would_deny: oneOfOrNull('the reason of a reservation', DENIAL_REASONS),
  units: number,
  committed: number,
  released: number,
  refunded: number,
  on_expiry: oneOf('on_expiry of a reservation', ON_EXPIRY),
  expired: boolean,
  verified: boolean,
  draws: numbers,
  created_at: timestamp,
  expires_at: timestamp,
} satisfies Record<keyof Reservation, CellColumn<unknown>>

/** The columns of a reservation, which are the fields of `Reservation`. */
export const RESERVATION_COLUMNS = joinSql(Object.keys(FIELDS).map(sqlName))

const COLUMNS = { seq: number, ...FIELDS }

const { list, at: AT } = selectListOf(COLUMNS, sql`r`)

/** The select list of a reservation `r` for `reservationsIn`. */
const RESERVATION_LIST = list

export function reservationsIn(result: StatementResult | undefined): Stored<Reservation>[] {
  return (result?.rows ?? []).map(readReservation)
}

function readReservation(cells: Cells): Stored<Reservation> {
  return {
    seq: COLUMNS.seq.read(cells[AT.seq]),
    user_id: COLUMNS.user_id.read(cells[AT.user_id]),
    id: COLUMNS.id.read(cells[AT.id]),
    op: COLUMNS.op.read(cells[AT.op]),
    asked: COLUMNS.asked.read(cells[AT.asked]),
    country: COLUMNS.country.read(cells[AT.country]),
    message_type: COLUMNS.message_type.read(cells[AT.message_type]),
    allow_partial: COLUMNS.allow_partial.read(cells[AT.allow_partial]),
    force: COLUMNS.force.read(cells[AT.force]),
    would_deny: COLUMNS.would_deny.read(cells[AT.would_deny]),
    units: COLUMNS.units.read(cells[AT.units]),
    committed: COLUMNS.committed.read(cells[AT.committed]),
    released: COLUMNS.released.read(cells[AT.released]),
    refunded: COLUMNS.refunded.read(cells[AT.refunded]),
    on_expiry: COLUMNS.on_expiry.read(cells[AT.on_expiry]),
    expired: COLUMNS.expired.read(cells[AT.expired]),
    verified: COLUMNS.verified.read(cells[AT.verified]),
    draws: drawsOf(COLUMNS.draws.read(cells[AT.draws])),
    created_at: COLUMNS.created_at.read(cells[AT.created_at]),
    expires_at: COLUMNS.expires_at.read(cells[AT.expires_at]),
  }
}

/** The maker of a reservation and the last to settle it, by their ids in the dictionary of principals; null: not known. */
export interface Authors {
  readonly made_by: number | null
  readonly settled_by: number | null
}

const NUMBERS_PER_DRAW = 6

/** Draws from the numbers of their column, six each. */
export function drawsOf(numbers: readonly number[]): Draw[] {
  const draws: Draw[] = []
  for (let at = 0; at < numbers.length; at += NUMBERS_PER_DRAW) {
    const [quota_id = 0, kind, window_no = 0, window_start = 0, from = 0, to = 0] = numbers.slice(
      at,
      at + NUMBERS_PER_DRAW,
    )
    if (kind !== 0 && kind !== 1) throw new UnknownValue('the kind of a draw', kind)
    draws.push({ quota_id, kind: kind === 0 ? 'grant' : 'cap', window_no, window_start, from, to })
  }
  return draws
}

/** Draws as the text of an array, six numbers each. */
export function writeDraws(draws: readonly Draw[]): string {
  let numbers = ''
  for (const { quota_id, kind, window_no, window_start, from, to } of draws) {
    numbers += `${numbers === '' ? '' : ','}${quota_id},${kind === 'grant' ? 0 : 1},${window_no},${window_start},${from},${to}`
  }
  return `{${numbers}}`
}

/** Reservations by their keys, those that exist. */
export const loadReservations = ledgerStatement<ReservationKey>(
  'load-reservations',
  RESERVATION_KEY,
  ({ k }) => sql`select ${RESERVATION_LIST}
    from ${k}
    join reservation r on r.shard = k.shard and r.user_id = k.user_id and r.id = k.id`,
)
