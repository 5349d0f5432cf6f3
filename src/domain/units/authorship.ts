import type { EpochMs } from '../time/time.ts'

/** What is recorded of a reservation beside who made and settled it: units booked past the limits, and refunds. */
export const RECORDED_ACTIONS = ['force', 'refund'] as const
export type RecordedAction = (typeof RECORDED_ACTIONS)[number]

/** The principals that made a reservation and settled it. A principal is named by the subject of its token. */
export interface Authorship {
  /** Null: the service itself, or not known. */
  made_by: string | null
  /** Who committed, released or refunded units last; null as above, or nothing is settled. */
  settled_by: string | null
  /** The last ones, oldest first. */
  actions: AuthoredAction[]
}

export interface AuthoredAction {
  action: RecordedAction
  /** The units used (force) or refunded in all, after the action. */
  total_units: number
  at: EpochMs
  by: string | null
  request_id: string
}
