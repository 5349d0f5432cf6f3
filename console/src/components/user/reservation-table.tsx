import { Anchor, Table } from '@mantine/core'
import { Fragment } from 'react'
import { Link } from 'wouter'
import type { Api } from '../../api/types.ts'
import { countryLabel, formatUnits } from '../../formats.ts'
import classes from '../record-table.module.css'
import { ReservationBadge } from '../reservation-badge.tsx'
import { Timestamp, Units } from '../values.tsx'

type Reservation = Api['ReservationRecord']

interface TableProps {
  reservations: readonly Reservation[]
  /** Names of quotas by id, as far as loaded. */
  names: ReadonlyMap<number, string>
  isOwn: boolean
  /** Whether newer rows are being loaded. */
  isStale: boolean
}

/** A table of reservations; on narrow screens each row becomes a card. */
export function ReservationTable({ reservations, names, isOwn, isStale }: TableProps) {
  return (
    <Table
      className={classes.table ?? ''}
      aria-label="Reservations"
      aria-busy={isStale}
      data-stale={isStale || undefined}
    >
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">Reservation</Table.Th>
          <Table.Th scope="col">State</Table.Th>
          <Table.Th scope="col" className={classes.number ?? ''}>
            Units
          </Table.Th>
          <Table.Th scope="col">For</Table.Th>
          <Table.Th scope="col">Charged to</Table.Th>
          <Table.Th scope="col">Created</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {reservations.map(reservation => (
          <Row key={reservation.id} reservation={reservation} names={names} isOwn={isOwn} />
        ))}
      </Table.Tbody>
    </Table>
  )
}

function Row({ reservation, names, isOwn }: Pick<TableProps, 'names' | 'isOwn'> & { reservation: Reservation }) {
  const { id, state, units, country, message_type } = reservation
  return (
    <Table.Tr>
      <Table.Th scope="row" data-label="Reservation">
        <bdi className={classes.name}>{id}</bdi>
        <div className={classes.about}>{methodText(reservation)}</div>
      </Table.Th>
      <Table.Td data-label="State">
        <div>
          <ReservationBadge state={state} />
          {state === 'reserved' && (
            <div className={classes.about}>
              Until <Timestamp at={reservation.expires_at} />
            </div>
          )}
        </div>
      </Table.Td>
      <Table.Td data-label="Units" className={classes.number ?? ''}>
        <div>
          <Units value={units} />
          <div className={classes.about}>{partialUnitsText(reservation)}</div>
        </div>
      </Table.Td>
      <Table.Td data-label="For">
        <div>
          {country === null ? 'No country' : countryLabel(country)}
          {message_type !== null && <div className={`${classes.about} ${classes.name}`}>{message_type}</div>}
        </div>
      </Table.Td>
      <Table.Td data-label="Charged to">
        <div className={classes.name}>
          <Draws reservation={reservation} names={names} isOwn={isOwn} />
        </div>
      </Table.Td>
      <Table.Td data-label="Created">
        <Timestamp at={reservation.created_at} />
      </Table.Td>
    </Table.Tr>
  )
}

function methodText({ op, force, id }: Reservation): string {
  // Ids of senders do not start with an underscore.
  if (id.startsWith('_')) return 'Opening balance'
  const how = op === 'reserve' ? 'Reserved' : 'Consumed directly'
  return force ? `${how}, forced` : how
}

/** Partial amounts that the state alone does not show. */
function partialUnitsText({ units, asked, committed, released, refunded }: Reservation): string {
  const parts = [
    ...(asked > units ? [`${formatUnits(asked)} requested`] : []),
    ...(committed > 0 && committed < units ? [`${formatUnits(committed)} committed`] : []),
    ...(released > 0 && released < units ? [`${formatUnits(released)} released`] : []),
    ...(refunded > 0 && refunded < units ? [`${formatUnits(refunded)} refunded`] : []),
  ]
  return parts.join(' · ')
}

function Draws({
  reservation: { draws },
  names,
  isOwn,
}: Pick<TableProps, 'names' | 'isOwn'> & { reservation: Reservation }) {
  if (draws.length === 0) return 'No quota'
  return draws.map(({ quota_id, kind }, index) => {
    const name = <bdi>{names.get(quota_id) ?? `${kind === 'grant' ? 'Grant' : 'Cap'} ${quota_id}`}</bdi>
    return (
      <Fragment key={quota_id}>
        {index > 0 && ', '}
        {isOwn ? (
          name
        ) : (
          <Anchor component={Link} href={`/quotas/${quota_id}`} size="sm">
            {name}
          </Anchor>
        )}
      </Fragment>
    )
  })
}
