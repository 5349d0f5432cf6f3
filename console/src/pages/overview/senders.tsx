import { Anchor, Button } from '@mantine/core'
import { Link } from 'wouter'
import { EmptyState, Loaded, Loading } from '../../components/loaded.tsx'
import classes from '../../components/panel-table.module.css'
import { Table } from '../../components/table.tsx'
import { Units } from '../../components/values.tsx'
import { countryName } from '../../formats.ts'
import { blockUrl } from '../../model/addresses.ts'
import { denialsUrl } from '../../model/denial-filters.ts'
import { lastDay } from '../../model/time-ranges.ts'
import type { DestinationGroup } from '../../model/traffic.ts'
import { type DestinationUser, useBlocksOfDestination, useUsersOfDestination } from '../../queries/overview.ts'
import { changesQuotas } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import { BlockAll } from './block-all.tsx'

interface SendersProps {
  group: DestinationGroup
  /** A country or a message type. */
  destination: string
}

/** The users who send to a destination, most first, and the way to a cap for each. Loaded when it is opened. */
export default function Senders({ group, destination }: SendersProps) {
  const users = useUsersOfDestination(group, destination)
  const blocks = useBlocksOfDestination(group, destination)
  const { about, none, table, columns } = texts.overviewParts.senders
  const mayCap = changesQuotas(useCaller())
  return (
    <>
      <Loaded query={users} loading={<Loading rows={4} height={34} />}>
        {found =>
          found.length === 0 ? (
            <EmptyState title={none} />
          ) : (
            <Table className={`${classes.table} ${classes.cards}`} aria-label={table}>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th scope="col">{columns.user}</Table.Th>
                  <Table.Th scope="col" className={classes.number}>
                    {columns.sent}
                  </Table.Th>
                  <Table.Th scope="col" className={classes.number}>
                    {columns.denied}
                  </Table.Th>
                  {mayCap && <Table.Th scope="col">{columns.action}</Table.Th>}
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {found.map(user => (
                  <Row key={user.user_id} user={user} group={group} destination={destination} mayCap={mayCap} />
                ))}
              </Table.Tbody>
            </Table>
          )
        }
      </Loaded>
      <p className={classes.more}>{about}</p>
      {mayCap && users.data !== undefined && blocks.data !== undefined && (
        <BlockAll
          group={group}
          destination={destination}
          name={nameOf(group, destination)}
          users={users.data.map(({ user_id }) => user_id).filter(user_id => !blocks.data.has(user_id))}
        />
      )}
    </>
  )
}

function Row({ user, group, destination, mayCap }: SendersProps & { user: DestinationUser; mayCap: boolean }) {
  const { user_id, sent, denied } = user
  const { columns } = texts.overviewParts.senders
  const denials = denialsUrl({ [group]: destination, from: lastDay(new Date()).from }, { user_id, isOwn: false })
  return (
    <Table.Tr>
      <Table.Th scope="row">
        <Anchor component={Link} href={`/users/${user_id}`} size="sm">
          {texts.overviewParts.user(user_id)}
        </Anchor>
      </Table.Th>
      <Table.Td data-label={columns.sent} className={classes.number}>
        <Units value={sent} />
      </Table.Td>
      <Table.Td data-label={columns.denied} className={classes.number}>
        {denied === 0 ? (
          <Units value={0} />
        ) : (
          <Anchor component={Link} href={denials} size="sm">
            <Units value={denied} />
          </Anchor>
        )}
      </Table.Td>
      {mayCap && (
        <Table.Td>
          <CapLink user_id={user_id} group={group} destination={destination} />
        </Table.Td>
      )}
    </Table.Tr>
  )
}

/** Leads to the cap that blocks the user's messages there, else to the form of one. */
function CapLink({ user_id, group, destination }: SendersProps & { user_id: number }) {
  const blocks = useBlocksOfDestination(group, destination)
  const { cap, capFor, blocked, blockedFor } = texts.overviewParts.senders
  const name = nameOf(group, destination)
  const block = blocks.data?.get(user_id)
  if (blocks.isPending) return null
  if (block !== undefined)
    return (
      <Anchor component={Link} href={`/quotas/${block}`} size="sm" aria-label={blockedFor(name, user_id)}>
        {blocked}
      </Anchor>
    )
  return (
    <Button
      component={Link}
      href={blockUrl({ user_id, [group === 'country' ? 'countries' : 'message_types']: destination })}
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
