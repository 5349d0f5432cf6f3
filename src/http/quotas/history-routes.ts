import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { QuotaParams } from '../../contract/quotas.ts'
import {
  AdminReservationsQuery,
  type RecordsQuery,
  RecordsQuery as RecordsQuerySchema,
  UserReservationsQuery,
} from '../../contract/records.ts'
import { changesOf, closedWindowsOf } from '../../db/quota-history.ts'
import type { Slice } from '../../db/slice.ts'
import { DEFAULT_PAGE_SIZE, MAX_INTEGER } from '../../domain/bounds.ts'
import { formatTimestamp } from '../../domain/time.ts'
import { closedWindowViewOf } from '../../domain/view.ts'
import { invalidRequest } from '../../errors.ts'
import { userIdOf } from '../auth/guard.ts'
import type { RouteContext } from '../context.ts'
import { cursorsOf } from '../platform/cursors.ts'
import { responses } from '../platform/openapi.ts'
import { reservationPage } from '../reservations/list.ts'
import { noSuchQuota } from './responses.ts'

/** What administrators look up: `/api/sms/admin/quota/reservations`, `…/{id}/history` and `…/{id}/windows`. */
export function adminRecordRoutes(server: FastifyInstance, { db, now }: RouteContext): void {
  const app = server.withTypeProvider<TypeBoxTypeProvider>()
  app.get(
    '/reservations',
    {
      schema: {
        operationId: 'listReservations',
        summary: 'List reservations',
        description: 'Of all users or of one, newest first. What retention has removed is not among them any more.',
        tags: ['Administrator'],
        querystring: AdminReservationsQuery,
        response: responses({ 200: Type.Ref('ReservationPage#') }, ['forbidden', 'invalid_request']),
      },
    },
    request => reservationPage(db, request.query, { role: 'admin' }),
  )

  const shared = { tags: ['Administrator'], params: QuotaParams, querystring: RecordsQuerySchema }

  app.get(
    '/:id/history',
    {
      schema: {
        ...shared,
        operationId: 'listChangesOfQuota',
        summary: 'Read the history of a quota',
        description: 'Every change that administrators made, newest first; of deleted quotas too.',
        response: responses({ 200: Type.Ref('QuotaHistory#') }, ['forbidden', 'invalid_request', 'not_found']),
      },
    },
    async request => {
      const { id } = request.params
      const { before, size } = startOf(id, request.query)
      const slice = await changesOf(db, id, before, size)
      return pageOf(
        id,
        size,
        slice,
        change => ({ ...change, at: formatTimestamp(change.at) }),
        ({ version }) => version,
      )
    },
  )

  app.get(
    '/:id/windows',
    {
      schema: {
        ...shared,
        operationId: 'listWindowsOfQuota',
        summary: 'Read the past windows of a quota',
        description:
          'Windows that it has left behind, newest first; of deleted quotas too. What settles later corrects them. The last window of a quota that is over is the one it still shows.',
        response: responses({ 200: Type.Ref('QuotaWindowPage#') }, ['forbidden', 'invalid_request', 'not_found']),
      },
    },
    async request => {
      const { id } = request.params
      const { before, size } = startOf(id, request.query)
      const slice = await closedWindowsOf(db, id, before, size, now())
      return pageOf(id, size, slice, closedWindowViewOf, ({ window_no }) => window_no)
    },
  )
}

/** What users look up of their own: `/api/sms/quota/reservations`. */
export function userRecordRoutes(server: FastifyInstance, { db }: RouteContext): void {
  const app = server.withTypeProvider<TypeBoxTypeProvider>()

  app.get(
    '/reservations',
    {
      schema: {
        operationId: 'listMyReservations',
        summary: 'List my reservations',
        description: 'Newest first. What retention has removed is not among them any more.',
        tags: ['User'],
        querystring: UserReservationsQuery,
        response: responses({ 200: Type.Ref('ReservationPage#') }, ['forbidden', 'invalid_request']),
      },
    },
    request => reservationPage(db, request.query, { role: 'user', userId: userIdOf(request) }),
  )
}

/** Whose records, and the number before which the next page begins. */
const cursors = cursorsOf(
  Type.Object(
    {
      quota_id: Type.Integer({ minimum: 1, maximum: MAX_INTEGER }),
      before: Type.Integer({ minimum: 0, maximum: MAX_INTEGER }),
    },
    { additionalProperties: false },
  ),
)

function startOf(quotaId: number, query: RecordsQuery): { before: number; size: number } {
  const { page_size: size = DEFAULT_PAGE_SIZE, cursor } = query
  if (cursor === undefined) return { before: MAX_INTEGER, size }
  const { quota_id, before } = cursors.read(cursor)
  if (quota_id !== quotaId) throw invalidRequest([{ path: 'cursor', message: `belongs to another quota, ${quota_id}` }])
  return { before, size }
}

function pageOf<Item, Shown>(
  quotaId: number,
  size: number,
  slice: Slice<Item> | undefined,
  show: (item: Item) => Shown,
  numberOf: (item: Item) => number,
) {
  if (slice === undefined) throw noSuchQuota(quotaId)
  const last = slice.hasMore ? slice.items.at(-1) : undefined
  return {
    items: slice.items.map(show),
    page_size: size,
    next_cursor: last === undefined ? null : cursors.write({ quota_id: quotaId, before: numberOf(last) }),
  }
}
