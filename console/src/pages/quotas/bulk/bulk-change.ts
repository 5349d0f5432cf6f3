import { wholeNumber } from '../../../components/text-field.tsx'
import { startOfDay } from '../../../local-time.ts'
import type { BulkCall } from '../../../queries/jobs.ts'
import { filterOf } from '../list-state.ts'
import type { Selection } from '../selection.tsx'

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

/** The selection as the API takes it. */
export function selectOf(selection: Selection): BulkCall['select'] {
  if (selection.by === 'ids') return { ids: [...selection.quotas.keys()] }
  const set = Object.entries(filterOf(selection.filters)).filter(([, value]) => value !== null)
  return Object.fromEntries(set)
}
