import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import {
  AdminReservationParams,
  AdminReservationsQuery,
  UserReservationParams,
  UserReservationsQuery,
} from '../../contract/reservations.ts'
import { NoQuery } from '../../contract/schemas.ts'
import { userIdOf } from '../auth/guard.ts'
import type { RouteContext } from '../context.ts'
import { operation, readResponses } from '../platform/openapi.ts'
import { authoredRecord, ownReservation, reservationPage } from './responses.ts'

/** A user's own reservations: `/api/sms/quota/reservations…`. */
export function userReservationRoutes(server: FastifyInstance, { db }: RouteContext): void {
  const app = server.withTypeProvider<TypeBoxTypeProvider>()
  app.get(
    '/reservations',
    {
      schema: {
        ...operation(
          'User',
          'listMyReservations',
          'List my reservations',
          'Newest first. Reservations that retention has removed are not listed.',
        ),
        querystring: UserReservationsQuery,
        response: readResponses(Type.Ref('ReservationPage#')),
      },
    },
    request => reservationPage(db, request.query, { role: 'user', userId: userIdOf(request) }),
  )
  app.get(
    '/reservations/:id',
    {
      schema: {
        ...operation('User', 'getMyReservation', 'Read a reservation of mine'),
        params: UserReservationParams,
        querystring: NoQuery,
        response: readResponses(Type.Ref('ReservationDetail#'), ['not_found']),
      },
    },
    request => ownReservation(db, userIdOf(request), request.params.id),
  )
}

/** The reservations of all users: `/api/sms/admin/quota/reservations…`. */
export function adminReservationRoutes(server: FastifyInstance, { db }: RouteContext): void {
  const app = server.withTypeProvider<TypeBoxTypeProvider>()
  app.get(
    '/reservations',
    {
      schema: {
        ...operation(
          'Administrator',
          'listReservations',
          'List reservations',
          'Of all users or of one, newest first. Reservations that retention has removed are not listed.',
        ),
        querystring: AdminReservationsQuery,
        response: readResponses(Type.Ref('ReservationPage#')),
      },
    },
    request => reservationPage(db, request.query, { role: 'admin' }),
  )
  app.get(
    '/reservations/:user_id/:id',
    {
      schema: {
        ...operation(
          'Administrator',
          'getReservationOfUser',
          'Read a reservation',
          'With the senders that made, settled, forced and refunded it. One that is past its `expires_at` is shown as `reserved` until the service closes it.',
        ),
        params: AdminReservationParams,
        querystring: NoQuery,
        response: readResponses(Type.Ref('AuthoredRecord#'), ['not_found']),
      },
    },
    ({ params }) => authoredRecord(db, params.user_id, params.id),
  )
}
