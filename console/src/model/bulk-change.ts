import type { Api } from '../api/types.ts'
import { startOfDay } from './local-time.ts'
import { type Filters, filterOf } from './quota-lists.ts'
import { isLive } from './quota-status.ts'
import { wholeNumber } from './typed.ts'

type Quota = Api['SmsQuota']

/** Quotas to change together. */
export type Selection =
  /** Rows that were chosen one by one, on one page or several. */
  | { by: 'ids'; quotas: ReadonlyMap<number, Quota> }
  /** All quotas that match filters, also those on other pages. `total` is null if the service did not count them. */
  | { by: 'filters'; filters: Filters; total: number | null }

/** One bulk change of the API. */
export interface BulkCall {
  /** Which quotas: their ids, or filters of the list. */
  select: Readonly<Record<string, unknown>>
  change: Readonly<Record<string, unknown>>
  /** Names the call, so that a repeated one changes each quota at most once. */
  key: string
}

export type BulkAction = 'suspend' | 'resume' | 'adjust' | 'extend' | 'delete'

/** What the user has entered about a change of many quotas. */
export interface BulkInput {
  units: string
  isDecrease: boolean
  isThisWindowOnly: boolean
  reason: string
  /** How the end is moved: by a time, to a day, or away. */
  end: 'by' | 'to' | 'never'
  by: string
  unit: 'D' | 'W' | 'M' | 'Y'
  /** 2026-03-01 */
  day: string | null
}

export const EMPTY_INPUT: BulkInput = {
  units: '',
  isDecrease: false,
  isThisWindowOnly: false,
  reason: '',
  end: 'by',
  by: '1',
  unit: 'M',
  day: null,
}

/** Whether the user says more than which change. */
export function needsInput(action: BulkAction): boolean {
  return action === 'adjust' || action === 'extend'
}

/** The change as the API takes it. */
export function changeOf(action: BulkAction, input: BulkInput): BulkCall['change'] {
  switch (action) {
    case 'adjust': {
      const units = wholeNumber(input.units)
      const delta = typeof units === 'number' && input.isDecrease ? -units : units
      return { action, delta, reason: input.reason }
    }
    case 'extend':
      if (input.end === 'by') return { action, by: `P${wholeNumber(input.by)}${input.unit}` }
      return { action, expires_at: input.end === 'never' || input.day === null ? null : startOfDay(input.day) }
    default:
      return { action }
  }
}

/** The selection as the API takes it. @param now epoch milliseconds */
export function selectOf(selection: Selection, now: number): BulkCall['select'] {
  if (selection.by === 'ids') return { ids: [...selection.quotas.keys()] }
  const set = Object.entries(filterOf(selection.filters, now)).filter(([, value]) => value !== null)
  return Object.fromEntries(set)
}

/** Units that a grant gets for a time. */
export interface Extra {
  quota: Quota
  units: number
  /** When the units end; null for never. */
  end: string | null
}

/** Why a quota cannot get units for one window; null if it can. */
export function whyNoExtra({
  kind,
  period,
  limit,
  status,
}: Quota): 'notAGrant' | 'notLive' | 'unlimited' | 'oneTime' | null {
  if (kind !== 'grant') return 'notAGrant'
  if (!isLive({ status })) return 'notLive'
  if (limit === null) return 'unlimited'
  return period === null ? 'oneTime' : null
}
