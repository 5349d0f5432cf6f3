import { Anchor, SegmentedControl, Table } from '@mantine/core'
import { Link } from 'wouter'
import type { Api } from '../../api/types.ts'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Loading } from '../../parts/loading.tsx'
import classes from '../../parts/rows.module.css'
import { Section } from '../../parts/section.tsx'
import { Units } from '../../parts/units.tsx'
import { oneOf, useUrlState } from '../../parts/url-state.ts'
import { TOP_PERIODS, type TopPeriod, useTopUsers } from './figures.ts'

const STATE = { top: oneOf(TOP_PERIODS, 'today') }
const PERIOD_WORDS: Record<TopPeriod, string> = { today: 'Today', week: '7 days' }

/** Who used most, of today or of the seven days that end with it. */
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
          data={TOP_PERIODS.map(value => ({ value, label: PERIOD_WORDS[value] }))}
          onChange={value => change({ top: TOP_PERIODS.find(period => period === value) ?? 'today' })}
        />
      }
    >
      <Loaded query={users} loading={<Loading rows={5} height={30} />}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title={top === 'today' ? 'Nothing was sent today' : 'Nothing was sent in 7 days'}>
              Users come here with their first message.
            </Empty>
          ) : (
            <Users users={items} isOld={users.isPlaceholderData} />
          )
        }
      </Loaded>
    </Section>
  )
}

function Users({ users, isOld }: { users: Api['TopUsers']['items']; isOld: boolean }) {
  const most = users[0]?.committed.units ?? 0
  return (
    <Table className={classes.table ?? ''} aria-label="Top users" aria-busy={isOld} data-old={isOld || undefined}>
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
                <span style={{ width: `${most === 0 ? 0 : (committed.units / most) * 100}%` }} />
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
