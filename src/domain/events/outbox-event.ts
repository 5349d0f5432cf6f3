import { MAX_INTEGER } from '../basics/bounds.ts'
import { messageKindOf, type Sendable, sendableUnits } from '../forecasts/sendable.ts'
import { EXHAUSTED, newAlerts } from '../quotas/alerts.ts'
import { type Allowance, type Quota, roll, statusOf } from '../quotas/quota.ts'
import { type EpochMs, formatTimestamp, formatTimestampOrNull } from '../time/time.ts'
import { outstandingOf, type Reservation } from '../units/reservation.ts'
import type { Transfer } from '../units/transfer.ts'
import { reservationViewOf, viewOf } from '../units/view.ts'
import type { Webhook } from '../webhooks/webhook.ts'
import type { EventData, EventType, SystemEventType, UserEventType } from './event.ts'

type EventOf<Type extends EventType> = { [Name in Type]: { type: Name; data: EventData[Name] } }[Type]

/** An event that belongs to no user. */
export type SystemEvent = EventOf<SystemEventType>

/** An event of a user, as it is written to the outbox. */
export type OutboxEvent = { user_id: number } & EventOf<UserEventType>

/** Why an administrator changed a quota, in their own words, and the transfer that did it. */
interface Cause {
  reason?: string
  transfer_id?: number
}

/** An administrator's change of one quota. */
export type Change = Cause &
  ({ action: 'created'; before: null; after: Quota } | { action: 'updated' | 'deleted'; before: Quota; after: Quota })

/**
 * Up to where the quotas of a shard that have expired were emitted, in the order of expiry and id. The expiry notifier
 * moves it.
 */
export interface ExpiryPosition {
  at: EpochMs
  id: number
}

/** By how much a position may be ahead: the clocks of two processes differ, and a step of the notifier takes some time. */
const MAX_LEAD_MS = 60_000

/**
 * A position that is beyond this was moved by a clock that was ahead. The ends between now and there are still to come, each
 * with an event of its own.
 */
export const latestPosition = (now: EpochMs): EpochMs => now + MAX_LEAD_MS

/**
 * The events of an administrator's change, in order: an expiry that was not emitted yet, the change itself, then the
 * thresholds and the expiry that the change causes. So each time a quota expires, one event says so, be it extended or
 * deleted a second later.
 *
 * @param others the user's other unexpired quotas, as they are after the change
 */
export function eventsOfChange(
  { action, before, after }: Change,
  now: EpochMs,
  stored: ExpiryPosition,
  others: readonly Quota[],
): OutboxEvent[] {
  const position = stored.at > latestPosition(now) ? { at: now, id: MAX_INTEGER } : stored
  // By the clock of this process or by that of the notifier.
  const hasExpired = (quota: Quota) => statusOf(quota, now) === 'expired' || isPassed(quota, position)
  const events: OutboxEvent[] = []
  const wasExpired = before !== null && hasExpired(before)
  if (wasExpired && !before.expiry_emitted && !isPassed(before, position)) events.push(expiryOf(before, now))
  events.push({ user_id: after.user_id, type: `quota.${action}`, data: { quota: viewOf(after, now) } })
  if (action === 'deleted') return events
  events.push(...thresholdsOf(after, newAlerts(before, after), [after, ...others], now))
  if (!wasExpired && hasExpired(after)) events.push(expiryOf(after, now))
  return events
}

/** Whether the notifier does not come to the end of the quota any more. */
function isPassed({ expires_at, id }: Quota, position: ExpiryPosition): boolean {
  if (expires_at === null) return false
  return expires_at < position.at || (expires_at === position.at && id <= position.id)
}

/**
 * One event for each percentage among the marks that a quota has reached. All show the quota as it is now.
 *
 * @param ofUser all unexpired quotas of its user
 */
export function thresholdsOf(
  quota: Quota,
  marks: readonly number[],
  ofUser: readonly Allowance[],
  now: EpochMs,
): OutboxEvent[] {
  const percents = marks.filter(mark => mark !== EXHAUSTED)
  if (percents.length === 0) return []
  const view = viewOf(quota, now)
  const sendable = sendableOf(quota, ofUser, now)
  return percents.map(percent => ({
    user_id: quota.user_id,
    type: 'quota.threshold_reached',
    data: { quota: view, percent, sendable },
  }))
}

/**
 * What the user of a quota can still send of the messages that it counts.
 *
 * @param quotas all unexpired quotas of the user; some that have expired may be among them
 */
function sendableOf(quota: Allowance, quotas: readonly Allowance[], now: EpochMs): Sendable {
  const kind = messageKindOf(quota)
  const live = quotas
    .map(one => roll(one, now).quota)
    .filter(one => ['active', 'exhausted'].includes(statusOf(one, now)))
  return { units: sendableUnits(live, kind), ...kind }
}

/** The event of a quota that has expired, and shows so where the clock of this process is a little behind. */
export function expiryOf(quota: Quota, now: EpochMs): OutboxEvent {
  const view = viewOf(quota, Math.max(now, quota.expires_at ?? now))
  return { user_id: quota.user_id, type: 'quota.expired', data: { quota: view } }
}

/** The event of a reservation that expired, and what happened to its outstanding units. */
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

/** The events of a transfer or of its return: that of the giver, and that of the receiver. */
export function transferEvents(
  type: 'transfer.made' | 'transfer.returned',
  { id, units, returned, reason, expires_at }: Transfer,
  moved: number,
  { giver, receiver }: { giver: Quota; receiver: Quota },
  now: EpochMs,
): [OutboxEvent, OutboxEvent] {
  const transfer = { id, units, returned, reason, expires_at: formatTimestampOrNull(expires_at) }
  const isMade = type === 'transfer.made'
  const eventOf = (quota: Quota, direction: 'in' | 'out'): OutboxEvent => ({
    user_id: quota.user_id,
    type,
    data: { transfer, units: moved, direction, quota: viewOf(quota, now) },
  })
  return [eventOf(giver, isMade ? 'out' : 'in'), eventOf(receiver, isMade ? 'in' : 'out')]
}

/** The event of a webhook that the service has disabled. */
export function disablingOf(
  { id, description, failing_since }: Pick<Webhook, 'id' | 'description' | 'failing_since'>,
  disabled_reason: 'failing' | 'gone',
): SystemEvent {
  const webhook = { id, description, disabled_reason, failing_since: formatTimestampOrNull(failing_since) }
  return { type: 'webhook.disabled', data: { webhook } }
}

/** The event of a user whose data was erased. It belongs to no user, so that it stays when the user's own events are blanked. */
export function erasureOf(user_id: number, requestedAt: EpochMs, finishedAt: EpochMs): SystemEvent {
  const erasure = { user_id, requested_at: formatTimestamp(requestedAt), finished_at: formatTimestamp(finishedAt) }
  return { type: 'user.erased', data: { erasure } }
}
