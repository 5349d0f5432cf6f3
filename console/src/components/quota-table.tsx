import { Anchor, Table, UnstyledButton } from '@mantine/core'
import { Link } from 'wouter'
import type { Api } from '../api/types.ts'
import { Kind } from './kind.tsx'
import { quotaName, type Sort } from './quota-labels.ts'
import classes from './record-table.module.css'
import { StatusBadge } from './status-badge.tsx'
import { UsageBar } from './usage-bar.tsx'
import { Timestamp, Units } from './values.tsx'

type Quota = Api['SmsQuota']

interface TableProps {
  quotas: readonly Quota[]
  /** The owner of the rows. `own` has no links, because only administrators can open quotas and users. */
  owner: 'all' | 'user' | 'own'
  sort: Sort
  onSort: (sort: Sort) => void
  canSortByRemaining: boolean
  /** Whether newer rows are being loaded. */
  isStale: boolean
}

/** A table of quotas; on narrow screens each row becomes a card with labeled cells. */
export function QuotaTable({ quotas, owner, sort, onSort, canSortByRemaining, isStale }: TableProps) {
  return (
    <Table className={classes.table ?? ''} aria-label="Quotas" aria-busy={isStale} data-stale={isStale || undefined}>
      <Table.Thead>
        <Table.Tr>
          <SortableHeading by="id" label="Quota" sort={sort} onSort={onSort} />
          {owner === 'all' && <Table.Th scope="col">User</Table.Th>}
          <Table.Th scope="col">Status</Table.Th>
          {canSortByRemaining ? (
            <SortableHeading by="remaining" label="Usage" sort={sort} onSort={onSort} />
          ) : (
            <Table.Th scope="col">Usage</Table.Th>
          )}
          <Table.Th scope="col" className={classes.number ?? ''}>
            Limit
          </Table.Th>
          <Table.Th scope="col">Window ends</Table.Th>
          <SortableHeading by="expires_at" label="Expires" sort={sort} onSort={onSort} />
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {quotas.map(quota => (
          <Row key={quota.id} quota={quota} owner={owner} />
        ))}
      </Table.Tbody>
    </Table>
  )
}

function Row({ quota, owner }: { quota: Quota; owner: TableProps['owner'] }) {
  const { id, user_id, kind, period } = quota
  const name = <bdi>{quotaName(quota)}</bdi>
  return (
    <Table.Tr>
      <Table.Th scope="row" data-label="Quota">
        {owner === 'own' ? (
          <span className={classes.name}>{name}</span>
        ) : (
          <Anchor component={Link} href={`/quotas/${id}`} size="sm" fw={600} className={classes.name ?? ''}>
            {name}
          </Anchor>
        )}
        <div className={classes.about}>
          <Kind kind={kind} /> · {period === null ? 'one-time' : `each ${period}`}
        </div>
      </Table.Th>
      {owner === 'all' && (
        <Table.Td data-label="User">
          <Anchor component={Link} href={`/users/${user_id}`} size="sm">
            {user_id}
          </Anchor>
        </Table.Td>
      )}
      <Table.Td data-label="Status">
        <StatusBadge status={quota.status} />
      </Table.Td>
      <Table.Td data-label="Usage" className={classes.usage ?? ''}>
        <UsageBar {...quota} />
      </Table.Td>
      <Table.Td data-label="Limit" className={classes.number ?? ''}>
        <Units value={quota.limit} />
      </Table.Td>
      <Table.Td data-label="Window ends">
        <Timestamp at={quota.window_end} none="Never" />
      </Table.Td>
      <Table.Td data-label="Expires">
        <Timestamp at={quota.expires_at} none="Never" />
      </Table.Td>
    </Table.Tr>
  )
}

interface HeadingProps extends Pick<TableProps, 'sort' | 'onSort'> {
  by: 'id' | 'remaining' | 'expires_at'
  label: string
}

function SortableHeading({ by, label, sort, onSort }: HeadingProps) {
  const order = sort === by ? 'ascending' : sort === `-${by}` ? 'descending' : 'none'
  // The first click sorts quotas by newest and other columns by soonest.
  const first: Sort = by === 'id' ? '-id' : by
  const second: Sort = by === 'id' ? 'id' : `-${by}`
  return (
    <Table.Th scope="col" aria-sort={order}>
      <UnstyledButton className={classes.sort ?? ''} onClick={() => onSort(sort === first ? second : first)}>
        {label}
        <span aria-hidden>{order === 'ascending' ? '↑' : order === 'descending' ? '↓' : '↕'}</span>
      </UnstyledButton>
    </Table.Th>
  )
}
