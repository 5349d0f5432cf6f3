import { Anchor, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import type { Api } from '../../api/types.ts'
import { Empty } from '../../parts/empty.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Moment } from '../../parts/moment.tsx'
import { nameOfQuota } from '../../parts/quota-words.ts'
import classes from '../../parts/record-table.module.css'
import { type ChangeOfQuota, latestChanges } from './latest-changes.ts'

const COUNT = 20

const ACTION_WORDS: Record<Api['QuotaChange']['action'], string> = {
  created: 'Created',
  updated: 'Changed',
  deleted: 'Deleted',
}

/** Who changed what of a user's quotas lately. From what to what tells each quota's own page. */
export function Changes({ userId }: { userId: number }) {
  const changes = useQuery({
    queryKey: ['history', { user_id: userId }],
    queryFn: ({ signal }) => latestChanges(userId, COUNT, signal),
  })
  if (changes.data === undefined) {
    return changes.error === null ? (
      <Loading rows={6} height={44} />
    ) : (
      <Failure error={changes.error} onRetry={changes.refetch} />
    )
  }
  if (changes.data.length === 0)
    return <Empty title="No changes">Administrators have made no quota for this user.</Empty>
  return (
    <>
      {changes.error !== null && <Failure error={changes.error} onRetry={changes.refetch} />}
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
        {changes.data.length === COUNT ? `The latest ${COUNT} changes. ` : ''}What each one changed, from what to what,
        is on the page of its quota.
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
          <bdi>{nameOfQuota(quota)}</bdi>
        </Anchor>
      </Table.Th>
      <Table.Td data-label="Change">
        <div>
          {ACTION_WORDS[action]}
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
        <Moment at={at} />
      </Table.Td>
    </Table.Tr>
  )
}
