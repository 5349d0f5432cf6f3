import { Anchor, Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { newIdempotencyKey } from '../../api/http.ts'
import { isOutdated } from '../../api/problem.ts'
import type { Api } from '../../api/types.ts'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { Loaded, Loading } from '../../components/loaded.tsx'
import { formatList, formatUnits } from '../../formats.ts'
import {
  type ConfirmedRollOut,
  previewSentences,
  type RollOutCall,
  type RollOutSelection,
} from '../../model/roll-out.ts'
import { refetchAfter } from '../../queries/calls.ts'
import { type RollOutPreview, type RollOutSample, rollOutJob, rollOutPreviewQuery } from '../../queries/roll-out.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import { fieldLabel, SETTINGS, settingText } from '../quota/settings.ts'
import { Failures, JobView } from '../quotas/jobs/job-view.tsx'
import jobs from '../quotas/jobs/jobs.module.css'
import classes from './plan.module.css'
import { EMPTY, SelectionForm } from './roll-out-selection.tsx'
import { unfinishedRollOut } from './unfinished.ts'

const words = texts.plans.rollOut

interface RollOutProps {
  plan: Api['PlanDetail']
  /** What was confirmed before a reload, and goes on. */
  confirmed: ConfirmedRollOut | null
  onClose: () => void
}

type Step = 'input' | RollOutSelection | ConfirmedRollOut

/** The roll-out of a plan: who gets it, what it would do, and then how far it is. */
export default function RollOut({ plan, confirmed, onClose }: RollOutProps) {
  const [step, setStep] = useState<Step>(confirmed ?? 'input')
  const [input, setInput] = useState(EMPTY)
  // One key for the preview and all attempts: what was confirmed is done at most once.
  const [key, setKey] = useState(newIdempotencyKey)
  /** Why what was confirmed is shown and asked about again: the plan was changed meanwhile. */
  const [refusal, setRefusal] = useState<Error | null>(null)
  const { subject } = useCaller()
  function start(select: RollOutSelection) {
    setRefusal(null)
    setStep(select)
  }
  if (step === 'input') return <SelectionForm {...{ plan, input, onClose }} onInput={setInput} onNext={start} />
  if ('call' in step)
    return (
      <JobView
        job={rollOutJob(step, step === confirmed)}
        total={step.total}
        reportName="sms-quota-roll-out"
        summary={({ counts }) => words.progress(counts.changed ?? 0, counts.unchanged ?? 0)}
        onEnd={(isDone, error) => {
          if (isDone || isOutdated(error)) unfinishedRollOut.forget()
          void refetchAfter('POST /admin/plans/{id}/roll-out').then(() => {
            if (!isOutdated(error)) return
            setRefusal(error)
            // The service keeps the version with a key.
            setKey(newIdempotencyKey())
            setStep(step.call.select)
          })
        }}
      >
        {() => <Button onClick={onClose}>{words.close}</Button>}
      </JobView>
    )
  return (
    <Preview
      plan={plan}
      refusal={refusal}
      call={{ plan_id: plan.id, version: plan.version, select: step, key }}
      onConfirm={next => {
        unfinishedRollOut.keep(next, subject)
        setStep(next)
      }}
      onBack={() => setStep('input')}
    />
  )
}

/* ── What it would do ───────────────────────────────────────────────────────────────────────────────────────────── */

interface PreviewProps extends Pick<RollOutProps, 'plan'> {
  call: RollOutCall
  refusal: Error | null
  onConfirm: (confirmed: ConfirmedRollOut) => void
  onBack: () => void
}

function Preview({ plan, call, refusal, onConfirm, onBack }: PreviewProps) {
  const preview = useQuery(rollOutPreviewQuery(call))
  return (
    <Loaded query={preview} loading={<Loading rows={5} height={32} />}>
      {found => {
        const { users, samples, failures } = found
        const total = users.changed + users.unchanged + users.failed
        return (
          <Stack gap="sm">
            <ErrorNotice variant="action" error={refusal} />
            <div role="status">
              {previewSentences(found, words.words).map(sentence => (
                <Text key={sentence} size="sm">
                  {sentence}
                </Text>
              ))}
            </div>
            <Exhausted preview={found} />
            <UsedBefore preview={found} record="carried" />
            <UsedBefore preview={found} record="again" />
            <Samples samples={samples} plan={plan} />
            <Failures failures={failures} failed={users.failed} />
            <Group gap="xs">
              {users.changed > 0 && (
                <Button onClick={() => onConfirm({ call, total, unchanged: users.unchanged })}>
                  {words.confirm(users.changed)}
                </Button>
              )}
              <Button variant="default" onClick={onBack}>
                {words.back}
              </Button>
            </Group>
          </Stack>
        )
      }}
    </Loaded>
  )
}

/** Users whose new limit is below what they have used, the first ones by their links. */
const MAX_NAMED = 10

function Exhausted({ preview: { exhausted, exhaustedUsers } }: { preview: RollOutPreview }) {
  if (exhausted === 0) return null
  const named = exhaustedUsers.slice(0, MAX_NAMED).toSorted((one, other) => one - other)
  return (
    <Text size="sm" className={classes.warning}>
      {words.aboutExhausted(<UserLinks ids={named} />, exhausted - named.length)}
    </Text>
  )
}

/** Users whose earlier quotas have used units, and how many. */
function UsedBefore({ preview, record }: { preview: RollOutPreview; record: 'carried' | 'again' }) {
  const count = preview[record]
  if (count === 0) return null
  const named = preview.usedBefore.filter(one => one.record === record).slice(0, MAX_NAMED)
  const used = new Map(named.map(({ user_id, slots }) => [user_id, formatList(slots.map(usedOfSlot))]))
  return (
    <Text size="sm" className={record === 'again' ? classes.warning : undefined}>
      {words.aboutUsed[record](<UserLinks ids={[...used.keys()]} notes={used} />, count - named.length)}
    </Text>
  )
}

const usedOfSlot = ({ slot, used }: RollOutPreview['usedBefore'][number]['slots'][number]) =>
  `${slot}: ${formatUnits(used)}`

function UserLinks({ ids, notes }: { ids: readonly number[]; notes?: ReadonlyMap<number, string> }) {
  return ids.map((id, index) => (
    <span key={id}>
      {index > 0 && ', '}
      <Anchor component={Link} href={`/users/${id}`} inherit underline="always">
        {id}
      </Anchor>
      {notes?.has(id) && ` (${notes.get(id)})`}
    </span>
  ))
}

/** Users who would change in the same way. */
interface Alike {
  change: string
  users: readonly number[]
}

/** The first users who would change; in most roll-outs, all change alike. */
function Samples({ samples, plan }: { samples: readonly RollOutSample[]; plan: Api['PlanDetail'] }) {
  if (samples.length === 0) return null
  const alike = [...Map.groupBy(samples, sample => changeText(sample, plan))].map(
    ([change, those]): Alike => ({
      change,
      users: those.map(({ user_id }) => user_id).toSorted((one, other) => one - other),
    }),
  )
  return (
    <div className={jobs.texts}>
      <DataTable
        caption={words.samples(samples.length)}
        columns={SAMPLE_COLUMNS}
        rows={alike}
        keyOf={({ change }) => change}
      />
    </div>
  )
}

const SAMPLE_COLUMNS: readonly Column<Alike>[] = [
  { label: words.columns.change, cell: ({ change }) => change },
  { label: words.columns.user, kind: 'name', cell: ({ users }) => <UserLinks ids={users} /> },
]

/** "Package: Limit 100 units → 200 units · Daily cap: new · 1 quota ended" */
function changeText({ slots, ended }: RollOutSample, plan: Api['PlanDetail']): string {
  const parts = slots.flatMap(slot => {
    const changes = slotChanges(slot)
    const name = plan.slots.find(one => one.slot === slot.slot)?.name ?? slot.slot
    return changes.length === 0 ? [] : [words.slot(name, changes.join(', '))]
  })
  if (ended > 0) parts.push(words.endedOf(ended))
  return parts.join(' · ') || words.onlyVersion
}

/** What becomes of the quota of a slot; nothing if it stays as the plan has it. */
function slotChanges({ outcome, changes, kept }: RollOutSample['slots'][number]): string[] {
  const [before, after] = [0, 1].map(at => valuesOf(changes, at))
  const changed = Object.keys(changes).map(name => {
    const [was, is] = [before, after].map(values => valueText(name, values))
    return was === undefined || is === undefined ? fieldLabel(name) : words.field(fieldLabel(name), was, is)
  })
  const own = Object.keys(kept).map(name => words.own(fieldLabel(name), valueText(name, kept)))
  return [
    ...(outcome === 'made' || outcome === 'replaced' ? [words.outcomes[outcome]] : changed),
    ...(own.length === 0 ? [] : [words.keeps(own)]),
  ]
}

/** The value of a field in words; undefined for one of a newer service. */
function valueText(name: string, values: object = {}): string | undefined {
  const setting = SETTINGS.find(known => known === name)
  return setting === undefined ? undefined : settingText(setting, values)
}

/** The values before or after, as those of a quota that is shown. */
function valuesOf(changes: RollOutSample['slots'][number]['changes'], at: number): object {
  return Object.fromEntries(Object.entries(changes).map(([name, values]) => [name, values[at]]))
}
