import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { Link } from 'wouter'
import { MAX_BULK_IDS } from '../../../../../src/domain/basics/bounds.ts'
import type { BadLine, UserLine } from '../../../../../src/domain/quotas/user-file.ts'
import { newIdempotencyKey } from '../../../api/http.ts'
import type { GiveInput } from '../../../model/give-input.ts'
import {
  extrasOf,
  type Gift,
  inputFor,
  leftOf as leftLineOf,
  type Offer,
  requestsOf,
  type UserRecord,
} from '../../../model/give-plan.ts'
import { type Failure, NOTHING_DONE, type Progress } from '../../../model/job.ts'
import { searchOf } from '../../../model/quota-lists.ts'
import { refetchAfter } from '../../../queries/calls.ts'
import { giveJob } from '../../../queries/gifts.ts'
import { texts } from '../../../texts/texts.ts'
import { JobView } from '../jobs/job-view.tsx'
import { GiveFields } from './give-fields.tsx'
import { CapsInTheWay, type ConfirmedPlan, GivePreview, LeftOut, Notes } from './give-preview.tsx'
import { giftsOf, lastingText, leftOf, type Run, reportOf, summaryOf } from './give-report.ts'
import { leftFailure } from './give-words.ts'
import classes from './import.module.css'
import { Undo } from './undo.tsx'

const { give, importing, bulk } = texts.manyQuotas

/** The list of the grants that imports have added. */
const EXTRAS = `/quotas?${searchOf({ name: texts.manyQuotas.extra.name('').trim() })}`

interface GiveUnitsProps {
  users: readonly UserLine[]
  /** Lines that name no user. */
  failures: readonly BadLine[]
}

const FIRST_INPUT: GiveInput = {
  units: '',
  which: 'month',
  isThisWindowOnly: true,
  onceEnd: null,
  monthZone: null,
  reason: '',
}

/** Users who were left out, and then get units with a choice of their own. */
interface Part {
  users: readonly UserLine[]
  input: GiveInput
  /** What was given to the others. */
  runs: readonly Run[]
}

/** Gives each user of a file more units: asks how, finds the users' grants, shows what would change, and does it. */
export function GiveUnits({ users: all, failures }: GiveUnitsProps) {
  const [inputOfAll, setInputOfAll] = useState(FIRST_INPUT)
  const [step, setStep] = useState<'input' | 'preview' | ConfirmedPlan>('input')
  const [part, setPart] = useState<Part | null>(null)
  const heading = useRef<HTMLHeadingElement>(null)
  // Buttons stand below long lists: what comes next begins above them.
  // biome-ignore lint/correctness/useExhaustiveDependencies: with each step
  useEffect(() => {
    void heading.current?.scrollIntoView({ block: 'center' })
  }, [step])
  if (all.length > MAX_BULK_IDS) return <Text role="alert">{give.tooMany(MAX_BULK_IDS)}</Text>
  const { users, input, runs } = part ?? { users: all, input: inputOfAll, runs: [] }
  const unnamed = part === null ? failures : []
  const change = (next: GiveInput) => (part === null ? setInputOfAll(next) : setPart({ ...part, input: next }))
  const goOn = (next: Part) => {
    setPart(next)
    setStep('preview')
  }
  const back = () => setStep('input')
  return (
    <Stack gap="md">
      <Group gap="sm">
        <Title order={2} size="h5" ref={heading}>
          {give.heading(typeof step === 'object' ? all.length : users.length)}
        </Title>
        {part !== null && step === 'input' && (
          <Button variant="subtle" size="compact-sm" onClick={() => setPart(null)}>
            {give.allOfFile(all.length)}
          </Button>
        )}
      </Group>
      {step === 'input' && (
        <>
          <LeftOut left={unnamed} />
          <GiveFields users={users} input={input} onChange={change} onNext={() => setStep('preview')} />
        </>
      )}
      {step === 'preview' && (
        <GivePreview users={users} failures={unnamed} input={input} onConfirm={setStep} onBack={back} />
      )}
      {typeof step === 'object' && (
        <Giving plan={step} users={users} input={input} earlier={runs} onPart={goOn} onBack={back} />
      )}
    </Stack>
  )
}

interface GivingProps {
  plan: ConfirmedPlan
  users: readonly UserLine[]
  input: GiveInput
  /** What was given to others of the file before, which the summary and the report have, too. */
  earlier: readonly Run[]
  onPart: (part: Part) => void
  onBack: () => void
}

/** Gives the units, and says who has received them and who has not. */
function Giving({ plan, users, input, earlier, onPart, onBack }: GivingProps) {
  const { gifts } = plan
  const [isUndoing, setUndoing] = useState(false)
  const [givenNow] = useState(() => new Map<number, Partial<Gift>>())
  const runsWith = (progress: Progress): readonly Run[] => [...earlier, { plan, progress, given: givenNow }]
  const runs = runsWith(NOTHING_DONE)
  const given = giftsOf(runs)
  const extras = extrasOf(given)
  const [job] = useState(() => {
    const requests = requestsOf(gifts, { reason: input.reason, again: plan.again })
    return giveJob(requests, newIdempotencyKey(), settler(gifts, givenNow))
  })
  return (
    <>
      <JobView
        job={job}
        total={gifts.length}
        reportName="sms-quota-units"
        summary={progress => summaryOf(runsWith(progress))}
        report={progress => reportOf(runsWith(progress))}
        onEnd={() => void refetchAfter('POST /admin/quota/give')}
      >
        {progress => (
          <>
            {plan.offers.map(offer => (
              <OfferButton
                key={offer.which}
                offer={offer}
                onPress={() => {
                  const lines = new Set(offer.gifts.map(({ line }) => line))
                  onPart({
                    users: users.filter(({ line }) => lines.has(line)),
                    input: inputFor(offer, input),
                    runs: runsWith(progress),
                  })
                }}
              />
            ))}
            <Button component={Link} href={extras.length > 0 ? EXTRAS : '/quotas'}>
              {extras.length > 0 ? importing.toExtras : importing.toQuotas}
            </Button>
            <Button variant="default" onClick={onBack}>
              {bulk.back}
            </Button>
            {!isUndoing && extras.length > 0 && (
              <Button variant="default" onClick={() => setUndoing(true)}>
                {give.undo.title}
              </Button>
            )}
          </>
        )}
      </JobView>
      {extras.length > 0 && <Text size="sm">{give.undo.later(texts.manyQuotas.extra.name(''))}</Text>}
      {isUndoing && <Undo gifts={given} onClose={() => setUndoing(false)} />}
      <LeftOut left={leftOf(runs)} />
      <CapsInTheWay gifts={given} />
      <Notes gifts={given} />
    </>
  )
}

/** Keeps what the service gives, by user, and says why a user gets nothing after all. */
function settler(gifts: readonly Gift[], given: Map<number, Partial<Gift>>) {
  const lineOf = new Map(gifts.map(({ line, quota }) => [quota.user_id, line]))
  return (record: UserRecord): Failure | null => {
    const { user_id } = record
    if (record.record === 'given') given.set(user_id, record.gift)
    if (record.record === 'given_before') {
      const { units, until, reference } = record
      given.set(user_id, { units, until, reference })
    }
    const left = leftLineOf(lineOf.get(user_id) ?? 0, record)
    return left && { ...leftFailure(left), subject: user_id }
  }
}

/** Goes on to a preview for users who are left out, and says how long their units would last. */
function OfferButton({ offer: { which, gifts }, onPress }: { offer: Offer; onPress: () => void }) {
  return (
    <Group gap="xs">
      <Button variant="light" className={classes.long} onClick={onPress}>
        {give.previewOthers(gifts.length, give.periods[which])}
      </Button>
      <Text size="sm">{lastingText(gifts)}</Text>
    </Group>
  )
}
