import { Anchor, Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import type { Api } from '../../api/types.ts'
import tables from '../../components/data-table.module.css'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { EmptyState, Loaded, Loading } from '../../components/loaded.tsx'
import { PageTitle } from '../../components/page-title.tsx'
import { denialsUrl } from '../../model/denial-filters.ts'
import type { PlanSlot } from '../../model/plan-form.ts'
import { deniedByCaps, type RuleDenials } from '../../model/rule-denials.ts'
import { ruleDenialsQuery } from '../../queries/denials.ts'
import { givablePlansQuery } from '../../queries/plans.ts'
import { may } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import { slotText } from '../plans/slot-text.ts'
import { PauseTabs } from './pause-tabs.tsx'
import { Stopped, StoppedBound } from './stopped.tsx'

const words = texts.pauses.caps

/** The caps that every new user gets with the default plan, and what they stopped. The plan is where they are changed. */
export default function Caps() {
  const plans = useQuery(givablePlansQuery())
  return (
    <>
      <PageTitle title={words.title} about={words.about} />
      <PauseTabs />
      <Loaded query={plans} loading={<Loading rows={4} height={44} />}>
        {found => <OfPlan plan={found.find(({ is_default }) => is_default) ?? null} />}
      </Loaded>
    </>
  )
}

function OfPlan({ plan }: { plan: Api['Plan'] | null }) {
  const { data: denied } = useQuery(ruleDenialsQuery())
  const mayChange = may(useCaller(), 'change')
  if (plan === null)
    return (
      <EmptyState title={words.noPlan}>
        <Anchor component={Link} href="/plans" inherit underline="always">
          {words.toPlans}
        </Anchor>
      </EmptyState>
    )
  const caps = plan.slots.filter(({ kind }) => kind === 'cap')
  return (
    <>
      {caps.length === 0 ? (
        <EmptyState title={words.none(plan.name)} />
      ) : (
        <DataTable look="records" label={words.title} columns={columnsOf(plan, denied)} rows={caps} keyOf={keyOf} />
      )}
      <p className={tables.more}>
        {denied !== undefined && words.others(deniedByCaps(denied, plan).others)} <StoppedBound denied={denied} />
      </p>
      {mayChange && (
        <Button component={Link} href={`/plans/${plan.id}/edit`} variant="default" size="xs" mt="sm">
          {words.edit(plan.name)}
        </Button>
      )}
    </>
  )
}

const keyOf = ({ slot }: PlanSlot) => slot

function columnsOf(plan: Api['Plan'], denied: RuleDenials | undefined): Column<PlanSlot>[] {
  const { columns } = words
  return [
    { label: columns.cap, kind: 'name', cell: ({ name, slot }) => <bdi>{name ?? slot}</bdi> },
    { label: columns.rule, kind: 'name', cell: slot => slotText(slot) },
    {
      label: columns.stopped,
      kind: 'number',
      cell: ({ slot }) => (
        <Stopped
          count={denied && (deniedByCaps(denied, plan).bySlot.get(slot) ?? 0)}
          href={denialsUrl({ reason: 'cap_reached', from: denied?.from ?? null })}
        />
      ),
    },
  ]
}
