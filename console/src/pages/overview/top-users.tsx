import { NativeSelect } from '@mantine/core'
import { unitsColumn } from '../../components/columns.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { EmptyState, Loaded, Loading } from '../../components/loaded.tsx'
import { Section } from '../../components/section.tsx'
import { useUrlState } from '../../components/url-state.ts'
import { UserLink } from '../../components/user-link.tsx'
import { formatPercent } from '../../formats.ts'
import { denialsUrl } from '../../model/denial-filters.ts'
import { type DestinationUser, SENDER_PERIODS } from '../../model/shares.ts'
import { oneOf } from '../../model/url-parameters.ts'
import { useTopUsers } from '../../queries/senders.ts'
import { texts } from '../../texts/texts.ts'
import { deniedColumn } from './user-columns.tsx'

const STATE = { top: oneOf(SENDER_PERIODS, 'day') }

/** Users with the most units of a period, each with the share of what all sent. */
export function TopUsers() {
  const [{ top }, change] = useUrlState(STATE)
  const users = useTopUsers(top)
  const { title, none, noneAbout } = texts.overviewParts.top
  const { period, periods } = texts.overviewParts.senders
  return (
    <Section
      isFramed
      title={title}
      aside={
        <NativeSelect
          size="xs"
          aria-label={period}
          value={top}
          data={SENDER_PERIODS.map(value => ({ value, label: periods[value] }))}
          onChange={({ currentTarget: { value } }) =>
            change({ top: SENDER_PERIODS.find(known => known === value) ?? 'day' })
          }
        />
      }
    >
      <Loaded query={users} loading={<Loading rows={5} height={30} />}>
        {({ from, users: rows }) =>
          rows.length === 0 ? (
            <EmptyState title={none}>{noneAbout}</EmptyState>
          ) : (
            <DataTable
              label={title}
              columns={columnsOf(from)}
              rows={rows}
              keyOf={({ user_id }) => user_id}
              isStale={users.isPlaceholderData}
            />
          )
        }
      </Loaded>
    </Section>
  )
}

function columnsOf(from: string): Column<DestinationUser>[] {
  const { columns } = texts.overviewParts.senders
  return [
    {
      label: columns.user,
      kind: 'user',
      cell: user => <UserLink user={user} unnamed={texts.overview.user(user.user_id)} fw={600} />,
    },
    unitsColumn(columns.sent, ({ sent }) => sent),
    { label: columns.share, kind: 'number', cell: ({ share }) => formatPercent(share) },
    deniedColumn(
      columns.denied,
      ({ denied }) => denied,
      ({ user_id }) => denialsUrl({ from }, { user_id, isOwn: false }),
    ),
  ]
}
