import type { FastifyInstance } from 'fastify'
import {
  AdminReservationParams,
  AdminReservationsQuery,
  UserReservationParams,
  UserReservationsQuery,
} from '../../contract/reservations.ts'
import { userIdOf } from '../auth/guard.ts'
import type { RouteContext } from '../context.ts'
import { operation } from '../platform/openapi.ts'
import { get } from '../platform/routes.ts'
import { authoredRecord, ownReservation, reservationPage } from './responses.ts'

/** A user's own reservations: `/api/sms/quota/reservations…`. */
export function userReservationRoutes(server: FastifyInstance, { db }: RouteContext): void {
  get(server, '/reservations', {
    ...operation(
      'User',
      'listMyReservations',
      'List my reservations',
      'Newest first. Reservations that retention has removed are not listed.',
    ),
    query: UserReservationsQuery,
    answer: 'ReservationPage',
    handler: request => reservationPage(db, request.query, { role: 'user', userId: userIdOf(request) }),
  })
  get(server, '/reservations/:id', {
    ...operation('User', 'getMyReservation', 'Read a reservation of mine'),
    params: UserReservationParams,
    answer: 'ReservationDetail',
    errors: ['not_found'],
    handler: request => ownReservation(db, userIdOf(request), request.params.id),
  })
}

/** The reservations of all users: `/api/sms/admin/quota/reservations…`. */
export function adminReservationRoutes(server: FastifyInstance, { db }: RouteContext): void {
  get(server, '/reservations', {
    ...operation(
      'Administrator',
      'listReservations',
      'List reservations',
      'Of all users or of one, newest first. Reservations that retention has removed are not listed.',
    ),
    query: AdminReservationsQuery,
    answer: 'ReservationPage',
    handler: request => reservationPage(db, request.query, { role: 'admin' }),
  })
  get(server, '/reservations/:user_id/:id', {
    ...operation(
      'Administrator',
      'getReservationOfUser',
      'Read a reservation',
      'With the senders that made, settled, forced and refunded it. One that is past its `expires_at` is shown as `reserved` until the service closes it.',
    ),
    params: AdminReservationParams,
    answer: 'AuthoredRecord',
    errors: ['not_found'],
    handler: ({ params }) => authoredRecord(db, params.user_id, params.id),
  })
}
