import { Button, Checkbox, Group, Radio, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { UserLine } from '../../../../../src/domain/quotas/user-file.ts'
import { saveFile } from '../../../components/download.ts'
import { Loaded } from '../../../components/loaded.tsx'
import notice from '../../../components/notice.module.css'
import { addsGrant, type GiveInput, periodOf, type Which } from '../../../model/give-input.ts'
import {
  extrasOf,
  type Gift,
  inOrder,
  type LeftLine,
  type Plan,
  planOf,
  withGiftsOf,
  withoutEarlier,
} from '../../../model/give-plan.ts'
import { giftPreviewQuery } from '../../../queries/gifts.ts'
import { texts } from '../../../texts/texts.ts'
import { ExtrasTable } from '../extras-table.tsx'
import { Failures } from '../jobs/job-view.tsx'
import jobClasses from '../jobs/jobs.module.css'
import { lastingText, notesOn, reportOf, unitsText, untilText } from './give-report.ts'
import { earlierGifts, leftFailure } from './give-words.ts'

const { give, bulk, jobs } = texts.manyQuotas

/** A plan, and whether those of it who already got units get them again. */
export interface ConfirmedPlan extends Plan {
  again: boolean
}

interface PreviewProps {
  users: readonly UserLine[]
  /** Lines that name no user. */
  failures: readonly LeftLine[]
  input: GiveInput
  onConfirm: (plan: ConfirmedPlan) => void
  onBack: () => void
}

/** Asks the service who gets units and who does not. */
export function GivePreview({ users, failures, input, ...props }: PreviewProps) {
  const [done, setDone] = useState(0)
  const found = useQuery(giftPreviewQuery(users, input, setDone))
  return (
    <Loaded query={found} loading={<Text role="status">{give.finding(done, users.length)}</Text>}>
      {records => {
        const plan = planOf(users, records)
        return <PlanView plan={{ ...plan, left: inOrder([...failures, ...plan.left]) }} input={input} {...props} />
      }}
    </Loaded>
  )
}

interface PlanProps extends Pick<PreviewProps, 'input' | 'onConfirm' | 'onBack'> {
  plan: Plan
}

function PlanView({ plan: first, input, onConfirm, onBack }: PlanProps) {
  const [taken, setTaken] = useState<readonly Which[]>([])
  const [again, setAgain] = useState<Again | null>(null)
  const all = first.offers.filter(({ which }) => taken.includes(which)).reduce(withGiftsOf, first)
  const repeated = all.gifts.filter(({ earlier }) => earlier.length > 0).length
  const plan = again === 'leave' ? withoutEarlier(all) : all
  const { gifts } = plan
  const isDecided = repeated === 0 || again !== null
  const take = (which: readonly Which[]) => {
    setTaken(which)
    // The decision was about fewer users, or more.
    setAgain(null)
  }
  return (
    <Stack gap="sm">
      {repeated > 0 && <EarlierWarning plan={all} users={repeated} input={input} again={again} onChange={setAgain} />}
      <Text size="sm" fw={600} role="status">
        {gifts.length === 0
          ? give.noUser
          : give.would(
              gifts.length,
              gifts.length + plan.left.length,
              unitsText(gifts, true),
              untilText(gifts),
              input.reason,
            )}
        {again === 'give' && ` · ${give.again(repeated)}`}
      </Text>
      <LeftOut left={plan.left}>
        <Offers offers={first.offers} taken={taken} onChange={take} />
      </LeftOut>
      {!addsGrant(input) && <Text size="sm">{`${bulk.everyWindowAbout} ${give.repeatable}`}</Text>}
      <CapsInTheWay gifts={gifts} />
      {gifts.length > 0 && (
        <Text size="sm" fw={600}>
          {lastingText(gifts)}
        </Text>
      )}
      {!isDecided && <Text size="sm">{give.decideFirst}</Text>}
      <Group gap="xs">
        {gifts.length > 0 && (
          <Button disabled={!isDecided} onClick={() => onConfirm({ ...plan, again: again === 'give' })}>
            {give.confirm(gifts.length)}
          </Button>
        )}
        <Button
          variant="default"
          onClick={() =>
            saveFile('sms-quota-units-preview.csv', [reportOf([{ plan, progress: null, given: new Map() }])])
          }
        >
          {jobs.report}
        </Button>
        <Button variant="default" onClick={onBack}>
          {bulk.back}
        </Button>
      </Group>
      {/* Long lists come last: the button is seen without them. */}
      <Notes gifts={gifts} />
      <ExtrasTable extras={gifts.map(gift => ({ ...gift, end: gift.until }))} />
    </Stack>
  )
}

interface LeftOutProps {
  left: readonly LeftLine[]
  /** What can be done for them. */
  children?: ReactNode
}

/** Who gets nothing, and why. */
export function LeftOut({ left, children }: LeftOutProps) {
  return (
    <>
      {left.length > 0 && (
        <Text size="sm" fw={600}>
          {give.left(left.length)}
        </Text>
      )}
      {children}
      <Failures failures={left.map(leftFailure)} failed={left.length} label={give.leftOut} />
    </>
  )
}

/** What to know of those who get units, such as caps in the way. */
export function Notes({ gifts }: { gifts: readonly Gift[] }) {
  const notes = notesOn(gifts)
  if (notes.length === 0) return null
  return (
    <>
      <Text size="sm">{give.notes}</Text>
      <Failures failures={notes} failed={notes.length} label={give.notes} />
    </>
  )
}

/** How many cannot use all of their units. */
export function CapsInTheWay({ gifts }: { gifts: readonly Gift[] }) {
  const capped = gifts.filter(({ usable }) => usable !== null)
  if (capped.length === 0) return null
  const none = capped.filter(({ usable }) => usable === 0).length
  return <Text size="sm">{give.capped(capped.length, gifts.length, none)}</Text>
}

interface OffersProps extends Pick<Plan, 'offers'> {
  taken: readonly Which[]
  onChange: (taken: readonly Which[]) => void
}

/** Whether those who are left out get units, too, with the choice that works for them, and how long these last. */
function Offers({ offers, taken, onChange }: OffersProps) {
  return offers.map(({ which, gifts }) => (
    <Checkbox
      key={which}
      label={give.offer(gifts.length, give.periods[which])}
      description={extrasOf(gifts).length > 0 ? `${lastingText(gifts)} ${give.stays}` : lastingText(gifts)}
      checked={taken.includes(which)}
      onChange={event =>
        onChange(event.currentTarget.checked ? [...taken, which] : taken.filter(other => other !== which))
      }
    />
  ))
}

/** What happens to users who already got units: they get them again, or are left out. */
type Again = 'give' | 'leave'

/** Gifts before that the warning names; the rest is only counted. */
const MAX_NAMED = 3

interface WarningProps {
  plan: Plan
  /** Who already got units. */
  users: number
  input: GiveInput
  again: Again | null
  onChange: (again: Again) => void
}

/** Another reason makes the same file another gift. A user decides before giving twice. */
function EarlierWarning({ plan: { gifts }, users, input, again, onChange }: WarningProps) {
  const isOfFile = gifts.every(({ quota, earlier }) => earlier.length === 0 || periodOf(quota) === input.which)
  const when = give.during[isOfFile ? input.which : 'once']
  const groups = earlierGifts(gifts)
  const [first, ...others] = groups
  return (
    <div className={notice.lifted} role="alert">
      <Text fw={700}>
        {first !== undefined && others.length === 0
          ? give.alreadyGot(users, when, first.text, first.reason)
          : give.alreadyGotUnits(users, when)}
      </Text>
      {others.length > 0 && (
        <ul className={jobClasses.places}>
          {groups.slice(0, MAX_NAMED).map(({ users: count, text, reason }) => (
            <li key={`${text} ${reason}`}>{give.earlier(count, text, reason)}</li>
          ))}
          {groups.length > MAX_NAMED && <li>{give.moreEarlier(groups.length - MAX_NAMED)}</li>}
        </ul>
      )}
      <Radio.Group
        mt="xs"
        label={give.decide}
        value={again}
        onChange={value => onChange(value === 'leave' ? 'leave' : 'give')}
      >
        <Stack gap={6} mt={6}>
          <Radio value="leave" label={give.leaveThem(users)} />
          <Radio value="give" label={give.giveAgain(users)} />
        </Stack>
      </Radio.Group>
    </div>
  )
}
