import type { FastifyInstance } from 'fastify'
import { AdminReservationParams, UserReservationParams } from '../../contract/reservations.ts'
import { userIdOf } from '../auth/guard.ts'
import type { RouteContext } from '../context.ts'
import { operation } from '../platform/openapi.ts'
import { get } from '../platform/routes.ts'
import { getList } from '../resource/list.ts'
import { ownReservations, reservations } from './lists.ts'
import { authoredRecord, ownReservation } from './responses.ts'

/** A user's own reservations: `/api/sms/quota/reservations…`. */
export function userReservationRoutes(server: FastifyInstance, context: RouteContext): void {
  const { db } = context
  getList(server, '/reservations', context, ownReservations, {
    ...operation(
      'User',
      'listMyReservations',
      'List my reservations',
      'Newest first. Reservations that retention has removed are not listed.',
    ),
    answer: 'ReservationPage',
    isOwn: true,
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
export function adminReservationRoutes(server: FastifyInstance, context: RouteContext): void {
  const { db } = context
  getList(server, '/reservations', context, reservations, {
    ...operation(
      'Administrator',
      'listReservations',
      'List reservations',
      'Of all users or of one, newest first. Reservations that retention has removed are not listed.',
    ),
    answer: 'ReservationPage',
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
