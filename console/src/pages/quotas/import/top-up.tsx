import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { Link } from 'wouter'
import { newIdempotencyKey } from '../../../api/http.ts'
import { type BulkCall, bulkJob, importJob } from '../../../queries/jobs.ts'
import { MAX_SELECTED } from '../../../queries/many-quotas.ts'
import { refetchDependents } from '../../../queries/quota.ts'
import { manyTexts } from '../../../texts/many-quotas.ts'
import { extraGrant } from '../extra-grants.ts'
import type { Job } from '../jobs/job.ts'
import { Failures, JobView } from '../jobs/job-view.tsx'
import type { LineFailure, UserLine } from './rows.ts'
import { addsGrant, TopUpFields, type TopUpInput } from './top-up-fields.tsx'
import { type Gift, type Plan, reportOf, unitsText, untilText } from './top-up-plan.ts'
import { type GiveOthers, OthersButtons, TopUpPreview } from './top-up-preview.tsx'

const { topUp, importing, bulk } = manyTexts

interface TopUpProps {
  users: readonly UserLine[]
  /** Lines that name no user. */
  failures: readonly LineFailure[]
}

const FIRST_INPUT: TopUpInput = {
  units: '',
  which: 'month',
  isThisWindowOnly: true,
  onceEnd: null,
  monthZone: null,
  reason: '',
}

/** Gives each user of a file more units: asks how, finds the users' grants, shows what would change, and does it. */
export function TopUp({ users: all, failures: allFailures }: TopUpProps) {
  const [input, setInput] = useState(FIRST_INPUT)
  const [step, setStep] = useState<'input' | 'preview' | Plan>('input')
  // Users who were left out before, and are now given units with another choice.
  const [part, setPart] = useState<readonly UserLine[] | null>(null)
  const heading = useRef<HTMLHeadingElement>(null)
  // Buttons stand below long lists: what comes next begins above them.
  // biome-ignore lint/correctness/useExhaustiveDependencies: with each step
  useEffect(() => {
    void heading.current?.scrollIntoView({ block: 'center' })
  }, [step])
  if (all.length > MAX_SELECTED) return <Text role="alert">{topUp.tooMany(MAX_SELECTED)}</Text>
  const users = part ?? all
  const failures = part === null ? allFailures : []
  const giveOthers: GiveOthers = (next, others) => {
    setPart(others)
    setInput(next)
    setStep('preview')
  }
  const back = () => setStep('input')
  return (
    <Stack gap="md">
      <Group gap="sm">
        <Title order={2} size="h5" ref={heading}>
          {topUp.heading(users.length)}
        </Title>
        {part !== null && step === 'input' && (
          <Button variant="subtle" size="compact-sm" onClick={() => setPart(null)}>
            {topUp.allOfFile(all.length)}
          </Button>
        )}
      </Group>
      {step === 'input' && (
        <>
          {failures.length > 0 && <Text size="sm">{topUp.left(failures.length)}</Text>}
          <Failures failures={failures} failed={failures.length} />
          <TopUpFields users={users} input={input} onChange={setInput} onNext={() => setStep('preview')} />
        </>
      )}
      {step === 'preview' && (
        <TopUpPreview
          key={`${input.which} ${users.length}`}
          users={users}
          failures={failures}
          input={input}
          onConfirm={setStep}
          onOthers={giveOthers}
          onBack={back}
        />
      )}
      {typeof step === 'object' && <Giving plan={step} input={input} onOthers={giveOthers} onBack={back} />}
    </Stack>
  )
}

interface GivingProps {
  plan: Plan
  input: TopUpInput
  onOthers: GiveOthers
  onBack: () => void
}

/** Gives the units, and says who has received them and who has not. */
function Giving({ plan, input, onOthers, onBack }: GivingProps) {
  const { gifts, left, notes } = plan
  const [key] = useState(newIdempotencyKey)
  const queryClient = useQueryClient()
  const isExtraGrant = addsGrant(input)
  return (
    <>
      <JobView
        job={jobOf(gifts, input, key)}
        total={gifts.length}
        reportName="sms-quota-units"
        summary={({ done, failed }) => {
          const received = topUp.received(done - failed, unitsText(gifts), untilText(gifts, isExtraGrant))
          return `${received} ${topUp.outcome(failed, left.length)}`
        }}
        report={progress => reportOf(plan, isExtraGrant, progress)}
        onEnd={() => void refetchDependents(queryClient)}
      >
        {() => (
          <>
            <OthersButtons plan={plan} input={input} onOthers={onOthers} />
            <Button component={Link} href="/quotas">
              {importing.toQuotas}
            </Button>
            <Button variant="default" onClick={onBack}>
              {bulk.back}
            </Button>
          </>
        )}
      </JobView>
      {notes.length > 0 && <Text size="sm">{topUp.notes}</Text>}
      <Failures failures={notes} failed={notes.length} />
      {left.length > 0 && <Text size="sm">{topUp.left(left.length)}</Text>}
      <Failures failures={left} failed={left.length} />
    </>
  )
}

/** An import of extra grants, or, for good, a bulk adjustment for each number of units. */
function jobOf(gifts: readonly Gift[], input: TopUpInput, key: string): Job {
  const { reason } = input
  if (addsGrant(input))
    return importJob(
      gifts.map(gift => extraGrant(gift, reason, gift.reference, gift.place)),
      { isDryRun: false },
    )
  const byUnits = Map.groupBy(gifts, ({ units }) => units)
  const calls = [...byUnits].map(
    ([delta, group]): BulkCall => ({
      select: { ids: group.map(({ quota }) => quota.id) },
      change: { action: 'adjust', delta, reason },
      key: `${key}-${delta}`,
    }),
  )
  return bulkJob(calls)
}
