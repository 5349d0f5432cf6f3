import { Anchor, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import type { Api } from '../../api/types.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { Loading } from '../../components/loading.tsx'
import { quotaName } from '../../components/quota-labels.ts'
import classes from '../../components/record-table.module.css'
import type { ViewedUser } from '../../components/user/viewed-user.ts'
import { Timestamp } from '../../components/values.tsx'
import { type ChangeOfQuota, latestChanges } from './latest-changes.ts'

const COUNT = 20

const ACTION_LABELS: Record<Api['QuotaChange']['action'], string> = {
  created: 'Created',
  updated: 'Updated',
  deleted: 'Deleted',
}

/** The latest changes of all quotas of a user; the page of each quota shows the changed values. */
export default function Changes({ user: { user_id } }: { user: ViewedUser }) {
  const changes = useQuery({
    queryKey: ['history', { user_id }],
    queryFn: ({ signal }) => latestChanges(user_id, COUNT, signal),
  })
  if (changes.data === undefined) {
    return changes.error === null ? (
      <Loading rows={6} height={44} />
    ) : (
      <ErrorNotice variant="load" error={changes.error} onRetry={changes.refetch} />
    )
  }
  if (changes.data.length === 0) return <EmptyState title="No changes">This user has no quotas yet.</EmptyState>
  return (
    <>
      {changes.error !== null && <ErrorNotice variant="load" error={changes.error} onRetry={changes.refetch} />}
      <Table className={classes.table ?? ''} aria-label="Changes">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Quota</Table.Th>
            <Table.Th scope="col">Change</Table.Th>
            <Table.Th scope="col">Reason</Table.Th>
            <Table.Th scope="col">By</Table.Th>
            <Table.Th scope="col">At</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {changes.data.map(row => (
            <Row key={`${row.quota.id} ${row.change.version}`} {...row} />
          ))}
        </Table.Tbody>
      </Table>
      <Text size="sm" c="dimmed" mt="md">
        {changes.data.length === COUNT ? `The latest ${COUNT} changes. ` : ''}Open a quota to see the changed values.
      </Text>
    </>
  )
}

function Row({ change, quota }: ChangeOfQuota) {
  const { action, version, reason, actor, at } = change
  return (
    <Table.Tr>
      <Table.Th scope="row" data-label="Quota">
        <Anchor component={Link} href={`/quotas/${quota.id}`} size="sm" className={classes.name ?? ''}>
          <bdi>{quotaName(quota)}</bdi>
        </Anchor>
      </Table.Th>
      <Table.Td data-label="Change">
        <div>
          {ACTION_LABELS[action]}
          <div className={classes.about}>Version {version}</div>
        </div>
      </Table.Td>
      <Table.Td data-label="Reason" className={classes.name ?? ''}>
        <bdi>{reason ?? '–'}</bdi>
      </Table.Td>
      <Table.Td data-label="By" className={classes.name ?? ''}>
        <bdi>{actor}</bdi>
      </Table.Td>
      <Table.Td data-label="At">
        <Timestamp at={at} />
      </Table.Td>
    </Table.Tr>
  )
}
