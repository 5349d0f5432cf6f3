import type { EpochMs } from '../domain/time.ts'

/** Who makes a change, when, and by which request. */
export interface Author {
  now: EpochMs
  actor: string
  requestId: string
  /** By how many units the author may move the limits of a user's quotas in a day (`moved-units.ts`). Undefined: any number. */
  allowance?: number
}
