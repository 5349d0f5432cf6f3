import type { EpochMs } from '../../domain/time/time.ts'

/** The subject that makes a change, when, and the request that asks for it. */
export interface Author {
  now: EpochMs
  actor: string
  requestId: string
  /** By how many units the author may move the limits of a user's quotas in a day (`moved-units.ts`). Undefined: any number. */
  allowance?: number
}
