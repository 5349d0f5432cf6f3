import type { Api } from '../api/types.ts'
import classes from './status-badge.module.css'

type State = Api['ReservationRecord']['state']

/** What each state is called. */
export const RESERVATION_WORDS: Record<State, string> = {
  reserved: 'Reserved',
  committed: 'Committed',
  refunded: 'Refunded',
  expired: 'Expired',
  released: 'Released',
}

export function ReservationBadge({ state }: { state: State }) {
  return (
    <span className={classes.badge} data-status={state}>
      {RESERVATION_WORDS[state]}
    </span>
  )
}
