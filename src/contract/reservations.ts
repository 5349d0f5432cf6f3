import Type, { type Static, type TSchema } from 'typebox'
import { RESERVATION_ID_PATTERN } from '../domain/bounds.ts'
import { RESERVATION_STATES } from '../domain/reservation.ts'
import { kind } from './quotas.ts'
import { closed, cursorPageOf, cursorQuery, nullable, positive, time, uint } from './schemas.ts'

/** Reservations, as senders get them and as lists show them. */

export const reservationId = Type.String({
  pattern: RESERVATION_ID_PATTERN,
  description: "The sender's own id of the message or campaign, unique for the user. It makes calls safe to repeat.",
  examples: ['msg-1042'],
})

export const draws = Type.Array(
  Type.Object({
    quota_id: uint(),
    kind,
    units: uint(),
    window_start: time({ description: 'The start of the window that counts the units.' }),
  }),
  {
    description:
      'The quotas that count the units: the grants that pay, in the order they are drawn, then every matching cap.',
  },
)
export const unfunded = uint({ description: 'Units booked by force that no grant pays for.' })

export const reservationFields = {
  id: reservationId,
  user_id: uint({ description: 'The user whose message it is.', examples: [7] }),
  state: Type.Enum([...RESERVATION_STATES]),
  units: uint({ description: 'Units granted.' }),
  committed: uint({ description: 'Units of these that were committed, including refunded ones.' }),
  released: uint({ description: 'Units of these given back uncommitted, by the sender or at expiry.' }),
  refunded: uint({ description: 'Committed units given back.' }),
  unfunded,
  draws,
  expires_at: nullable(time(), {
    description:
      'When the outstanding units are released or committed. null if none are outstanding: after a consume, or when all units are settled.',
  }),
}

export const Reservation = Type.Object(reservationFields, {
  $id: 'Reservation',
  description: 'Units reserved for a message or campaign, and what happened to them.',
})

/* ── Lists ──────────────────────────────────────────────────────────────────────────────────────────────────────── */

const filters = {
  ...cursorQuery,
  state: Type.Optional(
    Type.Enum([...RESERVATION_STATES], {
      description: 'A reservation past its `expires_at` counts as `reserved` until the service closes it.',
    }),
  ),
  quota_id: Type.Optional(positive({ description: 'Only reservations that this quota counts.' })),
  from: Type.Optional(time({ description: 'Created at this time or later.' })),
  to: Type.Optional(time({ description: 'Created before this time.' })),
}

export const UserReservationsQuery = Type.Object(filters, closed)
export const AdminReservationsQuery = Type.Object(
  { ...filters, user_id: Type.Optional(uint({ description: "Only this user's reservations." })) },
  closed,
)

export const ReservationRecord = Type.Object(
  {
    ...reservationFields,
    id: Type.String({ description: "The sender's own id. The service's own ids begin with `_`." }),
    op: Type.Enum(['reserve', 'consume'], { description: 'The operation that created it.' }),
    asked: uint({ description: 'Units asked for. `units` is less after a partial grant.' }),
    country: nullable(Type.String(), { description: 'The destination; null if the sender did not name one.' }),
    message_type: nullable(Type.String()),
    allow_partial: Type.Boolean(),
    force: Type.Boolean({ description: 'Whether it was booked past any limit.' }),
    on_expiry: Type.Enum(['release', 'commit']),
    created_at: time(),
  },
  { $id: 'ReservationRecord', description: 'A reservation with its original request and the time of its creation.' },
)

export const ReservationPage = cursorPageOf('ReservationRecord', {
  $id: 'ReservationPage',
  description:
    'Reservations, newest first. A call reads a bounded number of reservations, so with filters a page may be short or even empty and still have a `next_cursor`.',
})

/** The named schemas of the OpenAPI document, by `$id`. */
export const RESERVATION_COMPONENTS = { Reservation, ReservationRecord, ReservationPage } satisfies Record<
  string,
  TSchema
>

export type Reservation = Static<typeof Reservation>
export type UserReservationsQuery = Static<typeof UserReservationsQuery>
export type AdminReservationsQuery = Static<typeof AdminReservationsQuery>
export type ReservationRecord = Static<typeof ReservationRecord>
export type ReservationPage = Static<typeof ReservationPage, { 'ReservationRecord#': typeof ReservationRecord }>
