/** Compares a message of a provider's bill with its reservation, and says what would settle the difference. Pure. */
import type { ReservationRecord } from '../../../contract/reservations.ts'
import { segmentsPaidBy, unitsOf } from '../../../domain/rates/rate.ts'

export const RESULTS = [
  'equal',
  'other segments',
  'other units',
  'failed there',
  'still open',
  'missing here',
  'missing there',
  'several users',
] as const
export type Result = (typeof RESULTS)[number]

/** A message as the bill has it. */
export interface Billed {
  isFailed: boolean
  /** null: the bill does not say it. */
  segments: number | null
  units: number | null
}

type Recorded = Pick<ReservationRecord, 'units' | 'segments' | 'rate' | 'committed' | 'released' | 'refunded'>

/** Units committed and not given back. */
export const spentIn = ({ committed, refunded }: Pick<Recorded, 'committed' | 'refunded'>) => committed - refunded
export const isOpen = ({ units, committed, released }: Recorded) => committed + released < units

interface Comparison {
  result: Result
  /** The units that the message costs by the bill. */
  owed: number
  /** The totals that the operations reach, in this order. Without a difference there is none, so a repetition changes nothing. */
  settle: { commit?: number; release?: number; refund?: number }
}

export function compare(billed: Billed, record: Recorded): Comparison {
  const { units, committed } = record
  const spent = spentIn(record)
  const owed = owedFor(billed, record)
  const committedThen = owed > spent ? Math.max(committed, owed) : committed
  const settle = {
    ...(owed > spent ? { commit: owed } : {}),
    ...(isOpen(record) && committedThen < units ? { release: units - committedThen } : {}),
    ...(owed < spent ? { refund: committed - owed } : {}),
  }
  return { result: isOpen(record) ? 'still open' : resultOf(billed, record, owed), owed, settle }
}

/** The units that the message costs by the bill. One of which it says no more than that it was sent costs what was granted. */
function owedFor({ isFailed, segments, units }: Billed, record: Recorded): number {
  if (isFailed) return 0
  if (units !== null) return units
  if (segments !== null) return record.rate === null ? segments : unitsOf(record.rate, segments)
  return isOpen(record) || spentIn(record) === 0 ? record.units : spentIn(record)
}

function resultOf({ isFailed, segments }: Billed, record: Recorded, owed: number): Result {
  const spent = spentIn(record)
  if (owed === spent) return 'equal'
  if (isFailed) return 'failed there'
  return segments !== null && segments !== segmentsOf(record) ? 'other segments' : 'other units'
}

/** The segments that are paid. Without a card, one unit pays one. */
function segmentsOf(record: Recorded): number {
  const { rate, segments } = record
  return rate === null ? spentIn(record) : segmentsPaidBy(spentIn(record), { ...rate, segments: segments ?? 0 })
}
