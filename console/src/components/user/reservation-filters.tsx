import { Button, NativeSelect } from '@mantine/core'
import { RESERVATION_STATES } from '../../../../src/domain/reservation.ts'
import { DayField } from '../day-field.tsx'
import classes from '../filters.module.css'
import { RESERVATION_STATE_LABELS } from '../reservation-badge.tsx'
import { uint } from '../url-state.ts'
import type { ReservationsState } from './reservations-state.ts'

interface FiltersProps {
  state: ReservationsState
  /** Quota names by id, for the filter. */
  names: ReadonlyMap<number, string>
  onChange: (parts: Partial<ReservationsState>) => void
}

export function ReservationFilters({ state, names, onChange }: FiltersProps) {
  const { quota_id, from, to } = state
  const isFiltered = state.state !== null || quota_id !== null || from !== null || to !== null
  // A link can contain a quota that is deleted or not among the newest.
  const known = quota_id === null || names.has(quota_id) ? names : new Map([...names, [quota_id, `Quota ${quota_id}`]])
  return (
    <search className={classes.filters}>
      <NativeSelect
        label="State"
        size="xs"
        value={state.state ?? ''}
        data={[
          { value: '', label: 'All states' },
          ...RESERVATION_STATES.map(value => ({ value, label: RESERVATION_STATE_LABELS[value] })),
        ]}
        onChange={({ currentTarget: { value } }) =>
          onChange({ state: RESERVATION_STATES.find(one => one === value) ?? null })
        }
      />
      <NativeSelect
        label="Charged to"
        size="xs"
        value={quota_id === null ? '' : String(quota_id)}
        data={[{ value: '', label: 'All quotas' }, ...[...known].map(([id, label]) => ({ value: String(id), label }))]}
        onChange={event => onChange({ quota_id: uint(event.currentTarget.value) })}
      />
      <DayField label="From" value={from} onChange={value => onChange({ from: value })} />
      <DayField label="To" value={to} onChange={value => onChange({ to: value })} />
      {isFiltered && (
        <Button
          variant="subtle"
          size="xs"
          onClick={() => onChange({ state: null, quota_id: null, from: null, to: null })}
        >
          Clear filters
        </Button>
      )}
    </search>
  )
}
