import { SegmentedControl } from '@mantine/core'
import type { Api } from '../../api/types.ts'
import { unitsColumn } from '../../components/columns.tsx'
import classes from '../../components/data-table.module.css'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { EmptyState, Loaded, Loading } from '../../components/loaded.tsx'
import { Section } from '../../components/section.tsx'
import { useUrlState } from '../../components/url-state.ts'
import { UserLink } from '../../components/user-link.tsx'
import { denialsUrl } from '../../model/denial-filters.ts'
import { oneOf } from '../../model/url-parameters.ts'
import { TOP_PERIODS, useTopUsers } from '../../queries/overview.ts'
import { texts } from '../../texts/texts.ts'
import { deniedColumn } from './user-columns.tsx'

type User = Api['TopUsers']['items'][number]

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
            <DataTable
              label={words.title}
              columns={columnsOf(items[0]?.committed.units ?? 0, from)}
              rows={items}
              keyOf={({ user_id }) => user_id}
              isStale={users.isPlaceholderData}
            />
          )
        }
      </Loaded>
    </Section>
  )
}

function columnsOf(max: number, from: string): Column<User>[] {
  const { columns } = texts.overviewParts.top
  return [
    {
      label: columns.user,
      kind: 'user',
      cell: user => (
        <>
          <UserLink user={user} unnamed={texts.overview.user(user.user_id)} fw={600} />
          <div className={classes.share} aria-hidden>
            <span style={{ width: `${max === 0 ? 0 : (user.committed.units / max) * 100}%` }} />
          </div>
        </>
      ),
    },
    unitsColumn(columns.units, ({ committed }) => committed.units),
    unitsColumn(columns.messages, ({ committed }) => committed.messages),
    deniedColumn(
      columns.denied,
      ({ denied }) => denied.units,
      ({ user_id }) => denialsUrl({ from }, { user_id, isOwn: false }),
    ),
  ]
}
