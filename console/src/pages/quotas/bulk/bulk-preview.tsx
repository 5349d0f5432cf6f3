import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { extraGrant } from '../../../../../src/domain/quotas/extra-grant.ts'
import type { Api } from '../../../api/types.ts'
import { statusLabel } from '../../../components/badge.tsx'
import { ErrorNotice } from '../../../components/error-notice.tsx'
import { Kind } from '../../../components/kind.tsx'
import { Loaded, Loading } from '../../../components/loaded.tsx'
import { quotaName } from '../../../components/quota-labels.ts'
import { UserName } from '../../../components/user-link.tsx'
import { formatTimestamp, formatUnits } from '../../../formats.ts'
import {
  type BulkAction,
  type BulkCall,
  type BulkInput,
  type Extra,
  type Selection,
  whyNoExtra,
} from '../../../model/bulk-change.ts'
import { wholeNumber } from '../../../model/typed.ts'
import type { ImportLine, Sample } from '../../../queries/jobs.ts'
import { bulkPreviewQuery, moreSamplesQuery, selectedQuotasQuery } from '../../../queries/many-quotas.ts'
import { texts } from '../../../texts/texts.ts'
import { ExtrasTable } from '../extras-table.tsx'
import { Failures, MORE_SHOWN } from '../jobs/job-view.tsx'
import classes from '../jobs/jobs.module.css'
import { PreviewTable } from '../jobs/preview-table.tsx'

const { bulk, jobs } = texts.manyQuotas

type Quota = Api['SmsQuota']

/** What the user has agreed to, and how many rows or quotas it is about. */
export type Confirmed = { call: BulkCall; total: number } | { lines: readonly ImportLine[]; total: number }

interface PreviewProps {
  selection: Selection
  onConfirm: (confirmed: Confirmed) => void
  onBack: () => void
}

/** What a bulk change would do, by a dry run of the service. */
export function BulkPreviewView({
  call,
  action,
  selection,
  onConfirm,
  onBack,
}: PreviewProps & { call: BulkCall; action: BulkAction }) {
  const preview = useQuery(bulkPreviewQuery(call, capsIn(selection)))
  return (
    <Loaded query={preview} loading={<Loading rows={6} height={32} />}>
      {({ changed, unchanged, failed, failures, samples, caps }) => (
        <Stack gap="sm">
          <Text size="sm" fw={600} role="status">
            {bulk.would[action](changed)}
          </Text>
          {unchanged > 0 && <Text size="sm">{bulk.unchanged(unchanged)}</Text>}
          {failed > 0 && <Text size="sm">{bulk.wouldFail(failed)}</Text>}
          {caps > 0 && <CapWarning action={action} call={call} caps={caps} />}
          <Samples call={call} selection={selection} first={samples} changed={changed} />
          <Failures failures={failures} failed={failed} />
          <Confirmation
            action={action}
            count={changed}
            onConfirm={() => onConfirm({ call, total: changed + unchanged + failed })}
            onBack={onBack}
          />
        </Stack>
      )}
    </Loaded>
  )
}

/** How many of the selected quotas are caps; null if only the service can tell. */
function capsIn(selection: Selection): number | null {
  if (selection.by === 'ids') return [...selection.quotas.values()].filter(({ kind }) => kind === 'cap').length
  const { kind } = selection.filters
  return kind === 'grant' ? 0 : null
}

function CapWarning({ action, call: { change }, caps }: { action: BulkAction; call: BulkCall; caps: number }) {
  const lifts = action === 'suspend' || action === 'delete'
  const raises = action === 'adjust' && Number(change.delta) > 0
  if (!lifts && !raises) return null
  return (
    <Text size="sm" fw={600} className={classes.warning}>
      <Kind kind="cap">{lifts ? bulk.liftsCaps(caps) : bulk.raisesCaps(caps)}</Kind>
    </Text>
  )
}

/** The quotas that would change, as they are and as they would be. */
function Samples({ call, selection, first, changed }: SamplesProps) {
  const more = useInfiniteQuery(moreSamplesQuery(call, selection, first, MORE_SHOWN))
  const samples = [...first, ...(more.data?.pages.flatMap(page => page.samples) ?? [])]
  return (
    <>
      <PreviewTable
        caption={bulk.samples(samples.length, changed)}
        columns={SAMPLE_COLUMNS}
        rows={samples}
        hidden={more.hasNextPage || more.data === undefined ? changed - samples.length : 0}
        keyOf={({ before }) => before.id}
        onMore={() => void more.fetchNextPage()}
        isLoading={more.isFetching}
      />
      <ErrorNotice variant="action" error={more.error} />
    </>
  )
}

interface SamplesProps {
  call: BulkCall
  selection: Selection
  /** Those that the dry run has shown. */
  first: readonly Sample[]
  /** How many would change. */
  changed: number
}

const SAMPLE_COLUMNS = [
  {
    label: texts.quotas.columns.name,
    cell: ({ before }: Sample) => (
      <Kind kind={before.kind}>
        <bdi>{quotaName(before)}</bdi>
      </Kind>
    ),
  },
  { label: texts.quotas.columns.user, cell: ({ before }: Sample) => <UserName user={before} /> },
  { label: bulk.change, cell: ({ before, after }: Sample) => differenceOf(before, after) },
]

function differenceOf(before: Quota, after: Quota): ReactNode {
  const limit = (quota: Quota) => (quota.limit === null ? texts.values.unlimited : formatUnits(quota.limit))
  const end = ({ expires_at }: Quota) => (expires_at === null ? texts.quotas.never : formatTimestamp(expires_at))
  const { columns } = texts.quotas
  const parts: [label: string, before: string, after: string][] = [
    [columns.limit, limit(before), limit(after)],
    [columns.expires_at, end(before), end(after)],
    [columns.status, statusLabel(before), statusLabel(after)],
  ]
  return parts
    .filter(([, old, next]) => old !== next)
    .map(([label, old, next]) => bulk.difference(label, old, next))
    .join(' · ')
}

interface ConfirmationProps {
  action: BulkAction
  count: number
  onConfirm: () => void
  onBack: () => void
}

/** The button that makes the change. A deletion cannot be undone, so it asks for the number of quotas. */
function Confirmation({ action, count, onConfirm, onBack }: ConfirmationProps) {
  const [typed, setTyped] = useState('')
  const isDeletion = action === 'delete'
  const isConfirmed = !isDeletion || wholeNumber(typed) === count
  return (
    <>
      {isDeletion && count > 0 && (
        <TextInput
          label={bulk.typeCount(count)}
          inputMode="numeric"
          maw="18rem"
          value={typed}
          onChange={event => setTyped(event.currentTarget.value)}
        />
      )}
      <Group gap="xs">
        {count > 0 && (
          <Button disabled={!isConfirmed} {...(isDeletion ? { color: 'red' } : {})} onClick={onConfirm}>
            {bulk.confirm[action](count)}
          </Button>
        )}
        <Button variant="default" onClick={onBack}>
          {bulk.back}
        </Button>
      </Group>
    </>
  )
}

interface ExtraPreviewProps extends PreviewProps {
  input: BulkInput
  changeKey: string
}

/** Which of the selected grants would get units for their current window, and why the others would not. */
export function ExtraPreviewView({ selection, input, changeKey, onConfirm, onBack }: ExtraPreviewProps) {
  const selected = useQuery(selectedQuotasQuery(selection))
  return (
    <Loaded query={selected} loading={<Loading rows={6} height={32} />}>
      {quotas => {
        const units = Number(wholeNumber(input.units))
        const extras: Extra[] = quotas
          .filter(quota => whyNoExtra(quota) === null)
          .map(quota => ({ quota, units, end: quota.window_end }))
        const left = quotas.flatMap(quota => {
          const why = whyNoExtra(quota)
          const place = jobs.quotaOfUser(quota.id, quota.user_id)
          return why === null ? [] : [{ place, reason: texts.manyQuotas.extra[why] }]
        })
        const lines = extras.map(extra => {
          const { id, user_id } = extra.quota
          return extraLine(extra, input.reason, `extra-${changeKey}-${id}`, jobs.quotaOfUser(id, user_id))
        })
        return (
          <Stack gap="sm">
            <Text size="sm" fw={600} role="status">
              {bulk.wouldAddExtra(extras.length, units)}
            </Text>
            <Text size="sm">{bulk.thisWindowAbout}</Text>
            {left.length > 0 && <Text size="sm">{bulk.leftOut(left.length)}</Text>}
            <Failures failures={left} failed={left.length} />
            <ExtrasTable extras={extras} />
            <Confirmation
              action="adjust"
              count={extras.length}
              onConfirm={() => onConfirm({ lines, total: lines.length })}
              onBack={onBack}
            />
          </Stack>
        )
      }}
    </Loaded>
  )
}

/**
 * The row of an import that gives the units.
 *
 * @param reference of the new grant, so that a repeated import gives nothing twice
 * @param place where the row comes from
 */
function extraLine(extra: Extra, reason: string, reference: string, place: string): ImportLine {
  const grant = extraGrant(extra, { name: texts.manyQuotas.extra.name(quotaName(extra.quota)), reason })
  return { json: JSON.stringify({ ...grant, external_ref: reference }), place }
}
