import { newAlerts } from './alerts.ts'
import type { EVENT_TYPES } from './event.ts'
import { type Quota, statusOf } from './quota.ts'
import { outstandingOf, type Reservation } from './reservation.ts'
import type { EpochMs } from './time.ts'
import { reservationViewOf, viewOf } from './view.ts'

/** What the outbox tells of a user. No event holds a number or a text of a message. */
export interface OutboxEvent {
  user_id: number
  type: (typeof EVENT_TYPES)[number]
  data: object
}

/** An administrator's change of one quota, with the reason if one was given. */
export type Change =
  | { action: 'created'; before: null; after: Quota }
  | { action: 'updated' | 'deleted'; before: Quota; after: Quota; reason?: string }

/** What an administrator's change tells, in order: an end that nobody told before, the change, and what it brings. */
export function eventsOfChange({ action, before, after }: Change, now: EpochMs): OutboxEvent[] {
  const told: OutboxEvent[] = []
  const wasOver = before !== null && isOver(before, now)
  if (action === 'updated' && wasOver && !before.expiry_emitted) told.push(expiryOf(before, now))
  told.push({ user_id: after.user_id, type: `quota.${action}`, data: { quota: viewOf(after, now) } })
  if (action === 'deleted') return told
  told.push(...thresholdsOf(after, newAlerts(before, after), now))
  if (!wasOver && isOver(after, now)) told.push(expiryOf(after, now))
  return told
}

const isOver = (quota: Quota, now: EpochMs) => statusOf(quota, now) === 'expired'

/** A quota as it stands when the percents are told: if one batch reaches several, that is behind all of them. */
export function thresholdsOf(quota: Quota, percents: readonly number[], now: EpochMs): OutboxEvent[] {
  if (percents.length === 0) return []
  const view = viewOf(quota, now)
  return percents.map(percent => ({
    user_id: quota.user_id,
    type: 'quota.threshold_reached',
    data: { quota: view, percent },
  }))
}

export function expiryOf(quota: Quota, now: EpochMs): OutboxEvent {
  return { user_id: quota.user_id, type: 'quota.expired', data: { quota: viewOf(quota, now) } }
}

/** That time has closed a reservation, and what became of the units which were outstanding. */
export function closingOf(before: Reservation, after: Reservation): OutboxEvent {
  const units = outstandingOf(before)
  const isCommitted = after.on_expiry === 'commit'
  return {
    user_id: after.user_id,
    type: 'reservation.expired',
    data: {
      reservation: reservationViewOf(after),
      released: isCommitted ? 0 : units,
      committed: isCommitted ? units : 0,
    },
  }
}
