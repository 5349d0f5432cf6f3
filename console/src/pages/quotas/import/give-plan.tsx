import { Button, NativeSelect, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import type { BadLine, UserLine } from '../../../../../src/domain/quotas/user-file.ts'
import type { Api } from '../../../api/types.ts'
import { Form } from '../../../components/form.tsx'
import { GivablePlans } from '../../../components/givable-plans.tsx'
import { planLines } from '../../../model/import-rows.ts'
import { texts } from '../../../texts/texts.ts'
import { useIsJobRunning } from '../jobs/use-job.ts'
import { LeftOut } from './give-preview.tsx'
import { QuotaImport } from './quota-import.tsx'

const words = texts.importHelp

interface GivePlanProps {
  users: readonly UserLine[]
  /** Lines that name no user. */
  failures: readonly BadLine[]
}

/** Gives each user of a list the same plan, as a file with a column of plans does. */
export default function GivePlan({ users, failures }: GivePlanProps) {
  const [chosen, setChosen] = useState<Api['Plan'] | null>(null)
  const isRunning = useIsJobRunning()
  return (
    <Stack gap="md">
      <Title order={2} size="h4">
        {words.planFor(users.length)}
      </Title>
      <LeftOut left={failures} />
      {chosen === null ? (
        <GivablePlans>{found => <PlanForm plans={found} onChoose={setChosen} />}</GivablePlans>
      ) : (
        <>
          <Text size="sm">{words.version(chosen.name, chosen.version)}</Text>
          <QuotaImport lines={planLines(users, chosen.id)} of="plans" failures={[]} />
          <Button variant="default" w="fit-content" disabled={isRunning} onClick={() => setChosen(null)}>
            {texts.manyQuotas.bulk.back}
          </Button>
        </>
      )}
    </Stack>
  )
}

function PlanForm({ plans, onChoose }: { plans: readonly Api['Plan'][]; onChoose: (plan: Api['Plan']) => void }) {
  const [id, setId] = useState('')
  function submit() {
    const plan = plans.find(one => String(one.id) === id)
    if (plan !== undefined) onChoose(plan)
  }
  return (
    <Form onSubmit={submit} submit={words.check} beside={null} maw="32rem">
      <NativeSelect
        label={words.planLabel}
        description={words.aboutPlan}
        required
        value={id}
        data={[
          { value: '', label: words.choosePlan },
          ...plans.map(plan => ({ value: String(plan.id), label: words.version(plan.name, plan.version) })),
        ]}
        onChange={event => setId(event.currentTarget.value)}
      />
    </Form>
  )
}
