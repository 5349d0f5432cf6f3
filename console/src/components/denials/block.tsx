import { Button, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Api } from '../../api/types.ts'
import { pageOf } from '../../queries/calls.ts'
import { changesQuotas } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import { ErrorNotice } from '../error-notice.tsx'
import { Loading } from '../loaded.tsx'
import { Actor, Timestamp } from '../values.tsx'

type Change = Api['QuotaChange']

interface BlockProps {
  quota: Api['SmsQuota']
  /** Without it there is no button. */
  onLift?: () => void
}

/** Who made a cap block everything, when and why, and the way to end it. */
export function Block({ quota, onLift }: BlockProps) {
  const { data, error } = useQuery(pageOf('GET /admin/quota/{id}/history', { id: quota.id, query: { cursor: null } }))
  const mayLift = changesQuotas(useCaller())
  const { block } = texts.denials.explanation
  if (error !== null) return <ErrorNotice variant="action" error={error} />
  if (data === undefined) return <Loading rows={2} height={20} />
  const set = data.items.find(isStart)
  const reason = set?.reason ?? quota.metadata.reason
  return (
    <>
      {/* The start is missing if the block is older than the first page of changes. */}
      {set !== undefined && <Text size="sm">{block.by(<Actor subject={set.actor} />, <Timestamp at={set.at} />)}</Text>}
      <Text size="sm">{reason === undefined ? block.noReason : block.reason(<bdi>{reason}</bdi>)}</Text>
      {mayLift && onLift !== undefined && (
        <Button size="xs" mt="xs" onClick={onLift}>
          {block.lift}
        </Button>
      )}
    </>
  )
}

/** Whether a change began the block. */
function isStart({ before, after }: Change): boolean {
  return after?.limit === 0 && before?.limit !== 0
}
