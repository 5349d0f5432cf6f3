import { Anchor, SegmentedControl } from '@mantine/core'
import { Link } from 'wouter'
import type { Api } from '../../api/types.ts'
import { EmptyState, Loaded, Loading } from '../../components/loaded.tsx'
import classes from '../../components/panel-table.module.css'
import { Section } from '../../components/section.tsx'
import { Table } from '../../components/table.tsx'
import { useUrlState } from '../../components/url-state.ts'
import { Units } from '../../components/values.tsx'
import { denialsUrl } from '../../model/denial-filters.ts'
import { oneOf } from '../../model/url-parameters.ts'
import { TOP_PERIODS, useTopUsers } from '../../queries/overview.ts'
import { texts } from '../../texts/texts.ts'

const STATE = { top: oneOf(TOP_PERIODS, 'today') }

/** Users with the most units, today or in the last 7 days including today. */
export function TopUsers() {
  const [{ top }, change] = useUrlState(STATE)
  const users = useTopUsers(top)
  const words = texts.overviewParts.top
  return (
    <Section
      isFramed
      title={words.title}
      aside={
        <SegmentedControl
          size="xs"
          aria-label={words.period}
          value={top}
          data={TOP_PERIODS.map(value => ({ value, label: words.periods[value] }))}
          onChange={value => change({ top: TOP_PERIODS.find(period => period === value) ?? 'today' })}
        />
      }
    >
      <Loaded query={users} loading={<Loading rows={5} height={30} />}>
        {({ from, items }) =>
          items.length === 0 ? (
            <EmptyState title={words.none[top]}>{words.noneAbout}</EmptyState>
          ) : (
            <Users users={items} from={from} isStale={users.isPlaceholderData} />
          )
        }
      </Loaded>
    </Section>
  )
}

function Users({ users, from, isStale }: { users: Api['TopUsers']['items']; from: string; isStale: boolean }) {
  const max = users[0]?.committed.units ?? 0
  const { title, columns } = texts.overviewParts.top
  return (
    <Table
      className={`${classes.table} ${classes.cards}`}
      aria-label={title}
      aria-busy={isStale}
      data-stale={isStale || undefined}
    >
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">{columns.user}</Table.Th>
          <Table.Th scope="col" className={classes.number}>
            {columns.units}
          </Table.Th>
          <Table.Th scope="col" className={classes.number}>
            {columns.messages}
          </Table.Th>
          <Table.Th scope="col" className={classes.number}>
            {columns.denied}
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {users.map(({ user_id, committed, denied }) => (
          <Table.Tr key={user_id}>
            <Table.Th scope="row">
              <Anchor component={Link} href={`/users/${user_id}`} size="sm" fw={600}>
                {texts.overviewParts.user(user_id)}
              </Anchor>
              <div className={classes.share} aria-hidden>
                <span style={{ width: `${max === 0 ? 0 : (committed.units / max) * 100}%` }} />
              </div>
            </Table.Th>
            <Table.Td data-label={columns.units} className={classes.number}>
              <Units value={committed.units} />
            </Table.Td>
            <Table.Td data-label={columns.messages} className={classes.number}>
              <Units value={committed.messages} />
            </Table.Td>
            <Table.Td data-label={columns.denied} className={classes.number}>
              {denied.units === 0 ? (
                <Units value={0} />
              ) : (
                <Anchor component={Link} href={denialsUrl({ from }, { user_id, isOwn: false })} size="sm">
                  <Units value={denied.units} />
                </Anchor>
              )}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}
