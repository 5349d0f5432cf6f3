import Type, { type Static, type TSchema } from 'typebox'
import { MAX_AGE_SECONDS, MAX_SCANNED_RESERVATIONS } from '../domain/basics/bounds.ts'
import { RECORDED_ACTIONS } from '../domain/units/authorship.ts'
import { RESERVATION_STATES } from '../domain/units/reservation.ts'
import { kind } from './quotas.ts'
import {
  closed,
  country,
  cursorPageOf,
  cursorQuery,
  messageType,
  nullable,
  patterned,
  positive,
  scannedPageOf,
  text,
  time,
  uint,
  userNames,
} from './schemas.ts'

/** Reservations, as senders get them and as lists show them. */

export const reservationId = patterned('reservationId', {
  description: "The sender's own id of the message or campaign, unique for the user. It makes calls safe to repeat.",
  examples: ['msg-1042'],
})

export const draws = Type.Array(
  Type.Object({
    quota_id: uint(),
    kind,
    units: uint({ description: 'Of a cap that counts messages: these.' }),
    window_start: time({ description: 'The start of the window that counts the units.' }),
  }),
  {
    description:
      'The quotas that count the units: the grants that pay, in the order they are drawn, then every matching cap.',
  },
)
export const unfunded = uint({ description: 'Units booked by force that no grant pays for.' })

export const rate = nullable(
  Type.Object({
    card_id: positive(),
    version: positive({ description: 'The list of prices that held.' }),
    per_segment: uint({ description: 'Units for each segment.' }),
    per_message: uint({ description: 'Units for the message, beside its segments.' }),
  }),
  {
    description:
      'What a rate card charged when the message was decided. null: none did, because the request named `units`, or the user has no card.',
  },
)

export const reservationFields = {
  id: reservationId,
  user_id: uint({ description: 'The user whose message it is.', examples: [7] }),
  state: Type.Enum([...RESERVATION_STATES]),
  units: uint({ description: 'Units granted.' }),
  segments: nullable(uint(), { description: 'The segments that the units pay. null without a `rate`.' }),
  rate,
  committed: uint({ description: 'Units of these that were committed, including refunded ones.' }),
  released: uint({ description: 'Units of these given back uncommitted, by the sender or at expiry.' }),
  refunded: uint({ description: 'Committed units given back.' }),
  unfunded,
  verified: Type.Boolean({ description: 'Whether the sender said that the code of the message was entered.' }),
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

/** Who made and settled a reservation. Users do not see it. */
const authors = {
  made_by: nullable(Type.String(), {
    description:
      'The sender that made it: the subject of its token. null if the service made it, or if that is not known.',
  }),
  settled_by: nullable(Type.String(), {
    description:
      'The sender that last committed, released or refunded units; null if none did, or if that is not known.',
  }),
}

const actions = Type.Array(
  Type.Object({
    action: Type.Enum([...RECORDED_ACTIONS], {
      description: '`force`: units were booked past the limits, or were asked to be. `refund`: units were given back.',
    }),
    total_units: uint({ description: 'The units committed (`force`) or refunded in all, after the action.' }),
    at: time(),
    by: nullable(Type.String(), { description: 'The subject of the token; null if that is not known.' }),
    request_id: Type.String({ description: '`X-Request-Id` of the call.' }),
  }),
  { description: 'Forced bookings and refunds, oldest first; of more than 100 the last ones.' },
)

export const AuthoredReservation = Type.Object(
  {
    ...reservationFields,
    user_ref: Type.Optional(Type.String({ description: 'As the request named the user.' })),
    ...authors,
    actions,
  },
  {
    $id: 'AuthoredReservation',
    description: 'A reservation, and which senders made, settled, forced and refunded it.',
  },
)

/* ── Lists ──────────────────────────────────────────────────────────────────────────────────────────────────────── */

const filters = {
  ...cursorQuery,
  state: Type.Optional(
    Type.Enum([...RESERVATION_STATES], {
      description: 'A reservation past its `expires_at` counts as `reserved` until the service closes it.',
    }),
  ),
  quota_id: Type.Optional(positive({ description: 'Only reservations that this quota counts.' })),
  country: Type.Optional(country({ description: 'Only messages to this country.' })),
  message_type: Type.Optional(messageType({ description: 'Only messages of this type.' })),
  from: Type.Optional(time({ description: 'Created at this time or later.' })),
  to: Type.Optional(time({ description: 'Created before this time.' })),
}

export const UserReservationsQuery = Type.Object(filters, closed)
export const AdminReservationsQuery = Type.Object(
  {
    ...filters,
    user_id: Type.Optional(uint({ description: "Only this user's reservations." })),
    sender: Type.Optional(text(255, { description: 'Only what this sender made: the subject of its token.' })),
  },
  closed,
)

export const SenderReservationsQuery = Type.Object(
  {
    ...cursorQuery,
    state: Type.Optional(
      Type.Enum([...RESERVATION_STATES], {
        default: 'reserved',
        description:
          'Only those in this state. `reserved` are the open ones, past their `expires_at`, too, until the service closes them.',
      }),
    ),
    user_id: Type.Optional(uint({ description: "Only this user's reservations." })),
    older_than: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_AGE_SECONDS,
        description: 'Only those made more than this many seconds ago. The cursor fixes the time.',
        examples: [3_600],
      }),
    ),
  },
  closed,
)

const recordFields = {
  ...reservationFields,
  ...userNames,
  id: Type.String({ description: "The sender's own id. The service's own ids begin with `_`." }),
  op: Type.Enum(['reserve', 'consume'], { description: 'The operation that created it.' }),
  asked: uint({ description: 'Units asked for. `units` is less after a partial grant.' }),
  country: nullable(Type.String(), { description: 'The destination; null if the sender did not name one.' }),
  message_type: nullable(Type.String()),
  allow_partial: Type.Boolean(),
  force: Type.Boolean({ description: 'Whether it was booked past any limit.' }),
  on_expiry: Type.Enum(['release', 'commit']),
  created_at: time(),
}

const anyId = patterned('anyReservationId')
export const AdminReservationParams = Type.Object({ user_id: uint(), id: anyId })
export const UserReservationParams = Type.Object({ id: anyId })

export const ReservationRecord = Type.Object(
  {
    ...recordFields,
    made_by: Type.Optional(authors.made_by),
    settled_by: Type.Optional(authors.settled_by),
  },
  {
    $id: 'ReservationRecord',
    description:
      'A reservation with its original request and the time of its creation. `made_by` and `settled_by` are for administrators only.',
  },
)

const changedAt = time({
  description: 'When units of it were last reserved, committed, released or refunded, or when it expired.',
})

export const ReservationDetail = Type.Object(
  { ...recordFields, changed_at: changedAt },
  {
    $id: 'ReservationDetail',
    description: 'A reservation with its original request, and when it was last changed.',
  },
)

export const AuthoredRecord = Type.Object(
  { ...recordFields, changed_at: changedAt, ...authors, actions },
  {
    $id: 'AuthoredRecord',
    description: 'A reservation with its original request, and which senders made, settled, forced and refunded it.',
  },
)

export const ReservationPage = scannedPageOf('ReservationRecord', {
  $id: 'ReservationPage',
  description: `Reservations, newest first. A call reads at most ${MAX_SCANNED_RESERVATIONS.toLocaleString('en')} reservations, so with filters a page may be short or even empty and still have a \`next_cursor\`.`,
})

export const SenderReservationPage = cursorPageOf('ReservationRecord', {
  $id: 'SenderReservationPage',
  description:
    "Reservations of one sender, user by user in no order that means anything; one user's by the time at which they expire. A call reads a bounded number of reservations, so a page may be short or even empty and still have a `next_cursor`.",
})

/** The named schemas of the OpenAPI document, by `$id`. */
export const RESERVATION_COMPONENTS = {
  Reservation,
  AuthoredReservation,
  ReservationRecord,
  ReservationDetail,
  AuthoredRecord,
  ReservationPage,
  SenderReservationPage,
} satisfies Record<string, TSchema>

export type Reservation = Static<typeof Reservation>
export type UserReservationsQuery = Static<typeof UserReservationsQuery>
export type AdminReservationsQuery = Static<typeof AdminReservationsQuery>
export type SenderReservationsQuery = Static<typeof SenderReservationsQuery>
export type AuthoredRecord = Static<typeof AuthoredRecord>
export type ReservationDetail = Static<typeof ReservationDetail>
export type ReservationRecord = Static<typeof ReservationRecord>
export type ReservationPage = Static<typeof ReservationPage, { 'ReservationRecord#': typeof ReservationRecord }>
export type SenderReservationPage = Static<
  typeof SenderReservationPage,
  { 'ReservationRecord#': typeof ReservationRecord }
>
