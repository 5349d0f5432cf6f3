import { UnknownValue } from '../../domain/basics/unknown-value.ts'
import type { Price } from '../../domain/rates/rate.ts'
import { DENIAL_REASONS, DRAWING_OPS, type Draw, ON_EXPIRY, type Reservation } from '../../domain/units/reservation.ts'
import type { Cells, StatementResult } from '../connection/pipelined-connection.ts'
import { joinSql, sql, sqlName } from '../connection/sql.ts'
import { numberArray } from './arrays.ts'
import { RESERVATION_KEY, type ReservationKey } from './keys.ts'
import {
  boolean,
  type CellColumn,
  hashes,
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
  messages: numberOrNull,
  price: textOrNull,
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

const COLUMNS = { seq: number, ...FIELDS, draw_keys: hashes }

const { list, at: AT } = selectListOf(COLUMNS, sql`r`)

/** The select list of a reservation `r` for `reservationsIn`. */
const RESERVATION_LIST = list

export function reservationsIn(result: StatementResult | undefined): Stored<Reservation>[] {
  return (result?.rows ?? []).map(readReservation)
}

function readReservation(cells: Cells): Stored<Reservation> {
  const messages = COLUMNS.messages.read(cells[AT.messages])
  const price = priceOf(COLUMNS.price.read(cells[AT.price]))
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
    ...(messages === null ? {} : { messages }),
    ...(price === undefined ? {} : { price }),
    committed: COLUMNS.committed.read(cells[AT.committed]),
    released: COLUMNS.released.read(cells[AT.released]),
    refunded: COLUMNS.refunded.read(cells[AT.refunded]),
    on_expiry: COLUMNS.on_expiry.read(cells[AT.on_expiry]),
    expired: COLUMNS.expired.read(cells[AT.expired]),
    verified: COLUMNS.verified.read(cells[AT.verified]),
    draws: drawsOf(COLUMNS.draws.read(cells[AT.draws]), COLUMNS.draw_keys.read(cells[AT.draw_keys])),
    created_at: COLUMNS.created_at.read(cells[AT.created_at]),
    expires_at: COLUMNS.expires_at.read(cells[AT.expires_at]),
  }
}

/** A row of the columns of a reservation, as connections of the pool read it. */
export type ReservationRow = Omit<Reservation, 'draws' | 'price'> & { draws: number[]; price: string | null }

/** A row as the reservation that it is, without the keys of its draws, which readers of lists do not need. */
export function reservationOf<Row extends ReservationRow>({
  draws,
  price: written,
  ...row
}: Row): Omit<Row, 'draws' | 'price'> & Pick<Reservation, 'draws' | 'price'> {
  const price = priceOf(written)
  return { ...row, draws: drawsOf(draws), ...(price === undefined ? {} : { price }) }
}

/** A price as its column has it; undefined: no rate card has priced the reservation. */
function priceOf(written: string | null): Price | undefined {
  if (written === null) return undefined
  const [segments = 0, card_id = 0, version = 0, per_segment = 0, per_message = 0] = written.split(' ').map(Number)
  return { segments, card_id, version, per_segment, per_message }
}

export function writePrice({ segments, card_id, version, per_segment, per_message }: Price): string {
  return `${segments} ${card_id} ${version} ${per_segment} ${per_message}`
}

/** The maker of a reservation and the last to settle it, by their ids in the dictionary of principals; null: not known. */
export interface Authors {
  readonly made_by: number | null
  readonly settled_by: number | null
}

const NUMBERS_PER_DRAW = 6

/** What a draw is of, by its second number. A version before caps of the last three kinds refuses those. */
const DRAW_KINDS: readonly (Pick<Draw, 'kind' | 'counts'> & { isPerValue: boolean })[] = [
  { kind: 'grant', isPerValue: false },
  { kind: 'cap', isPerValue: false },
  { kind: 'cap', counts: 'messages', isPerValue: false },
  { kind: 'cap', isPerValue: true },
  { kind: 'cap', counts: 'messages', isPerValue: true },
]

/**
 * Draws from the numbers of their column, six each.
 *
 * @param keys of those on caps that count each value by itself, in their order; left out: readers of lists do not need them
 */
function drawsOf(numbers: readonly number[], keys?: readonly bigint[]): Draw[] {
  const draws: Draw[] = []
  let keyed = 0
  for (let at = 0; at < numbers.length; at += NUMBERS_PER_DRAW) {
    const [quota_id = 0, code = -1, window_no = 0, window_start = 0, from = 0, to = 0] = numbers.slice(
      at,
      at + NUMBERS_PER_DRAW,
    )
    const kind = DRAW_KINDS[code]
    if (kind === undefined) throw new UnknownValue('the kind of a draw', code)
    const { isPerValue, ...of } = kind
    const draw: Draw = { quota_id, ...of, window_no, window_start, from, to }
    if (isPerValue && keys !== undefined) draw.key = keyAt(keys, keyed++)
    draws.push(draw)
  }
  return draws
}

function keyAt(keys: readonly bigint[], index: number): bigint {
  const key = keys[index]
  if (key === undefined) throw new TypeError('the ledger misses the key of a draw')
  return key
}

/** Draws as the text of an array, six numbers each. */
export function writeDraws(draws: readonly Draw[]): string {
  let numbers = ''
  for (const draw of draws) {
    const { quota_id, window_no, window_start, from, to } = draw
    numbers += `${numbers === '' ? '' : ','}${quota_id},${codeOf(draw)},${window_no},${window_start},${from},${to}`
  }
  return `{${numbers}}`
}

function codeOf({ kind, counts, key }: Draw): number {
  if (kind === 'grant') return 0
  return (key === undefined ? 1 : 3) + (counts === undefined ? 0 : 1)
}

/** The keys of draws as the text of an array; null if none has one. */
export function writeDrawKeys(draws: readonly Draw[]): string | null {
  const keys = draws.flatMap(({ key }) => (key === undefined ? [] : [key]))
  return keys.length === 0 ? null : numberArray(keys)
}

/** Reservations by their keys, those that exist. */
export const loadReservations = ledgerStatement<ReservationKey>(
  'load-reservations',
  RESERVATION_KEY,
  ({ k }) => sql`select ${RESERVATION_LIST}
    from ${k}
    join reservation r on r.shard = k.shard and r.user_id = k.user_id and r.id = k.id`,
)
