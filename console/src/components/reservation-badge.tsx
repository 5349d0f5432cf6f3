import type { Api } from '../api/types.ts'
import { texts } from '../texts/texts.ts'
import { Badge, type Tone } from './badge.tsx'

type State = Api['ReservationRecord']['state']

export const RESERVATION_STATE_LABELS: Record<State, string> = texts.components.reservationStates

const TONES: Record<State, Tone> = {
  reserved: 'coming',
  committed: 'good',
  refunded: 'held',
  expired: 'over',
  released: 'over',
}

/** The words for the states. @param isOwn for the user whose messages they are, who knows no operator's words */
export function stateLabels(isOwn: boolean): Record<State, string> {
  return isOwn ? texts.components.ownReservationStates : RESERVATION_STATE_LABELS
}

export function ReservationBadge({ state, isOwn }: { state: State; isOwn: boolean }) {
  return <Badge tone={TONES[state]}>{stateLabels(isOwn)[state]}</Badge>
}
