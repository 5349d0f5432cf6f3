import { Anchor, Button, Group, Stack, Text } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { Link } from 'wouter'
import type { Api } from '../../api/types.ts'
import { unitsColumn } from '../../components/columns.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { EmptyState, Loading } from '../../components/loaded.tsx'
import { Section } from '../../components/section.tsx'
import { may } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import { SlotList } from './slots.tsx'
import { unfinishedRollOut } from './unfinished.ts'

const ArchiveDialog = lazy(() => import('./archive-dialog.tsx'))
const RollOut = lazy(() => import('./roll-out.tsx'))

type Plan = Api['PlanDetail']

const { page, rollOut } = texts.plans

/** What users get by a plan, who has which version of it, and its roll-out. */
export default function Overview({ plan }: { plan: Plan }) {
  const mayChange = may(useCaller(), 'change') && !plan.archived
  const [isArchiving, setArchiving] = useState(false)
  return (
    <Stack gap="lg">
      {plan.archived && <Text size="sm">{page.archived}</Text>}
      <Section title={page.quotas}>
        <SlotList slots={plan.slots} />
      </Section>
      <Section title={page.users}>
        <Users plan={plan} />
        {mayChange && (
          <Anchor component={Link} href="/quotas/import" size="sm">
            {page.toImport}
          </Anchor>
        )}
      </Section>
      {mayChange && (
        <Section title={rollOut.title}>
          <RollOutPart plan={plan} />
        </Section>
      )}
      {mayChange && (
        <Group>
          <Button variant="outline" color="red" size="xs" onClick={() => setArchiving(true)}>
            {page.archive}
          </Button>
        </Group>
      )}
      <Suspense>{isArchiving && <ArchiveDialog plan={plan} onClose={() => setArchiving(false)} />}</Suspense>
    </Stack>
  )
}

function Users({ plan }: { plan: Plan }) {
  if (plan.users.length === 0)
    return (
      <EmptyState title={page.noUsers}>
        {!plan.archived && (plan.is_default ? page.aboutNewUsers : page.aboutNoUsers)}
      </EmptyState>
    )
  return (
    <DataTable label={page.users} columns={usersColumns(plan.id)} rows={plan.users} keyOf={({ version }) => version} />
  )
}

function usersColumns(id: number): Column<Plan['users'][number]>[] {
  return [
    { label: page.columns.version, cell: ({ version }) => version },
    unitsColumn(page.columns.users, ({ users }) => users),
    {
      label: page.columns.quotas,
      cell: ({ version }) => (
        <Anchor component={Link} href={`/quotas?plan_id=${id}&plan_version=${version}`} size="sm">
          {page.toQuotas}
        </Anchor>
      ),
    },
  ]
}

/** How many users have an earlier version, and the way to the roll-out. */
function RollOutPart({ plan }: { plan: Plan }) {
  const { id, version, users } = plan
  const { subject } = useCaller()
  const [unfinished, setUnfinished] = useState(() => unfinishedRollOut.of(subject))
  const [isOpen, setOpen] = useState(false)
  const interrupted = unfinished?.call.plan_id === id && !isOpen ? unfinished : null
  const behind = users.filter(entry => entry.version < version).reduce((sum, entry) => sum + entry.users, 0)
  function close() {
    setUnfinished(null)
    setOpen(false)
  }
  if (isOpen)
    return (
      <Suspense fallback={<Loading rows={3} height={36} />}>
        <RollOut plan={plan} confirmed={unfinished?.call.plan_id === id ? unfinished : null} onClose={close} />
      </Suspense>
    )
  return (
    <Stack gap="sm" maw="46rem">
      {users.length > 0 && (
        <Text size="sm">{behind === 0 ? rollOut.upToDate(version) : rollOut.behind(behind, version)}</Text>
      )}
      {interrupted !== null && <Text size="sm">{rollOut.unfinished(interrupted.total)}</Text>}
      <Group gap="xs">
        {interrupted !== null && (
          <>
            <Button size="xs" onClick={() => setOpen(true)}>
              {rollOut.proceed}
            </Button>
            <Button
              variant="default"
              size="xs"
              onClick={() => {
                unfinishedRollOut.forget()
                setUnfinished(null)
              }}
            >
              {rollOut.dismiss}
            </Button>
          </>
        )}
        {interrupted === null && (
          <Button variant={behind === 0 ? 'default' : 'filled'} size="xs" onClick={() => setOpen(true)}>
            {rollOut.open}
          </Button>
        )}
      </Group>
    </Stack>
  )
}
