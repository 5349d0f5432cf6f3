import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { createPauseOnce, liftPause } from '../../admin/pauses/pauses.ts'
import { PauseParams, PauseReq, PausesQuery } from '../../contract/pauses.ts'
import { IdempotencyHeaders } from '../../contract/schemas.ts'
import { listPauses } from '../../db/pauses/lists.ts'
import { findPause } from '../../db/pauses/pauses.ts'
import { pauseViewOf } from '../../domain/pauses/pause.ts'
import { followRules } from '../changes/follow-rules.ts'
import { accepted, found } from '../changes/outcomes.ts'
import { authorOf } from '../changes/requests.ts'
import type { RouteContext } from '../context.ts'
import { cursorInteger } from '../platform/cursors.ts'
import { operation } from '../platform/openapi.ts'
import { change, get } from '../platform/routes.ts'
import { getList, listOf } from '../resource/list.ts'
import { draftOf } from './requests.ts'

/** Pauses of destinations: `/api/sms/admin/pauses…`. */
export function pauseRoutes(server: FastifyInstance, context: RouteContext): void {
  readRoutes(server, context)
  changeRoutes(server, context)
}

const pauseOf = (id?: number) => ({ what: 'pause', id })

const list = listOf({ query: PausesQuery, key: cursorInteger, read: listPauses, view: pauseViewOf })

function readRoutes(server: FastifyInstance, context: RouteContext): void {
  const { db, now } = context
  getList(server, '', context, list, {
    ...operation('Administrator', 'listPauses', 'List paused destinations', 'Newest first. Filters are combined.'),
    answer: 'PausePage',
  })

  get(server, '/:id', {
    ...operation('Administrator', 'getPause', 'Read a pause'),
    params: PauseParams,
    answer: 'Pause',
    errors: ['not_found'],
    handler: async ({ params: { id } }) => pauseViewOf(found(await findPause(db, id), pauseOf(id)), now()),
  })
}

function changeRoutes(server: FastifyInstance, { db, now, pauses }: RouteContext): void {
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
      const key = request.headers['idempotency-key']
      const made = accepted(await createPauseOnce(db, draftOf(request.body), author, key), pauseOf())
      const pause = made.outcome === 'replayed' ? made.answer : made.pause
      await followRules(pauses)
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
      accepted(await liftPause(db, id, authorOf(request, now())), pauseOf(id))
      await followRules(pauses)
      return reply.code(204).send(null)
    },
  })
}
