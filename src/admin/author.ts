import type { EpochMs } from '../domain/time.ts'

/** Who makes a change, when, and by which request. */
export interface Author {
  now: EpochMs
  actor: string
  requestId: string
}
