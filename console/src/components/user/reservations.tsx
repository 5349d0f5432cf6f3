import { Anchor, NativeSelect, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { RESERVATION_STATES } from '../../../../src/domain/units/reservation.ts'
import type { ViewedUser } from '../../model/addresses.ts'
import { denialsUrl } from '../../model/denial-filters.ts'
import { addDays, startOfDay } from '../../model/local-time.ts'
import { cursor, day, oneOf, type StateOf, uint } from '../../model/url-parameters.ts'
import { quotaLabelsQuery, reservationsQuery } from '../../queries/user.ts'
import { texts } from '../../texts/texts.ts'
import { stateLabels } from '../badge.tsx'
import { DayField } from '../day-field.tsx'
import { ChoiceFilter, ClearFilters, filtersOf } from '../filter-fields.tsx'
import classes from '../filters.module.css'
import { KnownFilters } from '../known-filters.tsx'
import { EmptyState } from '../loaded.tsx'
import { PagedList } from '../paged-list.tsx'
import { useUrlState } from '../url-state.ts'
import { ReservationTable } from './reservation-table.tsx'

const PAGE_SIZE = 25

const FILTERS = { state: oneOf(RESERVATION_STATES, null), quota_id: uint, from: day, to: day }
const RESERVATIONS_STATE = { ...FILTERS, cursor }
type ReservationsState = StateOf<typeof RESERVATIONS_STATE>

/** A user's reservations, newest first. */
export default function Reservations({ user }: { user: ViewedUser }) {
  const [state, change] = useUrlState(RESERVATIONS_STATE)
  const list = useQuery(
    reservationsQuery(user, {
      ...state,
      from: state.from && startOfDay(state.from),
      to: state.to && startOfDay(addDays(state.to, 1)),
      page_size: PAGE_SIZE,
    }),
  )
  const denials = (
    <Anchor component={Link} href={denialsUrl({}, user)} underline="always" inherit>
      {texts.user.tabs.denials}
    </Anchor>
  )
  return (
    <>
      <Text size="sm" c="dimmed" mb="sm">
        {texts.user.reservations.about(denials)}
      </Text>
      <ReservationFilters
        user={user}
        state={state}
        // A changed filter starts at the newest.
        onChange={parts => change({ cursor: null, ...parts })}
      />
      <KnownFilters readers={FILTERS}>
        <PagedList
          page={list}
          rows={8}
          isFiltered={isFiltered(state)}
          none={<EmptyState title={texts.user.reservations.none}>{texts.user.reservations.noneAbout}</EmptyState>}
        >
          {(reservations, isStale) => <ReservationTable {...{ reservations, user, isStale }} />}
        </PagedList>
      </KnownFilters>
    </>
  )
}

function isFiltered({ state, quota_id, from, to }: ReservationsState): boolean {
  return state !== null || quota_id !== null || from !== null || to !== null
}

interface FiltersProps {
  user: ViewedUser
  state: ReservationsState
  onChange: (parts: Partial<ReservationsState>) => void
}

function ReservationFilters({ user, state, onChange }: FiltersProps) {
  const { quota_id, from, to } = state
  const { filters } = texts.user.reservations
  const labels = new Map(useQuery(quotaLabelsQuery(user)).data)
  // A link can contain a quota that is deleted or not among the newest.
  if (quota_id !== null && !labels.has(quota_id)) labels.set(quota_id, filters.otherQuota)
  return (
    <search className={classes.filters}>
      <ChoiceFilter
        words={filters.state}
        choices={RESERVATION_STATES}
        labels={stateLabels(user.isOwn)}
        {...filtersOf(state, onChange)('state')}
      />
      <NativeSelect
        label={filters.chargedTo}
        size="xs"
        value={quota_id === null ? '' : String(quota_id)}
        data={[
          { value: '', label: filters.allQuotas },
          ...[...labels].map(([id, label]) => ({ value: String(id), label })),
        ]}
        onChange={event => onChange({ quota_id: uint(event.currentTarget.value) })}
      />
      <DayField label={filters.from} value={from} onChange={value => onChange({ from: value })} />
      <DayField label={filters.to} value={to} onChange={value => onChange({ to: value })} />
      <ClearFilters
        isFiltered={isFiltered(state)}
        onClear={() => onChange({ state: null, quota_id: null, from: null, to: null })}
      />
    </search>
  )
}
