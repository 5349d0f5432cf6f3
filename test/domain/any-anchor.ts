import type { Period } from '../../src/domain/time/period.ts'

const MONTH_LENGTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
const twoDigits = (n: number) => String(n).padStart(2, '0')

/** Every anchor of a year, and of a month. */
export const YEAR_ANCHORS: readonly string[] = MONTH_LENGTHS.flatMap((days, index) =>
  Array.from({ length: days }, (_, day) => `${twoDigits(index + 1)}-${twoDigits(day + 1)}`),
)
export const MONTH_ANCHORS: readonly string[] = Array.from({ length: 31 }, (_, index) => String(index + 1))

/** An anchor that the period can have, chosen by a number; for most periods null, and for others in some cases. */
export function anchorFor(period: Period | null, n: number): string | null {
  const anchors = period === 'month' ? MONTH_ANCHORS : period === 'year' ? YEAR_ANCHORS : []
  return n % 3 === 0 ? null : (anchors[Math.floor(n / 3) % anchors.length] ?? null)
}
