import { Anchor, Button, NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import type { Api } from '../../api/types.ts'
import rows from '../../components/data-table.module.css'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/loaded.tsx'
import { PageTitle } from '../../components/page-title.tsx'
import { PagedList } from '../../components/paged-list.tsx'
import { useUrlState } from '../../components/url-state.ts'
import { Actor, Timestamp } from '../../components/values.tsx'
import { cursor, oneOf } from '../../model/url-parameters.ts'
import { pageOf } from '../../queries/calls.ts'
import { may } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import { PlanBadges, SlotList } from './slots.tsx'

const { list } = texts.plans
const ARCHIVED = ['false', 'true'] as const
const STATE = { archived: oneOf(ARCHIVED, 'false'), cursor }

/** The list of plans. */
export default function Plans() {
  const [state, change] = useUrlState(STATE)
  const plans = useQuery(pageOf('GET /admin/plans', { query: state }))
  const mayChange = may(useCaller(), 'change')
  return (
    <>
      <PageTitle title={list.title} about={list.about}>
        {mayChange && (
          <Button component={Link} href="/plans/new" size="xs">
            {list.create}
          </Button>
        )}
      </PageTitle>
      <search>
        <NativeSelect
          label={list.show}
          size="xs"
          maw="14rem"
          mb="md"
          value={state.archived}
          data={ARCHIVED.map(value => ({ value, label: list.shown[value] }))}
          onChange={({ currentTarget: { value } }) =>
            change({ archived: ARCHIVED.find(one => one === value) ?? 'false', cursor: null })
          }
        />
      </search>
      <PagedList
        page={plans}
        none={state.archived === 'true' ? <EmptyState title={list.noneArchived} /> : <NoPlans mayChange={mayChange} />}
      >
        {(rows, isStale) => (
          <DataTable
            look="records"
            label={list.title}
            columns={COLUMNS}
            keyOf={({ id }) => id}
            {...{ rows, isStale }}
          />
        )}
      </PagedList>
    </>
  )
}

function NoPlans({ mayChange }: { mayChange: boolean }) {
  return (
    <EmptyState title={list.none}>
      {list.aboutNone}{' '}
      {mayChange && (
        <Anchor component={Link} href="/plans/new?sample=1" inherit underline="always">
          {list.sample}
        </Anchor>
      )}
    </EmptyState>
  )
}

const COLUMNS: readonly Column<Api['Plan']>[] = [
  {
    label: list.columns.plan,
    cell: plan => (
      <>
        <Anchor component={Link} href={`/plans/${plan.id}`} size="sm" fw={600} className={rows.name}>
          <bdi>{plan.name}</bdi>
        </Anchor>
        <div>
          <PlanBadges plan={plan} />
        </div>
      </>
    ),
  },
  { label: list.columns.version, kind: 'number', cell: ({ version }) => version },
  { label: list.columns.quotas, kind: 'name', cell: ({ slots }) => <SlotList slots={slots} /> },
  {
    label: list.columns.changed,
    cell: ({ updated_at, updated_by }) =>
      texts.plans.changedAt(<Timestamp at={updated_at} />, <Actor subject={updated_by} />),
  },
]
