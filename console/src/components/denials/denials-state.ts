import { RESERVATION_ID_PATTERN } from '../../../../src/domain/bounds.ts'
import { DENIAL_REASONS } from '../../../../src/domain/reservation.ts'
import { cursor, matching, oneOf, type StateOf } from '../url-state.ts'

/** The sender's id of a message; null if the text cannot be one. */
export const messageId = matching(new RegExp(RESERVATION_ID_PATTERN))

/** URL state of a list of denials. `denial` is the one whose explanation is open, so that a link can lead to it. */
export const DENIALS_STATE = {
  reason: oneOf(DENIAL_REASONS, null),
  id: messageId,
  cursor,
  denial: matching(/^den_[0-9_]{1,50}$/),
}
export type DenialsState = StateOf<typeof DENIALS_STATE>
