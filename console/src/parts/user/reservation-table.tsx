import { Anchor, Table } from '@mantine/core'
import { Fragment } from 'react'
import { Link } from 'wouter'
import type { Api } from '../../api/types.ts'
import { countryLabel } from '../country.ts'
import { Moment } from '../moment.tsx'
import classes from '../record-table.module.css'
import { ReservationBadge } from '../reservation-badge.tsx'
import { formatUnits, Units } from '../units.tsx'

type Record = Api['ReservationRecord']

interface TableProps {
  reservations: readonly Record[]
  /** What the quotas are called, as far as it is known. */
  names: ReadonlyMap<number, string>
  isOwn: boolean
  /** Whether other rows are on their way. */
  isOld: boolean
}

/** Reservations in rows; on narrow screens each is a card. */
export function ReservationTable({ reservations, names, isOwn, isOld }: TableProps) {
  return (
    <Table className={classes.table ?? ''} aria-label="Reservations" aria-busy={isOld} data-old={isOld || undefined}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">Reservation</Table.Th>
          <Table.Th scope="col">State</Table.Th>
          <Table.Th scope="col" className={classes.number ?? ''}>
            Units
          </Table.Th>
          <Table.Th scope="col">For</Table.Th>
          <Table.Th scope="col">Counted in</Table.Th>
          <Table.Th scope="col">Made</Table.Th>
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

function Row({ reservation, names, isOwn }: Pick<TableProps, 'names' | 'isOwn'> & { reservation: Record }) {
  const { id, state, units, country, message_type } = reservation
  return (
    <Table.Tr>
      <Table.Th scope="row" data-label="Reservation">
        <bdi className={classes.name}>{id}</bdi>
        <div className={classes.about}>{howWords(reservation)}</div>
      </Table.Th>
      <Table.Td data-label="State">
        <div>
          <ReservationBadge state={state} />
          {state === 'reserved' && (
            <div className={classes.about}>
              Until <Moment at={reservation.expires_at} />
            </div>
          )}
        </div>
      </Table.Td>
      <Table.Td data-label="Units" className={classes.number ?? ''}>
        <div>
          <Units value={units} />
          <div className={classes.about}>{partsWords(reservation)}</div>
        </div>
      </Table.Td>
      <Table.Td data-label="For">
        <div>
          {country === null ? 'No country told' : countryLabel(country)}
          {message_type !== null && <div className={`${classes.about} ${classes.name}`}>{message_type}</div>}
        </div>
      </Table.Td>
      <Table.Td data-label="Counted in">
        <div className={classes.name}>
          <Draws reservation={reservation} names={names} isOwn={isOwn} />
        </div>
      </Table.Td>
      <Table.Td data-label="Made">
        <Moment at={reservation.created_at} />
      </Table.Td>
    </Table.Tr>
  )
}

function howWords({ op, force, id }: Record): string {
  // No sender's id begins so.
  if (id.startsWith('_')) return 'Used before the quota was made'
  const how = op === 'reserve' ? 'Reserved first' : 'Sent at once'
  return force ? `${how}, past any limit` : how
}

/** What became of the units, where that is not all told by the state. */
function partsWords({ units, asked, committed, released, refunded }: Record): string {
  const parts = [
    ...(asked > units ? [`${formatUnits(asked)} asked for`] : []),
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
}: Pick<TableProps, 'names' | 'isOwn'> & { reservation: Record }) {
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
