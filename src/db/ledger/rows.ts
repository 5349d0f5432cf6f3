import type { Allowance } from '../../domain/quota.ts'
import type { Draw, Reservation } from '../../domain/reservation.ts'
import type { EpochMs } from '../../domain/time.ts'
import { parseTimestamptz } from '../values.ts'

/** A row with the number that grows with every write to it. */
export type Stored<Row> = Row & { seq: number }

type Cells = readonly (string | null)[]

export function readAllowance(cells: Cells): Stored<Allowance> {
  return {
    id: count(cells[0]),
    user_id: count(cells[1]),
    seq: count(cells[2]),
    kind: cells[3] as Allowance['kind'],
    limit: countOrNull(cells[4]),
    overage_limit: count(cells[5]),
    rollover_limit: count(cells[6]),
    priority: count(cells[7]),
    period: (cells[8] ?? null) as Allowance['period'],
    time_zone: text(cells[9]),
    starts_at: instant(cells[10]),
    expires_at: instantOrNull(cells[11]),
    enabled: cells[12] === 't',
    countries: words(cells[13]),
    message_types: words(cells[14]),
    window_no: count(cells[15]),
    window_start: instant(cells[16]),
    window_end: instantOrNull(cells[17]),
    used: count(cells[18]),
    reserved: count(cells[19]),
    rolled_over: count(cells[20]),
    created_at: instant(cells[21]),
    deleted_at: instantOrNull(cells[22]),
    alert_at: percents(cells[23]),
    alerted: percents(cells[24]),
  }
}

/** The columns of a reservation, which are the fields of `Reservation`. */
export const RESERVATION_COLUMNS = [
  'user_id',
  'id',
  'op',
  'asked',
  'country',
  'message_type',
  'allow_partial',
  'force',
  'units',
  'committed',
  'released',
  'refunded',
  'on_expiry',
  'expired',
  'draws',
  'created_at',
  'expires_at',
] as const satisfies readonly (keyof Reservation)[]

/** Of its `seq`, then `RESERVATION_COLUMNS` in order. */
export function readReservation(cells: Cells): Stored<Reservation> {
  return {
    seq: count(cells[0]),
    user_id: count(cells[1]),
    id: text(cells[2]),
    op: cells[3] as Reservation['op'],
    asked: count(cells[4]),
    country: cells[5] ?? null,
    message_type: cells[6] ?? null,
    allow_partial: cells[7] === 't',
    force: cells[8] === 't',
    units: count(cells[9]),
    committed: count(cells[10]),
    released: count(cells[11]),
    refunded: count(cells[12]),
    on_expiry: cells[13] as Reservation['on_expiry'],
    expired: cells[14] === 't',
    draws: readDraws(text(cells[15])),
    created_at: instant(cells[16]),
    expires_at: instant(cells[17]),
  }
}

const NUMBERS_A_DRAW = 6

function readDraws(cell: string): Draw[] {
  return cell === '' ? [] : drawsOf(cell.split(' ').map(Number))
}

/** Draws as the column holds them. */
export function drawsOf(numbers: readonly number[]): Draw[] {
  const draws: Draw[] = []
  for (let at = 0; at < numbers.length; at += NUMBERS_A_DRAW) {
    const [quota_id = 0, kind, window_no = 0, window_start = 0, from = 0, to = 0] = numbers.slice(
      at,
      at + NUMBERS_A_DRAW,
    )
    draws.push({ quota_id, kind: kind === 0 ? 'grant' : 'cap', window_no, window_start, from, to })
  }
  return draws
}

export function writeDraws(draws: readonly Draw[]): string {
  let numbers = ''
  for (const { quota_id, kind, window_no, window_start, from, to } of draws) {
    numbers += `${numbers === '' ? '' : ','}${quota_id},${kind === 'grant' ? 0 : 1},${window_no},${window_start},${from},${to}`
  }
  return `{${numbers}}`
}

export const text = (cell: string | null | undefined): string => {
  if (cell === null || cell === undefined) throw new TypeError('the ledger misses a value')
  return cell
}
const count = (cell: string | null | undefined): number => Number(text(cell))
const countOrNull = (cell: string | null | undefined) => (cell === null ? null : count(cell))
const instant = (cell: string | null | undefined): EpochMs => parseTimestamptz(text(cell))
const instantOrNull = (cell: string | null | undefined) => (cell === null ? null : instant(cell))
const percents = (cell: string | null | undefined) => (cell === '' ? NONE : text(cell).split(' ').map(Number))
const NONE: readonly number[] = []
const words = (cell: string | null | undefined) => (cell === null ? null : text(cell).split(' '))
