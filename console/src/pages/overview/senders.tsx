import { Anchor, Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { unitsColumn } from '../../components/columns.tsx'
import classes from '../../components/data-table.module.css'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { EmptyState, Loaded, Loading } from '../../components/loaded.tsx'
import { Pager } from '../../components/pager.tsx'
import { UserLink } from '../../components/user-link.tsx'
import { countryName } from '../../formats.ts'
import { blockUrl } from '../../model/addresses.ts'
import { denialsUrl } from '../../model/denial-filters.ts'
import { lastDay } from '../../model/time-ranges.ts'
import type { DestinationGroup, DestinationUser } from '../../model/traffic.ts'
import { useBlocksOfDestination } from '../../queries/overview.ts'
import { pausedUsersQuery } from '../../queries/pauses.ts'
import { useUsersOfDestination } from '../../queries/senders.ts'
import { changesQuotas } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import { BlockAll } from './block-all.tsx'
import { PauseAll } from './pause-all.tsx'
import { deniedColumn } from './user-columns.tsx'

interface SendersProps {
  group: DestinationGroup
  /** A country or a message type. */
  destination: string
}

const PAGE_SIZE = 50

/** The users who send to a destination, most first, and the way to a cap for each. Loaded when it is opened. */
export default function Senders({ group, destination }: SendersProps) {
  const users = useUsersOfDestination(group, destination)
  const blocks = useBlocksOfDestination(group, destination)
  const [page, setPage] = useState(1)
  const { all, top, none, table } = texts.overviewParts.senders
  const mayCap = changesQuotas(useCaller())
  const paused = usePausedUsers({ group, destination })
  return (
    <>
      <Loaded query={users} loading={<Loading rows={4} height={34} />}>
        {({ users, others }) => (
          <>
            {users.length === 0 ? (
              <EmptyState title={none} />
            ) : (
              <DataTable
                label={table}
                columns={columnsOf({ group, destination }, mayCap)}
                rows={users.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE)}
                keyOf={({ user_id }) => user_id}
              />
            )}
            {users.length > PAGE_SIZE && (
              <Pager page={page} page_size={PAGE_SIZE} total={users.length} onPage={setPage} />
            )}
            <p className={classes.more}>{others === null ? all : top(users.length, others)}</p>
          </>
        )}
      </Loaded>
      {mayCap && users.data !== undefined && blocks.data !== undefined && group === 'message_type' && (
        <BlockAll
          type={destination}
          users={users.data.users.map(({ user_id }) => user_id).filter(user_id => !blocks.data.has(user_id))}
          isAll={users.data.others === null}
        />
      )}
      {mayCap && users.data !== undefined && paused !== undefined && !paused.all && group === 'country' && (
        <PauseAll
          country={destination}
          users={users.data.users.map(({ user_id }) => user_id).filter(user_id => !paused.users.has(user_id))}
          isAll={users.data.others === null}
        />
      )}
    </>
  )
}

function columnsOf(to: SendersProps, mayCap: boolean): Column<DestinationUser>[] {
  const { columns } = texts.overviewParts.senders
  const filters = { [to.group]: to.destination, from: lastDay(new Date()).from }
  const action: Column<DestinationUser> = {
    label: columns.action,
    cardLabel: () => '',
    cell: ({ user_id }) => <CapLink user_id={user_id} {...to} />,
  }
  return [
    {
      label: columns.user,
      kind: 'user',
      cell: user => <UserLink user={user} unnamed={texts.overview.user(user.user_id)} />,
    },
    unitsColumn(columns.sent, ({ sent }) => sent),
    deniedColumn(
      columns.denied,
      ({ denied }) => denied,
      ({ user_id }) => denialsUrl(filters, { user_id, isOwn: false }),
    ),
    ...(mayCap ? [action] : []),
  ]
}

/** The users whose messages to a country are paused; undefined until it is read, and for a type. */
function usePausedUsers({ group, destination }: SendersProps) {
  return useQuery({ ...pausedUsersQuery(destination), enabled: group === 'country' }).data
}

/** Leads to the pause or the cap that stops the user's messages there, else to the form of one. */
function CapLink({ user_id, group, destination }: SendersProps & { user_id: number }) {
  const paused = usePausedUsers({ group, destination })
  const blocks = useBlocksOfDestination(group, destination)
  const { cap, capFor, blocked, blockedFor } = texts.overviewParts.senders
  const name = nameOf(group, destination)
  const block = blocks.data?.get(user_id)
  const { senders } = texts.pauses
  if (paused !== undefined && (paused.all || paused.users.has(user_id)))
    return (
      <Anchor
        component={Link}
        href={`/pauses?country=${destination}`}
        size="sm"
        aria-label={senders.pausedFor(name, user_id)}
      >
        {senders.paused}
      </Anchor>
    )
  if (blocks.isPending) return null
  if (block !== undefined)
    return (
      <Anchor component={Link} href={`/quotas/${block}`} size="sm" aria-label={blockedFor(name, user_id)}>
        {blocked}
      </Anchor>
    )
  if (group === 'country')
    return (
      <Button
        component={Link}
        href={`/pauses?pause=${destination}&for=${user_id}`}
        size="compact-xs"
        aria-label={senders.pauseFor(name, user_id)}
      >
        {senders.pause(name)}
      </Button>
    )
  return (
    <Button
      component={Link}
      href={blockUrl({ user_id, message_types: destination })}
      size="compact-xs"
      aria-label={capFor(name, user_id)}
    >
      {cap(name)}
    </Button>
  )
}

function nameOf(group: DestinationGroup, destination: string): string {
  return group === 'country' ? countryName(destination) : destination
}
