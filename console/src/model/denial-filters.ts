import { RESERVATION_ID_PATTERN } from '../../../src/domain/basics/bounds.ts'
import { COUNTRY_PATTERN } from '../../../src/domain/messages/country.ts'
import { DENIAL_REASONS, UNNAMED, type Unnamed } from '../../../src/domain/units/reservation.ts'
import type { ViewedUser } from './addresses.ts'
import { cursor, matching, oneOf, type StateOf, timestamp, uint } from './url-parameters.ts'

/** The sender's id of a message; null if the text cannot be one. */
export const messageId = matching(new RegExp(RESERVATION_ID_PATTERN))

/** The subject of a token. */
export const subject = matching(/^\P{Cc}{1,255}$/u)

export const messageType = matching(/^[a-z0-9][a-z0-9_-]{0,63}$/)

/** The filters of the log, named like the API parameters. `user_id` is only for the messages of all users, `sender` not for customers. */
export const FILTERS = {
  user_id: uint,
  id: messageId,
  reason: oneOf(DENIAL_REASONS, null),
  country: matching(new RegExp(COUNTRY_PATTERN)),
  message_type: messageType,
  sender: subject,
  without: oneOf(UNNAMED, null),
  from: timestamp,
  to: timestamp,
}
export type DenialFilters = StateOf<typeof FILTERS>

export const NO_FILTERS: DenialFilters = {
  user_id: null,
  id: null,
  reason: null,
  country: null,
  message_type: null,
  sender: null,
  without: null,
  from: null,
  to: null,
}

/** The filter of the denials that usage counts in a group; `key` is null for messages that named none. */
export function groupFilter(group: Unnamed, key: string | null): Partial<DenialFilters> {
  return key === null ? { without: group } : { [group]: key }
}

export function isFiltered(filters: DenialFilters): boolean {
  return Object.keys(FILTERS).some(name => new Map(Object.entries(filters)).get(name) !== null)
}

/** URL state of a list of denials. `denial` is the one whose explanation is open, so that a link can lead to it. */
export const DENIALS_STATE = { ...FILTERS, cursor, denial: matching(/^den_[0-9_]{1,50}$/) }
export type DenialsState = StateOf<typeof DENIALS_STATE>

/**
 * The page of the denials that the filters select, newest first. Every count of denials links to it.
 *
 * @param user whose denials; null for those of all users
 */
export function denialsUrl(filters: Partial<DenialsState> = {}, user: ViewedUser | null = null): string {
  const path = user === null ? '/messages' : user.isOwn ? '/mine/denials' : `/users/${user.user_id}/denials`
  const query = new URLSearchParams(user === null ? { state: 'denied' } : {})
  for (const [name, value] of Object.entries(filters)) {
    if (value !== null) query.set(name, String(value))
  }
  return query.size === 0 ? path : `${path}?${query}`
}
