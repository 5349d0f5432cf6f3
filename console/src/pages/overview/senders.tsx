import { Anchor, Checkbox, NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { unitsColumn } from '../../components/columns.tsx'
import classes from '../../components/data-table.module.css'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { EmptyState, Loaded, Loading } from '../../components/loaded.tsx'
import { Pager } from '../../components/pager.tsx'
import { UserLink } from '../../components/user-link.tsx'
import { countryName, formatPercent } from '../../formats.ts'
import { denialsUrl } from '../../model/denial-filters.ts'
import {
  type DestinationUser,
  type DestinationUsers,
  SENDER_PERIODS,
  type SenderPeriod,
  senderRange,
  usersToStop,
} from '../../model/shares.ts'
import type { DestinationGroup } from '../../model/traffic.ts'
import { useBlocksOfDestination } from '../../queries/overview.ts'
import { pausedUsersQuery } from '../../queries/pauses.ts'
import { usersOfDestinationQuery } from '../../queries/senders.ts'
import { changesQuotas } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import type { SomeUsers } from '../../texts/en/some-users.ts'
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

const words = texts.overviewParts.senders

/** The users who send to a destination, most first, and the way to stop all or some of them. Loaded when it is opened. */
export default function Senders({ group, destination }: SendersProps) {
  const [period, setPeriod] = useState<SenderPeriod>('day')
  const users = useQuery(usersOfDestinationQuery(group, destination, period))
  return (
    <>
      <NativeSelect
        size="xs"
        mb="sm"
        label={words.period}
        value={period}
        data={SENDER_PERIODS.map(value => ({ value, label: words.periods[value] }))}
        onChange={({ currentTarget: { value } }) => setPeriod(SENDER_PERIODS.find(known => known === value) ?? 'day')}
      />
      <Loaded query={users} loading={<Loading rows={4} height={34} />}>
        {found =>
          found.users.length === 0 ? (
            <EmptyState title={words.none} />
          ) : (
            // Another period has other pages and other users to choose from.
            <Found key={period} {...{ group, destination, period, found }} isStale={users.isPlaceholderData} />
          )
        }
      </Loaded>
    </>
  )
}

interface FoundProps extends SendersProps {
  period: SenderPeriod
  found: DestinationUsers
  isStale: boolean
}

const NONE: ReadonlySet<number> = new Set()

function Found({ group, destination, period, found: { users, others }, isStale }: FoundProps) {
  const [page, setPage] = useState(1)
  const [chosen, setChosen] = useState(NONE)
  const mayStop = changesQuotas(useCaller())
  const stopped = useStopped({ group, destination })
  const rows = users.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE)
  const choose = (user_id: number, isChosen: boolean) =>
    setChosen(new Set(isChosen ? [...chosen, user_id] : [...chosen].filter(id => id !== user_id)))
  const stop: { users: readonly number[]; of: SomeUsers } = {
    users: stopped === null ? [] : usersToStop(users, chosen, id => stopped.isAll || stopped.links.has(id)),
    of: chosen.size > 0 ? 'chosen' : others === null ? 'all' : 'top',
  }
  return (
    <>
      <DataTable
        label={words.table}
        columns={[
          ...columnsOf({ group, destination }, period, stopped),
          ...(mayStop ? [selectColumn(chosen, choose)] : []),
        ]}
        rows={rows}
        keyOf={({ user_id }) => user_id}
        isStale={isStale}
      />
      {users.length > PAGE_SIZE && <Pager page={page} page_size={PAGE_SIZE} total={users.length} onPage={setPage} />}
      <p className={classes.more}>
        {others === null ? words.all(words.within[period]) : words.top(words.within[period], users.length, others)}
      </p>
      {mayStop && stopped !== null && group === 'message_type' && <BlockAll type={destination} {...stop} />}
      {mayStop && stopped?.isAll === false && group === 'country' && <PauseAll country={destination} {...stop} />}
    </>
  )
}

function selectColumn(
  chosen: ReadonlySet<number>,
  onChoose: (user_id: number, isChosen: boolean) => void,
): Column<DestinationUser> {
  return {
    label: words.columns.select,
    cell: ({ user_id }) => (
      <Checkbox
        size="xs"
        aria-label={words.select(user_id)}
        checked={chosen.has(user_id)}
        onChange={event => onChoose(user_id, event.currentTarget.checked)}
      />
    ),
  }
}

/** What stops messages to the destination already. */
interface Stopped {
  /** Whether a pause stops those of all users. */
  isAll: boolean
  /** What stops those of a user. */
  links: ReadonlyMap<number, { href: string; text: string; label: string }>
}

/** Pauses and caps of 0; null until both are read. */
function useStopped({ group, destination }: SendersProps): Stopped | null {
  const isCountry = group === 'country'
  const paused = useQuery({ ...pausedUsersQuery(destination), enabled: isCountry }).data
  const blocks = useBlocksOfDestination(group, destination).data
  if (blocks === undefined || (isCountry && paused === undefined)) return null
  const name = isCountry ? countryName(destination) : destination
  const { senders } = texts.pauses
  const blocked = [...blocks].map(([user, cap]) => {
    const link = { href: `/quotas/${cap}`, text: words.blocked, label: words.blockedFor(name, user) }
    return [user, link] as const
  })
  const href = `/pauses?country=${destination}`
  const ofUsers = [...(paused?.users ?? [])].map(user => {
    return [user, { href, text: senders.paused, label: senders.pausedFor(name, user) }] as const
  })
  return { isAll: paused?.all ?? false, links: new Map([...blocked, ...ofUsers]) }
}

function columnsOf(to: SendersProps, period: SenderPeriod, stopped: Stopped | null): Column<DestinationUser>[] {
  const { columns } = words
  const filters = { [to.group]: to.destination, from: senderRange(period, new Date()).from }
  return [
    {
      label: columns.user,
      kind: 'user',
      cell: user => (
        <>
          <UserLink user={user} unnamed={texts.overview.user(user.user_id)} />
          <StoppedBy stopped={stopped} user_id={user.user_id} />
        </>
      ),
    },
    unitsColumn(columns.sent, ({ sent }) => sent),
    { label: columns.share, kind: 'number', cell: ({ share }) => formatPercent(share) },
    deniedColumn(
      columns.denied,
      ({ denied }) => denied,
      ({ user_id }) => denialsUrl(filters, { user_id, isOwn: false }),
    ),
  ]
}

/** Leads to the pause or the cap that stops the user's messages there. */
function StoppedBy({ stopped, user_id }: { stopped: Stopped | null; user_id: number }) {
  const link = stopped?.links.get(user_id)
  if (link === undefined) return null
  return (
    <div className={classes.about}>
      <Anchor component={Link} href={link.href} inherit aria-label={link.label}>
        {link.text}
      </Anchor>
    </div>
  )
}
