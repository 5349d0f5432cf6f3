import { Anchor, SegmentedControl, Table } from '@mantine/core'
import { Link } from 'wouter'
import type { Api } from '../../api/types.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Loading } from '../../components/loading.tsx'
import classes from '../../components/panel-table.module.css'
import { Section } from '../../components/section.tsx'
import { oneOf, useUrlState } from '../../components/url-state.ts'
import { Units } from '../../components/values.tsx'
import { TOP_PERIODS, type TopPeriod, useTopUsers } from './overview-queries.ts'

const STATE = { top: oneOf(TOP_PERIODS, 'today') }
const TOP_PERIOD_LABELS: Record<TopPeriod, string> = { today: 'Today', week: '7 days' }

/** Users with the most units, today or in the last 7 days including today. */
export function TopUsers() {
  const [{ top }, change] = useUrlState(STATE)
  const users = useTopUsers(top)
  return (
    <Section
      isFramed
      title="Top users"
      aside={
        <SegmentedControl
          size="xs"
          aria-label="Period"
          value={top}
          data={TOP_PERIODS.map(value => ({ value, label: TOP_PERIOD_LABELS[value] }))}
          onChange={value => change({ top: TOP_PERIODS.find(period => period === value) ?? 'today' })}
        />
      }
    >
      <Loaded query={users} loading={<Loading rows={5} height={30} />}>
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState title={top === 'today' ? 'No messages today' : 'No messages in the last 7 days'}>
              Users appear here after their first message.
            </EmptyState>
          ) : (
            <Users users={items} isStale={users.isPlaceholderData} />
          )
        }
      </Loaded>
    </Section>
  )
}

function Users({ users, isStale }: { users: Api['TopUsers']['items']; isStale: boolean }) {
  const max = users[0]?.committed.units ?? 0
  return (
    <Table className={classes.table ?? ''} aria-label="Top users" aria-busy={isStale} data-stale={isStale || undefined}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">User</Table.Th>
          <Table.Th scope="col" className={classes.number ?? ''}>
            Units
          </Table.Th>
          <Table.Th scope="col" className={classes.number ?? ''}>
            Messages
          </Table.Th>
          <Table.Th scope="col" className={classes.number ?? ''}>
            Denied
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {users.map(({ user_id, committed, denied }) => (
          <Table.Tr key={user_id}>
            <Table.Th scope="row">
              <Anchor component={Link} href={`/users/${user_id}`} size="sm" fw={600}>
                User {user_id}
              </Anchor>
              <div className={classes.share} aria-hidden>
                <span style={{ width: `${max === 0 ? 0 : (committed.units / max) * 100}%` }} />
              </div>
            </Table.Th>
            <Table.Td data-label="Units" className={classes.number ?? ''}>
              <Units value={committed.units} />
            </Table.Td>
            <Table.Td data-label="Messages" className={classes.number ?? ''}>
              <Units value={committed.messages} />
            </Table.Td>
            <Table.Td data-label="Denied" className={classes.number ?? ''}>
              <Units value={denied.units} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}
