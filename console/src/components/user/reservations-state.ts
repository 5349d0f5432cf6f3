import { RESERVATION_STATES } from '../../../../src/domain/reservation.ts'
import { cursor, day, oneOf, type StateOf, uint } from '../url-state.ts'

export const RESERVATIONS_STATE = { state: oneOf(RESERVATION_STATES, null), quota_id: uint, from: day, to: day, cursor }
export type ReservationsState = StateOf<typeof RESERVATIONS_STATE>
