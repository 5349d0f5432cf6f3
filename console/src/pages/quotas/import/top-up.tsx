import { Button, Group, NativeSelect, Stack, Text, TextInput, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Link } from 'wouter'
import { newIdempotencyKey } from '../../../api/idempotency-key.ts'
import { Loaded } from '../../../components/loaded.tsx'
import { wholeNumber } from '../../../components/text-field.tsx'
import { type BulkCall, bulkJob, importJob } from '../../../queries/jobs.ts'
import { fittingGrantsQuery, MAX_SELECTED, type Period } from '../../../queries/many-quotas.ts'
import { refetchDependents } from '../../../queries/quota.ts'
import { manyTexts } from '../../../texts/many-quotas.ts'
import { ReasonField, UNITS_PATTERN, WindowChoice } from '../bulk/bulk-fields.tsx'
import { type Extra, extraGrant } from '../extra-grants.ts'
import type { Failure, Job } from '../jobs/job.ts'
import { Failures, JobView } from '../jobs/job-view.tsx'
import type { UserLine } from './rows.ts'

const { topUp, jobs, bulk, importing } = manyTexts
const PERIODS: readonly Period[] = ['hour', 'day', 'week', 'month', 'year']

interface TopUpProps {
  users: readonly UserLine[]
  /** Lines that name no user. */
  failures: readonly Failure[]
}

interface TopUpInput {
  /** For lines without units of their own. */
  units: string
  period: Period
  isThisWindowOnly: boolean
  reason: string
}

const FIRST_INPUT: TopUpInput = { units: '', period: 'month', isThisWindowOnly: true, reason: '' }

/** Gives each user of a file more units: asks how, finds the users' grants, shows what would change, and does it. */
export function TopUp({ users, failures }: TopUpProps) {
  const [input, setInput] = useState(FIRST_INPUT)
  const [step, setStep] = useState<'input' | 'preview' | Confirmed>('input')
  const [key] = useState(newIdempotencyKey)
  const queryClient = useQueryClient()
  if (users.length > MAX_SELECTED) return <Text role="alert">{topUp.tooMany(MAX_SELECTED)}</Text>
  return (
    <Stack gap="md">
      <Title order={2} size="h5">
        {topUp.heading(users.length)}
      </Title>
      {failures.length > 0 && <Text size="sm">{topUp.left(failures.length)}</Text>}
      <Failures failures={failures} failed={failures.length} />
      {step === 'input' && (
        <InputForm users={users} input={input} onChange={setInput} onNext={() => setStep('preview')} />
      )}
      {step === 'preview' && (
        <Preview users={users} input={input} changeKey={key} onConfirm={setStep} onBack={() => setStep('input')} />
      )}
      {typeof step === 'object' && (
        <JobView
          job={step.job}
          total={step.total}
          reportName="sms-quota-units"
          onEnd={() => void refetchDependents(queryClient)}
        >
          {() => (
            <Button component={Link} href="/quotas">
              {importing.toQuotas}
            </Button>
          )}
        </JobView>
      )}
    </Stack>
  )
}

interface InputFormProps {
  users: readonly UserLine[]
  input: TopUpInput
  onChange: (input: TopUpInput) => void
  onNext: () => void
}

function InputForm({ users, input, onChange, onNext }: InputFormProps) {
  const needsUnits = users.some(({ units }) => units === null)
  function submit(event: FormEvent) {
    event.preventDefault()
    onNext()
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="md" maw="32rem">
        {needsUnits ? (
          <TextInput
            label={topUp.units}
            inputMode="numeric"
            required
            pattern={UNITS_PATTERN}
            title={bulk.unitsHint}
            maxLength={13}
            value={input.units}
            onChange={event => onChange({ ...input, units: event.currentTarget.value })}
          />
        ) : (
          <Text size="sm">{topUp.unitsOfFile}</Text>
        )}
        <NativeSelect
          label={topUp.period}
          value={input.period}
          data={PERIODS.map(value => ({ value, label: topUp.periods[value] }))}
          onChange={event =>
            onChange({ ...input, period: PERIODS.find(one => one === event.currentTarget.value) ?? 'month' })
          }
        />
        <WindowChoice isThisWindowOnly={input.isThisWindowOnly} onChange={part => onChange({ ...input, ...part })} />
        <ReasonField reason={input.reason} onChange={part => onChange({ ...input, ...part })} />
        <Button type="submit" w="fit-content">
          {topUp.find}
        </Button>
      </Stack>
    </form>
  )
}

/** What the user has agreed to. */
interface Confirmed {
  job: Job
  /** Grants that get units. */
  total: number
}

interface PreviewProps {
  users: readonly UserLine[]
  input: TopUpInput
  changeKey: string
  onConfirm: (confirmed: Confirmed) => void
  onBack: () => void
}

/** Finds a grant for each user, and says who has none. */
function Preview({ users, input, changeKey, onConfirm, onBack }: PreviewProps) {
  const [done, setDone] = useState(0)
  const found = useQuery(fittingGrantsQuery(users, input.period, setDone))
  return (
    <Loaded query={found} loading={<Text role="status">{topUp.finding(done, users.length)}</Text>}>
      {grantsOf => {
        const { extras, without, several } = matched(users, grantsOf, Number(wholeNumber(input.units)))
        const confirmed = { job: jobOf(extras, input, changeKey), total: extras.length }
        return (
          <Stack gap="sm">
            <Text size="sm" fw={600} role="status">
              {topUp.found(extras.length)}{' '}
              {topUp.total(
                extras.length,
                extras.reduce((sum, { units }) => sum + units, 0),
              )}
            </Text>
            <Text size="sm">{input.isThisWindowOnly ? bulk.thisWindowAbout : bulk.everyWindowAbout}</Text>
            {without.length > 0 && <Text size="sm">{topUp.left(without.length)}</Text>}
            <Failures failures={without} failed={without.length} />
            {several.length > 0 && <Text size="sm">{topUp.notes}</Text>}
            <Failures failures={several} failed={several.length} />
            <Group gap="xs">
              {extras.length > 0 && (
                <Button onClick={() => onConfirm(confirmed)}>{topUp.confirm(extras.length)}</Button>
              )}
              <Button variant="default" onClick={onBack}>
                {bulk.back}
              </Button>
            </Group>
          </Stack>
        )
      }}
    </Loaded>
  )
}

/** The grant of each user that gets the units, and what the reader should know of the others. */
function matched(users: readonly UserLine[], grantsOf: ReadonlyMap<number, readonly Extra['quota'][]>, units: number) {
  const extras: Extra[] = []
  const without: Failure[] = []
  const several: Failure[] = []
  for (const { line, user_id, units: ownUnits } of users) {
    const grants = grantsOf.get(user_id) ?? []
    const place = `${jobs.line(line)}: ${topUp.user(user_id)}`
    const [first] = grants
    if (first === undefined) without.push({ place, reason: topUp.noGrant })
    else extras.push({ quota: first, units: ownUnits ?? units })
    if (grants.length > 1) several.push({ place, reason: topUp.several(grants.length) })
  }
  return { extras, without, several }
}

/** For one window, an import of extra grants. For good, a bulk adjustment for each number of units. */
function jobOf(extras: readonly Extra[], { isThisWindowOnly, reason }: TopUpInput, key: string): Job {
  if (isThisWindowOnly)
    return importJob(
      extras.map(extra => extraGrant(extra, reason, key, topUp.user(extra.quota.user_id))),
      { isDryRun: false },
    )
  const byUnits = Map.groupBy(extras, ({ units }) => units)
  const calls = [...byUnits].map(
    ([delta, group]): BulkCall => ({
      select: { ids: group.map(({ quota }) => quota.id) },
      change: { action: 'adjust', delta, reason },
      key: `${key}-${delta}`,
    }),
  )
  return bulkJob(calls)
}
