import { Button, Group, Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Loaded } from '../../../components/loaded.tsx'
import table from '../../../components/panel-table.module.css'
import { quotaName } from '../../../components/quota-labels.ts'
import { wholeNumber } from '../../../components/text-field.tsx'
import { formatTimestamp, formatUnits } from '../../../formats.ts'
import { grantsOfUsersQuery } from '../../../queries/many-quotas.ts'
import { manyTexts } from '../../../texts/many-quotas.ts'
import { texts } from '../../../texts/texts.ts'
import { saveFile } from '../jobs/download.ts'
import { Failures } from '../jobs/job-view.tsx'
import jobClasses from '../jobs/jobs.module.css'
import type { LineFailure, UserLine } from './rows.ts'
import { addsGrant, type TopUpInput } from './top-up-fields.tsx'
import { type Gift, type Plan, planOf, reportOf, unitsText, untilText } from './top-up-plan.ts'

const { topUp, bulk, jobs } = manyTexts

interface PreviewProps {
  users: readonly UserLine[]
  /** Lines that name no user. */
  failures: readonly LineFailure[]
  input: TopUpInput
  onConfirm: (plan: Plan) => void
  onBack: () => void
}

/** Finds a grant for each user, and says who gets units and who does not. */
export function TopUpPreview({ users, failures, input, onConfirm, onBack }: PreviewProps) {
  const [done, setDone] = useState(0)
  const found = useQuery(grantsOfUsersQuery(users, input.which, setDone))
  const isExtraGrant = addsGrant(input)
  return (
    <Loaded query={found} loading={<Text role="status">{topUp.finding(done, users.length)}</Text>}>
      {grantsOf => {
        const units = Number(wholeNumber(input.units))
        const { gifts, left, notes } = planOf(users, grantsOf, { units, reason: input.reason, isExtraGrant })
        const plan = { gifts, left: [...failures, ...left].sort((one, other) => one.line - other.line), notes }
        return (
          <Stack gap="sm">
            <Text size="sm" fw={600} role="status">
              {gifts.length === 0
                ? topUp.nobody
                : topUp.would(gifts.length, unitsText(gifts), untilText(gifts, isExtraGrant), input.reason)}
            </Text>
            <Text size="sm">{isExtraGrant ? topUp.repeatSafe : `${bulk.everyWindowAbout} ${topUp.repeatable}`}</Text>
            <Samples gifts={gifts} isExtraGrant={isExtraGrant} />
            {notes.length > 0 && <Text size="sm">{topUp.notes}</Text>}
            <Failures failures={notes} failed={notes.length} />
            {plan.left.length > 0 && <Text size="sm">{topUp.left(plan.left.length)}</Text>}
            <Failures failures={plan.left} failed={plan.left.length} />
            <Group gap="xs">
              {gifts.length > 0 && <Button onClick={() => onConfirm(plan)}>{topUp.confirm(gifts.length)}</Button>}
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
      }}
    </Loaded>
  )
}

/** Users that the preview shows; the report has all. */
const MAX_SAMPLES = 20

function Samples({ gifts, isExtraGrant }: { gifts: readonly Gift[]; isExtraGrant: boolean }) {
  if (gifts.length === 0) return null
  const { user, grant, limit, total, end } = topUp.sample
  const shown = gifts.slice(0, MAX_SAMPLES)
  return (
    <div className={jobClasses.texts}>
      <Table className={`${table.table} ${table.cards}`} captionSide="top">
        <Table.Caption className={jobClasses.caption ?? ''}>{topUp.samples(shown.length, gifts.length)}</Table.Caption>
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
          {shown.map(({ quota, units }) => (
            <Table.Tr key={quota.id}>
              <Table.Th scope="row">{quota.user_id}</Table.Th>
              <Table.Td data-label={grant}>
                <bdi>{quotaName(quota)}</bdi>
              </Table.Td>
              <Table.Td data-label={limit}>{formatUnits(quota.limit ?? 0)}</Table.Td>
              <Table.Td data-label={total}>{formatUnits((quota.limit ?? 0) + units)}</Table.Td>
              {isExtraGrant && (
                <Table.Td data-label={end}>
                  {quota.window_end === null ? texts.quotas.never : formatTimestamp(quota.window_end)}
                </Table.Td>
              )}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  )
}
