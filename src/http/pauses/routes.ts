import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { createPauseOnce, liftPause } from '../../admin/pauses.ts'
import { PauseParams, PauseReq, PausesQuery } from '../../contract/pauses.ts'
import { IdempotencyHeaders } from '../../contract/schemas.ts'
import { listPauses, type PauseFilter } from '../../db/pauses/lists.ts'
import { findPause } from '../../db/pauses/pauses.ts'
import { DEFAULT_PAGE_SIZE, MAX_INTEGER } from '../../domain/bounds.ts'
import { pauseViewOf } from '../../domain/pause.ts'
import { authorOf } from '../changes/requests.ts'
import type { RouteContext } from '../context.ts'
import { cursorInteger, cursorsOf, pageRequestOf } from '../platform/cursors.ts'
import { operation } from '../platform/openapi.ts'
import { change, get } from '../platform/routes.ts'
import { draftOf } from './requests.ts'
import { noSuchPause, pauseOrThrow } from './responses.ts'

/** Pauses of destinations: `/api/sms/admin/pauses…`. */
export function pauseRoutes(server: FastifyInstance, context: RouteContext): void {
  readRoutes(server, context)
  changeRoutes(server, context)
}

const { page_size: _size, cursor: _cursor, ...filters } = PausesQuery.properties
const Filters = Type.Object(filters, { additionalProperties: false })

/** The filters of a list, and the last pause of a page. */
const cursors = cursorsOf(Type.Object({ filters: Filters, after: cursorInteger }, { additionalProperties: false }))

function readRoutes(server: FastifyInstance, { db, now }: RouteContext): void {
  get(server, '', {
    ...operation('Administrator', 'listPauses', 'List paused destinations', 'Newest first. Filters are combined.'),
    query: PausesQuery,
    answer: 'PausePage',
    handler: async request => {
      const { page_size: size = DEFAULT_PAGE_SIZE } = request.query
      const { filters, after = MAX_INTEGER } = pageRequestOf(
        request.query,
        Object.keys(Filters.properties),
        cursors.read,
      )
      const { active, ...others } = filters
      const filter: PauseFilter = active === undefined ? others : { ...others, active: active === 'true' }
      const at = now()
      const { pauses, next } = await listPauses(db, filter, after, size, at)
      return {
        items: pauses.map(pause => pauseViewOf(pause, at)),
        page_size: size,
        next_cursor: next && cursors.write({ filters, after: next }),
      }
    },
  })

  get(server, '/:id', {
    ...operation('Administrator', 'getPause', 'Read a pause'),
    params: PauseParams,
    answer: 'Pause',
    errors: ['not_found'],
    handler: async request => {
      const pause = await findPause(db, request.params.id)
      if (pause === undefined) throw noSuchPause(request.params.id)
      return pauseViewOf(pause, now())
    },
  })
}

function changeRoutes(server: FastifyInstance, { db, now, pauses }: RouteContext): void {
  /** So that the caller finds its change obeyed by this process. The job reads them in any case, and says if it cannot. */
  const obey = () => pauses.read().catch(() => {})

  change(server, 'POST', '', {
    ...operation(
      'Administrator',
      'createPause',
      'Pause a destination',
      'Messages of a user, or of all users, to a country are denied with the reason `destination_paused`, in every process within two seconds. `force` passes, and what was reserved before may be committed.',
    ),
    headers: IdempotencyHeaders,
    body: PauseReq,
    answer: { 201: Type.Ref('Pause#') },
    errors: ['too_many_pauses', 'idempotency_mismatch', 'being_erased'],
    handler: async (request, reply) => {
      const author = authorOf(request, now())
      const made = await createPauseOnce(db, draftOf(request.body), author, request.headers['idempotency-key'])
      const pause = pauseOrThrow(made)
      await obey()
      reply.code(201).header('location', `/api/sms/admin/pauses/${pause.id}`)
      return pauseViewOf(pause, author.now)
    },
  })

  change(server, 'DELETE', '/:id', {
    ...operation(
      'Administrator',
      'liftPause',
      'Lift a pause',
      'It stays in the list. To lift one that has ended or was lifted before changes nothing.',
    ),
    params: PauseParams,
    answer: null,
    errors: ['not_found'],
    handler: async (request, reply) => {
      const { id } = request.params
      pauseOrThrow(await liftPause(db, id, authorOf(request, now())), id)
      await obey()
      return reply.code(204).send(null)
    },
  })
}
