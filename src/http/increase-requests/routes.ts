import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import type { Repeated } from '../../admin/kit/idempotency.ts'
import {
  approveRequest,
  declineRequest,
  makeRequestOnce,
  type RequestDraft,
  type RequestMade,
  withdrawRequest,
} from '../../admin/quotas/increase-requests.ts'
import {
  ApproveReq,
  DeclineReq,
  IncreaseForUserReq,
  IncreaseReq,
  IncreaseRequestParams,
  IncreaseRequestsQuery,
  MyIncreaseRequestsQuery,
} from '../../contract/increase-requests.ts'
import { IdempotencyHeaders } from '../../contract/schemas.ts'
import { listIncreaseRequests } from '../../db/quotas/increase-requests.ts'
import { MAX_OPEN_REQUESTS, MAX_REQUESTS_PER_DAY } from '../../domain/basics/bounds.ts'
import { type IncreaseRequest, ownRequestViewOf, requestViewOf } from '../../domain/quotas/increase-request.ts'
import { userIdOf } from '../auth/guard.ts'
import { accepted } from '../changes/outcomes.ts'
import { authorOf, boundedAuthorOf } from '../changes/requests.ts'
import type { RouteContext } from '../context.ts'
import { cursorInteger } from '../platform/cursors.ts'
import { timestampOf } from '../platform/formats.ts'
import { operation } from '../platform/openapi.ts'
import { change } from '../platform/routes.ts'
import { getList, listOf } from '../resource/list.ts'

const LIST = { key: cursorInteger, read: listIncreaseRequests }
const requests = listOf({ ...LIST, query: IncreaseRequestsQuery, view: requestViewOf })
const ownRequests = listOf({ ...LIST, query: MyIncreaseRequestsQuery, view: ownRequestViewOf })

const requestOf = (id?: number) => ({ what: 'request', id })

/** The request that a call has made. @throws Problem if the rules forbid it */
function madeOf(made: RequestMade | Repeated<IncreaseRequest>): IncreaseRequest {
  const done = accepted(made, requestOf())
  return done.outcome === 'replayed' ? done.answer : done.request
}

function draftOf({ units, until = null, reason, quota_id = null }: IncreaseReq): RequestDraft {
  return { units, until: until === null ? null : timestampOf(until), reason, quota_id }
}

/** A user's own requests for more units: `/api/sms/quota/requests…`. */
export function userRequestRoutes(server: FastifyInstance, context: RouteContext): void {
  const { db, now, settings } = context
  getList(server, '/requests', context, ownRequests, {
    ...operation('User', 'listMyIncreaseRequests', 'List my requests for more units', 'Newest first.'),
    answer: 'IncreaseRequestPage',
    isOwn: true,
  })

  change(server, 'POST', '/requests', {
    ...operation(
      'User',
      'makeIncreaseRequest',
      'Ask for more units',
      `An administrator decides, or the service at once if the request is small (\`REQUEST_AUTO_APPROVE_PERCENT\`): \`status\` says so. A user has at most ${MAX_OPEN_REQUESTS} open requests, and makes at most ${MAX_REQUESTS_PER_DAY} in 24 hours.`,
    ),
    headers: IdempotencyHeaders,
    body: IncreaseReq,
    answer: { 201: Type.Ref('IncreaseRequest#') },
    errors: ['no_grant', 'too_many_requests', 'idempotency_mismatch', 'being_erased'],
    handler: async (request, reply) => {
      const draft = draftOf(request.body)
      const key = request.headers['idempotency-key']
      const percent = settings.requestAutoApprovePercent
      const made = await makeRequestOnce(db, userIdOf(request), draft, authorOf(request, now()), key, percent)
      reply.code(201)
      return ownRequestViewOf(madeOf(made))
    },
  })

  change(server, 'DELETE', '/requests/:id', {
    ...operation(
      'User',
      'withdrawIncreaseRequest',
      'Take a request for more units back',
      'It stays in the list. To take one back again changes nothing.',
    ),
    params: IncreaseRequestParams,
    answer: null,
    errors: ['not_found', 'request_closed', 'being_erased'],
    handler: async (request, reply) => {
      const { id } = request.params
      accepted(await withdrawRequest(db, userIdOf(request), id, authorOf(request, now())), requestOf(id))
      return reply.code(204).send(null)
    },
  })
}

/** What administrators do with requests for more units: `/api/sms/admin/requests…`. */
export function adminRequestRoutes(server: FastifyInstance, context: RouteContext): void {
  const { db, now } = context
  getList(server, '', context, requests, {
    ...operation(
      'Administrator',
      'listIncreaseRequests',
      "List users' requests for more units",
      'Newest first. Filters are combined.',
    ),
    answer: 'IncreaseRequestPage',
  })

  change(server, 'POST', '', {
    config: { access: 'adjust' },
    ...operation(
      'Administrator',
      'makeIncreaseRequestForUser',
      'Ask for more units for a user',
      'For those who help the user and may not give that much. It is a request of the user, with the same bounds, and a person decides it.',
    ),
    headers: IdempotencyHeaders,
    body: IncreaseForUserReq,
    answer: { 201: Type.Ref('IncreaseRequest#') },
    errors: ['no_grant', 'too_many_requests', 'idempotency_mismatch', 'being_erased'],
    handler: async (request, reply) => {
      const { user_id, ...body } = request.body
      const key = request.headers['idempotency-key']
      const made = await makeRequestOnce(db, user_id, draftOf(body), authorOf(request, now()), key, 0)
      reply.code(201)
      return requestViewOf(madeOf(made))
    },
  })

  decisionRoutes(server, context)
}

function decisionRoutes(server: FastifyInstance, { db, now, settings }: RouteContext): void {
  change(server, 'POST', '/:id/approve', {
    config: { access: 'adjust' },
    ...operation(
      'Administrator',
      'approveIncreaseRequest',
      'Give a user the units that were asked for',
      'The units are given in the transaction that notes the decision. A repeated call gets the same answer and gives nothing more. What the support role gives counts towards `SUPPORT_ADJUST_LIMIT`.',
    ),
    params: IncreaseRequestParams,
    body: ApproveReq,
    answer: 'IncreaseRequest',
    errors: ['not_found', 'no_grant', 'too_many_quotas', 'request_closed', 'being_erased'],
    handler: async request => {
      const { id } = request.params
      const { until, note = null, ...others } = request.body
      const end = until === undefined ? {} : { until: until === null ? null : timestampOf(until) }
      const author = boundedAuthorOf(request, now(), settings)
      const decided = await approveRequest(db, id, { ...others, ...end, note }, author)
      return requestViewOf(accepted(decided, requestOf(id)).request)
    },
  })

  change(server, 'POST', '/:id/decline', {
    config: { access: 'adjust' },
    ...operation(
      'Administrator',
      'declineIncreaseRequest',
      'Decline a request for more units',
      'A repeated call changes nothing. The support role may decline what it could approve.',
    ),
    params: IncreaseRequestParams,
    body: DeclineReq,
    answer: 'IncreaseRequest',
    errors: ['not_found', 'request_closed', 'being_erased'],
    handler: async request => {
      const { id } = request.params
      const { note = null } = request.body
      const decided = await declineRequest(db, id, note, boundedAuthorOf(request, now(), settings))
      return requestViewOf(accepted(decided, requestOf(id)).request)
    },
  })
}
