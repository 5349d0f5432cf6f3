import type { Draw, Reservation } from '../../domain/reservation.ts'
import type { StatementResult } from '../pipelined-connection.ts'
import {
  boolean,
  type CellColumn,
  number,
  numbers,
  oneOf,
  type Stored,
  selectionOf,
  text,
  textOrNull,
  timestamp,
} from './rows.ts'

const FIELDS = {
  user_id: number,
  id: text,
  op: oneOf<Reservation['op']>(),
  asked: number,
  country: textOrNull,
  message_type: textOrNull,
  allow_partial: boolean,
  force: boolean,
  units: number,
  committed: number,
  released: number,
  refunded: number,
  on_expiry: oneOf<Reservation['on_expiry']>(),
  expired: boolean,
  draws: numbers,
  created_at: timestamp,
  expires_at: timestamp,
} satisfies Record<keyof Reservation, CellColumn<unknown>>

/** The columns of a reservation, which are the fields of `Reservation`. */
export const RESERVATION_COLUMNS = Object.keys(FIELDS)

const { list, read } = selectionOf({ seq: number, ...FIELDS }, 'r')

/** What to select of a reservation `r` for `reservationsIn`. */
export const RESERVATION_LIST = list

export function reservationsIn(result: StatementResult | undefined): Stored<Reservation>[] {
  return (result?.rows ?? []).map(cells => ({
    seq: read.seq(cells),
    user_id: read.user_id(cells),
    id: read.id(cells),
    op: read.op(cells),
    asked: read.asked(cells),
    country: read.country(cells),
    message_type: read.message_type(cells),
    allow_partial: read.allow_partial(cells),
    force: read.force(cells),
    units: read.units(cells),
    committed: read.committed(cells),
    released: read.released(cells),
    refunded: read.refunded(cells),
    on_expiry: read.on_expiry(cells),
    expired: read.expired(cells),
    draws: drawsOf(read.draws(cells)),
    created_at: read.created_at(cells),
    expires_at: read.expires_at(cells),
  }))
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
