import { Fragment } from 'react'
import type { Api } from '../../api/types.ts'
import { countryLabel } from '../../formats.ts'
import type { ViewedUser } from '../../model/addresses.ts'
import { texts } from '../../texts/texts.ts'
import { ReservationBadge } from '../badge.tsx'
import { MessageLink, QuotaLink } from '../links.tsx'
import classes from '../record-table.module.css'
import { Table } from '../table.tsx'
import { ExactTime, PrincipalName, Timestamp, Units } from '../values.tsx'

type Reservation = Api['ReservationRecord']

interface TableProps {
  reservations: readonly Reservation[]
  user: ViewedUser
  /** Whether newer rows are being loaded. */
  isStale: boolean
}

/** A table of reservations; on narrow screens each row becomes a card. */
export function ReservationTable({ reservations, user, isStale }: TableProps) {
  const { table, columns } = texts.user.reservations
  return (
    <Table className={classes.table} aria-label={table} aria-busy={isStale} data-stale={isStale || undefined}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">{columns.reservation}</Table.Th>
          <Table.Th scope="col">{columns.state}</Table.Th>
          <Table.Th scope="col" className={classes.number}>
            {columns.units}
          </Table.Th>
          <Table.Th scope="col">{columns.destination}</Table.Th>
          <Table.Th scope="col">{columns.chargedTo}</Table.Th>
          <Table.Th scope="col">{columns.created}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {reservations.map(reservation => (
          <Row key={reservation.id} reservation={reservation} user={user} />
        ))}
      </Table.Tbody>
    </Table>
  )
}

interface RowProps extends Pick<TableProps, 'user'> {
  reservation: Reservation
}

function Row({ reservation, user }: RowProps) {
  const { id, state, units, country, message_type } = reservation
  const { columns, until, noCountry } = texts.user.reservations
  return (
    <Table.Tr>
      <Table.Th scope="row" data-label={columns.reservation}>
        <div className={classes.name}>
          <MessageLink user={user} id={id} />
        </div>
        <div className={classes.about}>
          <Origin reservation={reservation} />
        </div>
      </Table.Th>
      <Table.Td data-label={columns.state}>
        <div>
          <ReservationBadge state={state} isOwn={user.isOwn} />
          <div className={classes.about}>
            {state === 'reserved' &&
              reservation.expires_at !== null &&
              until(<ExactTime at={reservation.expires_at} />)}
            {partialUnitsText(reservation, user.isOwn)}
          </div>
        </div>
      </Table.Td>
      <Table.Td data-label={columns.units} className={classes.number}>
        <Units value={units} />
      </Table.Td>
      <Table.Td data-label={columns.destination}>
        <div>
          {country === null ? noCountry : countryLabel(country)}
          {message_type !== null && <div className={`${classes.about} ${classes.name}`}>{message_type}</div>}
        </div>
      </Table.Td>
      <Table.Td data-label={columns.chargedTo}>
        <div className={classes.name}>
          <Draws draws={reservation.draws} user={user} />
        </div>
      </Table.Td>
      <Table.Td data-label={columns.created}>
        <Timestamp at={reservation.created_at} />
      </Table.Td>
    </Table.Tr>
  )
}

/** Who asked for the message, where the viewer may see that, and whether it went past all limits. */
function Origin({ reservation: { id, force, made_by = null } }: Pick<RowProps, 'reservation'>) {
  const { opening, by, forced } = texts.user.reservations
  // Ids of senders do not start with an underscore.
  if (id.startsWith('_')) return opening
  return (
    <>
      {made_by !== null && by(<PrincipalName subject={made_by} />)}
      {made_by !== null && force && ' · '}
      {force && forced}
    </>
  )
}

/** Partial amounts that the state alone does not show. */
function partialUnitsText({ units, asked, committed, released, refunded }: Reservation, isOwn: boolean): string {
  const { reservations } = texts.user
  const words = isOwn ? reservations.own : reservations
  const isPart = (part: number) => part > 0 && part < units
  return [
    ...(asked > units ? [reservations.requested(asked)] : []),
    ...(isPart(committed) ? [words.committed(committed)] : []),
    ...(isPart(released) ? [words.released(released)] : []),
    ...(isPart(refunded) ? [words.refunded(refunded)] : []),
  ].join(' · ')
}

interface DrawsProps extends Pick<TableProps, 'user'> {
  draws: Reservation['draws']
}

/** The grants that pay, and below them the caps that count the message: a cap charges nothing. */
function Draws({ draws, user }: DrawsProps) {
  const [grants, caps] = [draws.filter(({ kind }) => kind === 'grant'), draws.filter(({ kind }) => kind === 'cap')]
  const { noQuota, countedBy } = texts.user.reservations
  return (
    <>
      {grants.length === 0 ? noQuota : <QuotaLinks draws={grants} user={user} />}
      {caps.length > 0 && <div className={classes.about}>{countedBy(<QuotaLinks draws={caps} user={user} />)}</div>}
    </>
  )
}

function QuotaLinks({ draws, user }: DrawsProps) {
  return draws.map(({ quota_id, kind }, index) => (
    <Fragment key={quota_id}>
      {index > 0 && ', '}
      <QuotaLink id={quota_id} kind={kind} user={user} />
    </Fragment>
  ))
}
