import { Fragment } from 'react'
import type { Api } from '../../api/types.ts'
import type { ViewedUser } from '../../model/addresses.ts'
import { texts } from '../../texts/texts.ts'
import { ReservationBadge } from '../badge.tsx'
import { unitsColumn } from '../columns.tsx'
import classes from '../data-table.module.css'
import { type Column, DataTable } from '../data-table.tsx'
import { destinationColumn } from '../destination-column.tsx'
import { MessageLink, QuotaLink } from '../links.tsx'
import { ExactTime, PrincipalName, TimeToTheSecond } from '../values.tsx'

type Reservation = Api['ReservationRecord']

interface TableProps {
  reservations: readonly Reservation[]
  user: ViewedUser
  /** Whether newer rows are being loaded. */
  isStale: boolean
}

export function ReservationTable({ reservations, user, isStale }: TableProps) {
  return (
    <DataTable
      look="records"
      label={texts.user.reservations.table}
      columns={columnsOf(user)}
      rows={reservations}
      keyOf={({ id }) => id}
      isStale={isStale}
    />
  )
}

function columnsOf(user: ViewedUser): Column<Reservation>[] {
  const { columns, noCountry } = texts.user.reservations
  return [
    {
      label: columns.reservation,
      cell: reservation => (
        <>
          <div className={classes.name}>
            <MessageLink user={user} id={reservation.id} />
          </div>
          <div className={classes.about}>
            <Origin reservation={reservation} />
          </div>
        </>
      ),
    },
    { label: columns.state, cell: reservation => <State reservation={reservation} isOwn={user.isOwn} /> },
    unitsColumn(columns.units, ({ units }) => units),
    destinationColumn(columns.destination, noCountry),
    { label: columns.chargedTo, kind: 'name', cell: ({ draws }) => <Draws draws={draws} user={user} /> },
    { label: columns.created, cell: ({ created_at }) => <TimeToTheSecond at={created_at} /> },
  ]
}

function State({ reservation, isOwn }: { reservation: Reservation; isOwn: boolean }) {
  const { state, expires_at } = reservation
  return (
    <>
      <ReservationBadge state={state} isOwn={isOwn} />
      <div className={classes.about}>
        {state === 'reserved' && expires_at !== null && texts.user.reservations.until(<ExactTime at={expires_at} />)}
        {partialUnitsText(reservation, isOwn)}
      </div>
    </>
  )
}

/** Who asked for the message, where the viewer may see that, and whether it went past all limits. */
function Origin({ reservation: { id, force, made_by = null } }: { reservation: Reservation }) {
  const { opening, transferred, by, forced } = texts.user.reservations
  // Ids of senders do not start with an underscore.
  if (id.startsWith('_')) return id.startsWith('_transfer:') ? transferred : opening
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
