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

export function ReservationBadge({ state }: { state: State }) {
  return <Badge tone={TONES[state]}>{RESERVATION_STATE_LABELS[state]}</Badge>
}
