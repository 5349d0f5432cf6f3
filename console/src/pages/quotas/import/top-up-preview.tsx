import { Button, Group, Radio, Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Loaded } from '../../../components/loaded.tsx'
import notice from '../../../components/notice.module.css'
import table from '../../../components/panel-table.module.css'
import { quotaName } from '../../../components/quota-labels.ts'
import { wholeNumber } from '../../../components/text-field.tsx'
import { formatTimestamp, formatUnits } from '../../../formats.ts'
import { grantsOfUsersQuery } from '../../../queries/many-quotas.ts'
import { manyTexts } from '../../../texts/many-quotas.ts'
import { texts } from '../../../texts/texts.ts'
import { saveFile } from '../jobs/download.ts'
import { Failures, FIRST_SHOWN, ShowMore } from '../jobs/job-view.tsx'
import jobClasses from '../jobs/jobs.module.css'
import type { LineFailure, UserLine } from './rows.ts'
import { addsGrant, onceEndOf, type TopUpInput } from './top-up-fields.tsx'
import {
  earlierGifts,
  type Gift,
  inOrder,
  lastingText,
  type Plan,
  planOf,
  reportOf,
  unitsText,
  untilText,
  withoutEarlier,
} from './top-up-plan.ts'

const { topUp, bulk, jobs } = manyTexts

interface PreviewProps {
  users: readonly UserLine[]
  /** Lines that name no user. */
  failures: readonly LineFailure[]
  input: TopUpInput
  onConfirm: (plan: Plan) => void
  onOthers: GiveOthers
  onBack: () => void
}

/** Finds a grant for each user, and says who gets units and who does not. */
export function TopUpPreview({ users, failures, input, ...props }: PreviewProps) {
  const [done, setDone] = useState(0)
  const found = useQuery(grantsOfUsersQuery(users, input.which, setDone))
  return (
    <Loaded query={found} loading={<Text role="status">{topUp.finding(done, users.length)}</Text>}>
      {grantsOf => {
        const units = Number(wholeNumber(input.units))
        const onceEnd = onceEndOf(input)
        const plan = planOf(users, grantsOf, { ...input, units, isExtraGrant: addsGrant(input), onceEnd })
        return <PlanView plan={{ ...plan, left: inOrder([...failures, ...plan.left]) }} input={input} {...props} />
      }}
    </Loaded>
  )
}

interface PlanProps extends Pick<PreviewProps, 'input' | 'onConfirm' | 'onOthers' | 'onBack'> {
  plan: Plan
}

function PlanView({ plan: all, input, onConfirm, onOthers, onBack }: PlanProps) {
  const [again, setAgain] = useState<Again | null>(null)
  const isExtraGrant = addsGrant(input)
  const repeated = all.gifts.filter(({ earlier }) => earlier.length > 0).length
  const plan = again === 'leave' ? withoutEarlier(all) : all
  const { gifts, left, notes } = plan
  const isDecided = repeated === 0 || again !== null
  return (
    <Stack gap="sm">
      {repeated > 0 && <EarlierWarning plan={all} users={repeated} input={input} again={again} onChange={setAgain} />}
      <Text size="sm" fw={600} role="status">
        {gifts.length === 0
          ? topUp.nobody
          : topUp.would(gifts.length, unitsText(gifts), untilText(gifts, isExtraGrant), input.reason)}
        {repeated > 0 && again !== 'leave' && ` · ${topUp.again(repeated)}`}
      </Text>
      {gifts.length > 0 && left.length > 0 && <Text size="sm">{topUp.leftBelow(left.length)}</Text>}
      {!isExtraGrant && <Text size="sm">{`${bulk.everyWindowAbout} ${topUp.repeatable}`}</Text>}
      {notes.length > 0 && <Text size="sm">{topUp.notes}</Text>}
      <Failures failures={notes} failed={notes.length} />
      <Gifts gifts={gifts} isExtraGrant={isExtraGrant} />
      {left.length > 0 && <Text size="sm">{topUp.left(left.length)}</Text>}
      <Failures failures={left} failed={left.length} />
      {gifts.length > 0 && (
        <Text size="sm" fw={600}>
          {lastingText(
            gifts.map(({ end }) => end),
            isExtraGrant,
            monthZoneOf(plan, input),
          )}
        </Text>
      )}
      <Group gap="xs">
        {gifts.length > 0 && (
          <Button disabled={!isDecided} onClick={() => onConfirm(plan)}>
            {topUp.confirm(gifts.length)}
          </Button>
        )}
        {gifts.length === 0 && <OthersButtons plan={plan} input={input} onOthers={onOthers} />}
        <Button
          variant="default"
          onClick={() => saveFile('sms-quota-units-preview.csv', [reportOf(plan, isExtraGrant, null)])}
        >
          {jobs.report}
        </Button>
        <Button variant="default" onClick={onBack}>
          {bulk.back}
        </Button>
      </Group>
    </Stack>
  )
}

/** Begins a preview for users of the file who get units with another choice. */
export type GiveOthers = (input: TopUpInput, users: readonly UserLine[]) => void

interface OthersProps {
  plan: Plan
  input: TopUpInput
  onOthers: GiveOthers
}

/** Goes on to a preview for the users who are left out, with the choice that works for them, and says how long it lasts. */
export function OthersButtons({ plan, input, onOthers }: OthersProps) {
  return [...plan.others].map(([which, found]) => {
    const next = { ...input, which, onceEnd: onceEndOf(input), monthZone: plan.monthZone }
    return (
      <Group key={which} gap="xs">
        <Button
          variant="light"
          onClick={() =>
            onOthers(
              next,
              found.map(({ user }) => user),
            )
          }
        >
          {topUp.previewOthers(found.length, topUp.periods[which])}
        </Button>
        <Text size="sm">
          {lastingText(
            found.map(({ end }) => end),
            addsGrant(next),
            monthZoneOf(plan, next),
          )}
        </Text>
      </Group>
    )
  })
}

/** Where the month ends that the units end with; null if they end otherwise. */
function monthZoneOf({ monthZone }: Plan, input: TopUpInput): string | null {
  return input.which === 'once' && onceEndOf(input) === 'month' ? monthZone : null
}

/** What happens to users who already got units: they get them again, or are left out. */
type Again = 'give' | 'leave'

/** Gifts before that the warning names; the rest is only counted. */
const MAX_NAMED = 3

interface WarningProps {
  plan: Plan
  /** Who already got units. */
  users: number
  input: TopUpInput
  again: Again | null
  onChange: (again: Again) => void
}

/** Another reason makes the same file another gift. Nobody shall give twice without having decided to. */
function EarlierWarning({ plan: { gifts }, users, input, again, onChange }: WarningProps) {
  const when = topUp.during[input.which]
  const groups = earlierGifts(gifts)
  const [first, ...others] = groups
  return (
    <div className={notice.lifted} role="alert">
      <Text fw={700}>
        {first !== undefined && others.length === 0
          ? topUp.alreadyGot(users, when, first.text, first.reason)
          : topUp.alreadyGotUnits(users, when)}
      </Text>
      {others.length > 0 && (
        <ul className={jobClasses.places}>
          {groups.slice(0, MAX_NAMED).map(({ users: count, text, reason }) => (
            <li key={`${text} ${reason}`}>{topUp.earlier(count, text, reason)}</li>
          ))}
          {groups.length > MAX_NAMED && <li>{topUp.moreEarlier(groups.length - MAX_NAMED)}</li>}
        </ul>
      )}
      <Radio.Group
        mt="xs"
        label={topUp.decide}
        value={again}
        onChange={value => onChange(value === 'leave' ? 'leave' : 'give')}
      >
        <Stack gap={6} mt={6}>
          <Radio value="leave" label={topUp.leaveThem(users)} />
          <Radio value="give" label={topUp.giveAgain(users)} />
        </Stack>
      </Radio.Group>
    </div>
  )
}

function Gifts({ gifts, isExtraGrant }: { gifts: readonly Gift[]; isExtraGrant: boolean }) {
  const [count, setCount] = useState(FIRST_SHOWN)
  if (gifts.length === 0) return null
  const { user, grant, limit, total, end } = topUp.gift
  const shown = gifts.slice(0, count)
  return (
    <div className={jobClasses.texts}>
      <Table className={`${table.table} ${table.cards}`} captionSide="top">
        <Table.Caption className={jobClasses.caption ?? ''}>{topUp.gifts(shown.length, gifts.length)}</Table.Caption>
        <Table.Thead>
          <Table.Tr>
            {[user, grant, limit, total, ...(isExtraGrant ? [end] : [])].map(label => (
              <Table.Th key={label} scope="col">
                {label}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {shown.map(({ quota, units, end: endsAt }) => (
            <Table.Tr key={quota.id}>
              <Table.Th scope="row">{quota.user_id}</Table.Th>
              <Table.Td data-label={grant}>
                <bdi>{quotaName(quota)}</bdi>
              </Table.Td>
              <Table.Td data-label={limit}>{formatUnits(quota.limit ?? 0)}</Table.Td>
              <Table.Td data-label={total}>{formatUnits((quota.limit ?? 0) + units)}</Table.Td>
              {isExtraGrant && (
                <Table.Td data-label={end}>{endsAt === null ? texts.quotas.never : formatTimestamp(endsAt)}</Table.Td>
              )}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <ShowMore hidden={gifts.length - count} onMore={more => setCount(count + more)} />
    </div>
  )
}
