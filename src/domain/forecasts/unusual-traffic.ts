/** Units asked for, and of those denied. */
export interface Traffic {
  asked: number
  denied: number
  /** Asked for on an average day before; null: not known. */
  usual: number | null
}

/** The days of which the average is what is usual. */
export const USUAL_DAYS = 7

/** What is not unusual yet, however rare it was: fewer units. */
const MIN_UNUSUAL_UNITS = 20
const UNUSUAL_FACTOR = 3

/** Whether a day has far more than usual. What was denied altogether is stopped already, mostly by a block. */
export function isUnusual({ asked, denied, usual }: Traffic): boolean {
  return usual !== null && denied < asked && asked >= MIN_UNUSUAL_UNITS && asked >= UNUSUAL_FACTOR * usual
}
