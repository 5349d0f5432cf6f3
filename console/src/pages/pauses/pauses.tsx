import { Button, Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import tables from '../../components/data-table.module.css'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ChoiceFilter, CountryFilter, filtersOf, UserFilter } from '../../components/filter-fields.tsx'
import { LiftPause } from '../../components/lift-pause.tsx'
import { EmptyState, Loading } from '../../components/loaded.tsx'
import { PageTitle } from '../../components/page-title.tsx'
import { PagedList } from '../../components/paged-list.tsx'
import { useUrlState } from '../../components/url-state.ts'
import { UserLink } from '../../components/user-link.tsx'
import { Actor, Timestamp } from '../../components/values.tsx'
import { countryLabel } from '../../formats.ts'
import { denialsUrl } from '../../model/denial-filters.ts'
import type { Pause } from '../../model/pauses.ts'
import { deniedByPauses, type RuleDenials } from '../../model/rule-denials.ts'
import { cursor, matching, oneOf, type StateOf, uint } from '../../model/url-parameters.ts'
import { pageOf } from '../../queries/calls.ts'
import { ruleDenialsQuery } from '../../queries/denials.ts'
import { may } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import { PauseTabs } from './pause-tabs.tsx'
import { Stopped, StoppedBound } from './stopped.tsx'

const PauseForm = lazy(() => import('../../components/pause-form.tsx'))

const words = texts.pauses
const SHOWN = ['active', 'over', 'all'] as const
const ORIGINS = ['person', 'breaker'] as const
const COUNTRY = /^(?:[A-Z]{2}|001)$/
const STATE = {
  show: oneOf(SHOWN, 'active'),
  country: matching(COUNTRY),
  user_id: uint,
  origin: oneOf(ORIGINS, null),
  cursor,
  /** A country, or `new`: the form is open. `for` is the user that it begins with; a country without one is for all users. */
  pause: matching(/^(?:[A-Z]{2}|001|new)$/),
  for: uint,
}
type State = StateOf<typeof STATE>

const ACTIVE = { active: 'true', over: 'false', all: null } as const

/** Paused destinations: those that hold now, and those that are over. */
export default function Pauses() {
  const [state, change] = useUrlState(STATE)
  const [done, setDone] = useState('')
  const mayChange = may(useCaller(), 'change')
  const { show, country, user_id, origin } = state
  const { data: denied } = useQuery({ ...ruleDenialsQuery(), enabled: show === 'active' })
  const pauses = useQuery(
    pageOf('GET /admin/pauses', {
      query: state.cursor === null ? { active: ACTIVE[show], country, user_id, origin } : { cursor: state.cursor },
    }),
  )
  const close = () => change({ pause: null, for: null })
  return (
    <>
      <PageTitle title={words.title} about={words.about}>
        {mayChange && (
          <Button size="xs" aria-haspopup="dialog" onClick={() => change({ pause: 'new' })}>
            {words.make}
          </Button>
        )}
      </PageTitle>
      <PauseTabs />
      <Filters state={state} onChange={part => change({ cursor: null, ...part })} />
      <p role="status">{done}</p>
      <PagedList
        page={pauses}
        isFiltered={(country ?? user_id ?? origin) !== null}
        none={<EmptyState title={words.none[show]}>{words.noneAbout}</EmptyState>}
      >
        {(rows, isStale) => (
          <>
            <DataTable
              look="records"
              label={words.title}
              columns={columnsOf(mayChange ? setDone : null, show === 'active' ? [stoppedColumn(denied)] : [])}
              keyOf={({ id }) => id}
              {...{ rows, isStale }}
            />
            {show === 'active' && (
              <p className={tables.more}>
                <StoppedBound denied={denied} />
              </p>
            )}
          </>
        )}
      </PagedList>
      {mayChange && (
        <Dialog title={words.form.title} isOpen={state.pause !== null} onClose={close}>
          <Suspense fallback={<Loading rows={6} height={44} />}>
            <PauseForm
              initial={{
                who: state.pause !== 'new' && state.for === null ? 'all' : 'one',
                countries: state.pause === null || state.pause === 'new' ? [] : [state.pause],
                user: state.for === null ? '' : String(state.for),
              }}
              onDone={message => {
                setDone(message)
                close()
              }}
            />
          </Suspense>
        </Dialog>
      )}
    </>
  )
}

function Filters({ state, onChange }: { state: State; onChange: (part: Partial<State>) => void }) {
  const at = filtersOf(state, onChange)
  return (
    <search>
      <Group gap="sm" mb="md" align="flex-start">
        <ChoiceFilter
          words={{ label: words.show, all: words.shown.active }}
          choices={['over', 'all'] as const}
          labels={words.shown}
          value={state.show === 'active' ? null : state.show}
          onApply={show => onChange({ show: show ?? 'active' })}
        />
        <CountryFilter {...at('country')} />
        <UserFilter {...at('user_id')} />
        <ChoiceFilter words={words.origin} choices={ORIGINS} labels={words.origins} {...at('origin')} />
      </Group>
    </search>
  )
}

/** What each pause that holds has denied. */
function stoppedColumn(denied: RuleDenials | undefined): Column<Pause> {
  const counts = denied && deniedByPauses(denied)
  return {
    label: words.columns.stopped,
    kind: 'number',
    cell: ({ id, country, user_id }) => (
      <Stopped
        count={counts && (counts.get(id) ?? 0)}
        href={denialsUrl({ reason: 'destination_paused', country, user_id })}
      />
    ),
  }
}

/** @param onLifted receives a confirmation; null: the caller lifts none */
function columnsOf(onLifted: ((message: string) => void) | null, stopped: readonly Column<Pause>[]): Column<Pause>[] {
  const { columns } = words
  const action: Column<Pause> = {
    label: columns.action,
    cardLabel: () => '',
    cell: pause => pause.active && onLifted !== null && <LiftPause pause={pause} onDone={onLifted} />,
  }
  return [
    { label: columns.country, kind: 'name', cell: ({ country }) => <strong>{countryLabel(country)}</strong> },
    { label: columns.user, kind: 'user', cell: pause => <For pause={pause} /> },
    { label: columns.types, cell: ({ message_types }) => <bdi>{message_types?.join(', ') ?? words.allTypes}</bdi> },
    { label: columns.until, cell: pause => <Until pause={pause} /> },
    { label: columns.reason, kind: 'name', cell: pause => <bdi>{reasonOf(pause)}</bdi> },
    {
      label: columns.made,
      cell: ({ created_by, created_at }) => words.by(<Actor subject={created_by} />, <Timestamp at={created_at} />),
    },
    ...stopped,
    ...(onLifted === null ? [] : [action]),
  ]
}

function For({ pause: { user_id, ...names } }: { pause: Pause }) {
  return user_id === null ? words.allUsers : <UserLink user={{ user_id, ...names }} />
}

/** What a person wrote, or what the breaker saw. */
function reasonOf({ reason, evidence }: Pause): string {
  if (evidence === null) return reason ?? '–'
  return words.evidence[evidence.budget](Math.round(evidence.counted), Math.round(evidence.allowed))
}

/** When it ends, or who ended it. */
function Until({ pause: { until, observed, lifted_at, lifted_by } }: { pause: Pause }) {
  if (observed) return words.observed
  if (lifted_at !== null) return words.lifted(<Actor subject={lifted_by ?? ''} />, <Timestamp at={lifted_at} />)
  return <Timestamp at={until} none={words.untilLifted} />
}
