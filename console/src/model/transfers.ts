import type { Api } from '../api/types.ts'
import type { NamedUser } from './addresses.ts'
import { isLive } from './quota-status.ts'
import { uint } from './url-parameters.ts'

type Quota = Api['SmsQuota']

/** A transfer as the service answers it, with what its receiver is called where it answers that. */
export type Transfer = Api['Transfer']

/** What a quota holds beyond what is used and reserved; overage is no unit that could go. */
function unusedOf({ limit, rolled_over, used, reserved }: Quota): number {
  return Math.max(0, (limit ?? 0) + rolled_over - (used ?? 0) - (reserved ?? 0))
}

/** The units that can be handed on; null if it is no quota that could give any. */
export function transferableUnits(quota: Quota): number | null {
  return quota.kind === 'grant' && quota.limit !== null && isLive(quota) ? unusedOf(quota) : null
}

/** The units of a transfer that can go back. @param receiver the grant that was made of them, as it is now */
export function returnableUnits({ units, returned }: Transfer, receiver: Quota): number {
  return Math.min(units - returned, unusedOf(receiver))
}

/** What both users have after units went back: unused ones of the receiver's grant, and of the giver's. */
export function leftAfterReturn(
  units: number,
  transfer: Transfer,
  { giver, receiver }: { giver: Quota; receiver: Quota },
) {
  return {
    receiver: unusedOf(receiver) - units,
    /** Null: they go back to a window that is over. */
    giver: giver.window_start === transfer.window_start ? unusedOf(giver) + units : null,
  }
}

/** Before a reference. A name alone names no receiver: several users may have it. */
const REFERENCE = 'ref:'

/** The receiver that a typed text names; null if it is neither an id nor a reference. */
export function receiverOf(text: string): { user_id: number } | { ref: string } | null {
  const trimmed = text.trim()
  const user_id = uint(trimmed)
  if (user_id !== null) return { user_id }
  return trimmed.startsWith(REFERENCE) && trimmed.length > REFERENCE.length
    ? { ref: trimmed.slice(REFERENCE.length) }
    : null
}

/** What to search for a typed receiver. */
export function searchedReceiver(text: string): string {
  const receiver = receiverOf(text)
  return receiver !== null && 'ref' in receiver ? receiver.ref : text.trim()
}

/** The user that a typed text names exactly, among those that were found for it. */
export function namedBy(text: string, found: readonly NamedUser[]): NamedUser | undefined {
  const receiver = receiverOf(text)
  if (receiver === null) return undefined
  return found.find(user => ('ref' in receiver ? user.user_ref === receiver.ref : user.user_id === receiver.user_id))
}

/** The user that a filter takes of those found for a text: the only one with this reference, else with this name, else at all. */
export function meantBy(text: string, found: readonly NamedUser[]): NamedUser | undefined {
  const called = text.trim().toLowerCase()
  const ofReference = found.filter(({ user_ref }) => user_ref === text.trim())
  const ofName = found.filter(({ user_name }) => user_name?.toLowerCase() === called)
  const [only, ...others] = [ofReference, ofName, found].find(users => users.length > 0) ?? []
  return others.length === 0 ? only : undefined
}

export const giverOf = ({ user_id, user_ref, user_name }: Transfer): NamedUser => ({ user_id, user_ref, user_name })

/** Null once the receiver was erased. */
export function takerOf({ to_user_id, to_user_ref, to_user_name }: Transfer): NamedUser | null {
  return to_user_id === null ? null : { user_id: to_user_id, user_ref: to_user_ref, user_name: to_user_name }
}

/** A change of a quota, in its history or in the audit. */
export interface RecordedChange {
  transfer_id: number | null
  before: Api['QuotaAsShown'] | null
  after: Api['QuotaAsShown'] | null
}

/** What a transfer or a return did to a quota. */
export interface MovedUnits {
  did: 'gave' | 'got' | 'gaveBack' | 'cameBack'
  /** 0 if they came back to a window that was over then. */
  units: number
  /** The other user; null if that one is not known, or was erased. */
  with: NamedUser | null
}

/**
 * What a change of a quota by a transfer did; null if it is another change.
 *
 * @param transfers of the user of the quota. Of an older one, the change itself says all but who the other user is.
 */
export function movedBy(
  { transfer_id, before, after }: RecordedChange,
  transfers: readonly Transfer[],
): MovedUnits | null {
  if (transfer_id === null) return null
  const transfer = transfers.find(({ id }) => id === transfer_id)
  const giver = transfer === undefined ? null : giverOf(transfer)
  const taker = transfer === undefined ? null : takerOf(transfer)
  if (before === null) return { did: 'got', units: after?.limit ?? 0, with: giver }
  // Of the two grants, only the receiver's has another limit by a return.
  const lost = (before.limit ?? 0) - (after?.limit ?? 0)
  if (lost > 0) return { did: 'gaveBack', units: lost, with: giver }
  const released = (before.used ?? 0) - (after?.used ?? 0)
  return released < 0
    ? { did: 'gave', units: -released, with: taker }
    : { did: 'cameBack', units: released, with: taker }
}
