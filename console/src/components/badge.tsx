import type { ReactNode } from 'react'
import type { Api } from '../api/types.ts'
import { isBlockedInPart } from '../model/customer-state.ts'
import { isBlock, type WithStatus } from '../model/quota-status.ts'
import { texts } from '../texts/texts.ts'
import classes from './badge.module.css'
import { Icon, type IconName } from './icon.tsx'

export type Tone = 'good' | 'bad' | 'coming' | 'held' | 'over'

interface BadgeProps {
  tone: Tone
  /** In place of the dot. */
  icon?: IconName | undefined
  children: ReactNode
}

/** A state as text with a colored dot or icon. */
export function Badge({ tone, icon, children }: BadgeProps) {
  return (
    <span className={classes.badge} data-tone={tone} data-icon={icon}>
      {icon !== undefined && <Icon name={icon} size={14} />}
      <span>{children}</span>
    </span>
  )
}

type Status = Api['SmsQuota']['status']

export const STATUS_LABELS: Record<Status, string> = texts.components.statuses

const STATUS_TONES: Record<Status, Tone> = {
  active: 'good',
  exhausted: 'bad',
  scheduled: 'coming',
  suspended: 'held',
  expired: 'over',
  deleted: 'over',
}

/** What does not count now, but may again. */
const ICONS: Partial<Record<Status, IconName>> = { scheduled: 'clock', suspended: 'pause' }

export function statusLabel(quota: WithStatus): string {
  return isBlock(quota) ? texts.components.blocked : STATUS_LABELS[quota.status]
}

export function StatusBadge({ quota }: { quota: WithStatus }) {
  const { status } = quota
  return (
    <Badge tone={STATUS_TONES[status]} icon={ICONS[status]}>
      {statusLabel(quota)}
    </Badge>
  )
}

type State = Api['ReservationRecord']['state']

export const RESERVATION_STATE_LABELS: Record<State, string> = texts.components.reservationStates

const STATE_TONES: Record<State, Tone> = {
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
  return <Badge tone={STATE_TONES[state]}>{stateLabels(isOwn)[state]}</Badge>
}

const CUSTOMER_TONES: Record<Api['Customer']['state'], Tone> = {
  blocked: 'bad',
  near_limit: 'held',
  running_out: 'held',
  ending: 'coming',
  ok: 'good',
  blocked_on_purpose: 'over',
  no_quota: 'over',
}

export const customerTone = (customer: Api['Customer']): Tone =>
  isBlockedInPart(customer) ? 'held' : CUSTOMER_TONES[customer.state]
