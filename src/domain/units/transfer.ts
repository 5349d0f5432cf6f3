import type { ValidationIssue } from '../../errors.ts'
import type { UnknownValue } from '../basics/unknown-value.ts'
import { alertedBy } from '../quotas/alerts.ts'
import {
  balanceOf,
  type ClosedWindow,
  changeQuota,
  isLive,
  type Quota,
  type QuotaChange,
  type QuotaDraft,
  roll,
  shownWindowEnd,
  unknownIn,
} from '../quotas/quota.ts'
import type { EpochMs } from '../time/time.ts'
import { type Correction, createDraft, putReservation } from './draft.ts'
import type { Reservation } from './reservation.ts'

/** Units of a grant that became a grant of another user, or of the same. */
export interface Transfer {
  id: number
  /** The giver, the grant that gave, and its window that the units came from. */
  user_id: number
  quota_id: number
  window_no: number
  window_start: EpochMs
  /** The receiver, and the grant that was made of the units; null once the receiver was erased. */
  to_user_id: number | null
  to_quota_id: number | null
  units: number
  /** The units of these that were given back. */
  returned: number
  reason: string | null
  /** The end of the receiver's grant when it was made; null: never. */
  expires_at: EpochMs | null
  at: EpochMs
  actor: string
}

export interface TransferTerms {
  to_user_id: number
  units: number
  reason: string | null
  /** The end of the receiver's grant, if it is to be earlier than that of the giver's units. */
  expires_at: EpochMs | null
}

export type NotTransferred =
  /** The quota is a cap, has no limit, or is not live; of a return, one of the two quotas is gone. */
  | { outcome: 'not_transferable'; detail: string }
  /** The units of the grant that are neither used nor reserved. */
  | { outcome: 'not_enough_units'; available: number }
  | { outcome: 'invalid'; issues: ValidationIssue[] }
  | { outcome: 'unknown_value'; cause: UnknownValue }

export interface DecidedTransfer {
  outcome: 'transferred'
  transfer: Transfer
  /** The giver's grant after it, and the window that it closed. */
  giver: Quota
  closed: ClosedWindow[]
  /** The units on the giver's side: booked like a send, without a message. */
  booking: Reservation
  /** The receiver's grant. */
  draft: QuotaDraft
}

interface Context {
  now: EpochMs
  actor: string
}

/**
 * Moves units out of a grant. Only units of its current window that are neither used nor reserved can go; overage cannot. Over all
 * grants, `limit + rolled_over - used - reserved` stays what it was.
 *
 * @param id of the transfer
 */
export function decideTransfer(
  current: Quota,
  terms: TransferTerms,
  { id, now, actor }: Context & { id: number },
): DecidedTransfer | NotTransferred {
  const unknown = unknownIn(current)
  if (unknown !== null) return { outcome: 'unknown_value', cause: unknown }
  const { quota, closed } = roll(current, now)
  const hindrance = hindranceOf(quota, now)
  if (hindrance !== undefined) return { outcome: 'not_transferable', detail: hindrance }
  const end = shownWindowEnd(quota)
  const { to_user_id, units, reason, expires_at } = terms
  const issue = endIssue(expires_at, end, now)
  if (issue !== undefined) return { outcome: 'invalid', issues: [issue] }
  const available = Math.max(0, balanceOf(quota))
  if (units > available) return { outcome: 'not_enough_units', available }

  const { user_id, window_no, window_start, name, countries, message_types, priority, alert_at } = quota
  const made = { id, user_id, quota_id: quota.id, window_no, window_start, units, returned: 0 }
  const expiry = expires_at ?? end
  const moved = { ...quota, used: quota.used + units, version: current.version + 1, updated_at: now, updated_by: actor }
  return {
    outcome: 'transferred',
    transfer: { ...made, to_user_id, to_quota_id: null, reason, expires_at: expiry, at: now, actor },
    giver: { ...moved, alerted: alertedBy(moved) },
    closed: closed === null ? [] : [closed],
    booking: bookingOf({ ...made, at: now }),
    draft: {
      user_id: to_user_id,
      limit: units,
      expires_at: expiry,
      name,
      countries,
      message_types,
      priority,
      alert_at,
    },
  }
}

function hindranceOf(quota: Quota, now: EpochMs): string | undefined {
  if (quota.kind !== 'grant') return `Quota ${quota.id} is a cap: it has no units of its own.`
  if (quota.limit === null) return `Quota ${quota.id} is unlimited: it has no number of units that could go.`
  if (!isLive(quota, now)) return `Quota ${quota.id} is suspended, has not begun or has ended.`
  return undefined
}

function endIssue(asked: EpochMs | null, end: EpochMs | null, now: EpochMs): ValidationIssue | undefined {
  if (asked === null) return undefined
  if (asked <= now) return { path: '/expires_at', message: 'must be in the future' }
  if (end !== null && asked > end)
    return {
      path: '/expires_at',
      message: `must not be later than the end of the units, ${new Date(end).toISOString()}`,
    }
  return undefined
}

/**
 * The units on the giver's side, as a reservation of the service's own. Its id begins with an underscore, which senders' ids cannot.
 */
function bookingOf({
  id,
  user_id,
  quota_id,
  window_no,
  window_start,
  units,
  returned,
  at,
}: Pick<
  Transfer,
  'id' | 'user_id' | 'quota_id' | 'window_no' | 'window_start' | 'units' | 'returned' | 'at'
>): Reservation {
  return {
    user_id,
    id: `_transfer:${id}`,
    op: 'consume',
    asked: units,
    country: null,
    message_type: null,
    allow_partial: false,
    force: false,
    would_deny: null,
    units,
    committed: units,
    released: 0,
    refunded: returned,
    on_expiry: 'release',
    expired: false,
    verified: false,
    draws: [{ quota_id, kind: 'grant', window_no, window_start, from: 0, to: units }],
    created_at: at,
    expires_at: at,
  }
}

export interface DecidedReturn {
  outcome: 'returned'
  transfer: Transfer
  units: number
  giver: Quota
  closed: ClosedWindow[]
  /** What goes back to a window that was closed before. */
  corrections: Correction[]
  booking: Reservation
  receiver: Quota
  receiverClosed: ClosedWindow[]
}

/**
 * Gives back what the receiver has neither used nor reserved, to the very window that it came from.
 *
 * @param units null: all there are
 */
export function decideReturn(
  transfer: Transfer,
  { giver, receiver }: { giver: Quota; receiver: Quota },
  units: number | null,
  context: Context,
): DecidedReturn | NotTransferred | Extract<QuotaChange, { outcome: 'immutable_field' | 'below_usage' }> {
  const { now, actor } = context
  const unknown = unknownIn(giver) ?? unknownIn(receiver)
  if (unknown !== null) return { outcome: 'unknown_value', cause: unknown }
  if (receiver.limit === null)
    return {
      outcome: 'not_transferable',
      detail: `Quota ${receiver.id} is unlimited now: none of its units are left over.`,
    }
  const available = Math.max(0, Math.min(transfer.units - transfer.returned, balanceOf(receiver)))
  const asked = units ?? available
  if (asked === 0 || asked > available) return { outcome: 'not_enough_units', available }

  const taken = changeQuota(receiver, { limit: receiver.limit - asked }, context)
  if (taken.outcome === 'unchanged') throw new Error(`quota ${receiver.id} keeps the units it gives back`)
  if (taken.outcome !== 'changed') return taken

  const returned = { ...transfer, returned: transfer.returned + asked }
  const [before, booking] = [bookingOf(transfer), bookingOf(returned)]
  const draft = createDraft(giver.user_id, [giver], [before])
  putReservation(draft, booking, now, {})
  const [counted] = draft.quotas
  return {
    outcome: 'returned',
    transfer: returned,
    units: asked,
    giver: { ...giver, ...counted, version: giver.version + 1, updated_at: now, updated_by: actor },
    closed: draft.closed,
    corrections: draft.corrections,
    booking,
    receiver: taken.quota,
    receiverClosed: taken.closed,
  }
}
