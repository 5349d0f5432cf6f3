/** Where a user has messages about the user's own events sent to. Personal data: it is exported and erased with the user, and never logged. */
import { DAY_MS, type EpochMs, formatTimestampOrNull } from '../time/time.ts'
import type { MessageLanguage } from '../webhooks/webhook.ts'

/** A user's address. There is one; another replaces it. */
export interface UserAddress {
  user_id: number
  /** Null: it was taken back. */
  address: string | null
  language: MessageLanguage
  /** Names this address in the links of its messages. Another address has another number. */
  serial: number
  /** Until when the link that confirms it does. */
  expires_at: EpochMs
  /** Null: it is not confirmed, and gets no message. */
  confirmed_at: EpochMs | null
  /** When the mail server refused it for good. It gets no message since. */
  refused_at: EpochMs | null
  /** Numbers the changes, from 1. */
  version: number
}

/** `off`: the service sends users nothing. */
export const ADDRESS_STATUSES = ['off', 'none', 'pending', 'confirmed', 'refused'] as const
export type AddressStatus = (typeof ADDRESS_STATUSES)[number]

/** How long a link confirms. */
const LINK_VALID_MS = DAY_MS

/** Links in the hour that the first of them begins, for each user and for each address. */
export const MAX_LINKS_PER_HOUR = 3

export function statusOf(address: UserAddress | undefined): Exclude<AddressStatus, 'off'> {
  if (address === undefined || address.address === null) return 'none'
  if (address.refused_at !== null) return 'refused'
  return address.confirmed_at === null ? 'pending' : 'confirmed'
}

/** The address after a user has asked for messages, and whether a link must confirm it. */
export interface AddressSet {
  address: UserAddress
  mustConfirm: boolean
}

/**
 * Another address replaces the one before at once. The confirmed one only gets the language. One that waits gets another link, which is the
 * same as the one before but ends later.
 *
 * @param serial of an address that is another one
 */
export function setAddress(
  before: UserAddress | undefined,
  wanted: { user_id: number; address: string; language: MessageLanguage },
  now: EpochMs,
  serial: number,
): AddressSet {
  const status = statusOf(before)
  const isSame = before !== undefined && before.address === wanted.address
  if (isSame && status === 'confirmed') return { address: { ...before, language: wanted.language }, mustConfirm: false }
  const isWaiting = isSame && status === 'pending'
  return {
    address: {
      ...wanted,
      serial: isWaiting ? before.serial : serial,
      expires_at: now + LINK_VALID_MS,
      confirmed_at: null,
      refused_at: null,
      version: (before?.version ?? 0) + (isWaiting ? 0 : 1),
    },
    mustConfirm: true,
  }
}

/** An address as the user reads it. */
export function addressViewOf(address: UserAddress | undefined, isOff: boolean) {
  return {
    status: isOff ? ('off' as const) : statusOf(address),
    email: address?.address ?? null,
    language: address?.language ?? null,
    confirmed_at: formatTimestampOrNull(address?.confirmed_at ?? null),
    refused_at: formatTimestampOrNull(address?.refused_at ?? null),
  }
}

/** What the audit shows of it: the address is the user's own affair. */
export const auditedAddressOf = (address: UserAddress) => ({
  user_id: address.user_id,
  status: statusOf(address),
  language: address.language,
})
