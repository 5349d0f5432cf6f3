import type { FastifyInstance } from 'fastify'
import { DenialParams } from '../../contract/denials.ts'
import { userIdOf } from '../auth/guard.ts'
import type { RouteContext } from '../context.ts'
import { operation } from '../platform/openapi.ts'
import { get } from '../platform/routes.ts'
import { getList } from '../resource/list.ts'
import { denials, ownDenials } from './lists.ts'
import { denialDetail, ruleDenials } from './responses.ts'

const LISTED =
  'Denied reserves and consumes, newest first; checks are not logged. Denials beyond the bounds of the log are counted in `skipped`. Kept for 7 days, unless `DENIAL_RETENTION_DAYS` says otherwise.'

/** A user's own denials: `/api/sms/quota/denials…`. */
export function userDenialRoutes(server: FastifyInstance, context: RouteContext): void {
  const { db } = context
  getList(server, '/denials', context, ownDenials, {
    ...operation('User', 'listMyDenials', 'List my denied messages', LISTED),
    answer: 'DenialPage',
    isOwn: true,
  })

  get(server, '/denials/:denial_id', {
    ...operation('User', 'getMyDenial', 'Read why a message of mine was denied'),
    params: DenialParams,
    answer: 'DenialDetail',
    errors: ['not_found'],
    handler: request => denialDetail(db, request.params.denial_id, { role: 'user', userId: userIdOf(request) }),
  })
}

/** The denials of all users: `/api/sms/admin/denials…`. */
export function adminDenialRoutes(server: FastifyInstance, context: RouteContext): void {
  const { db, now, pauses } = context
  getList(server, '', context, denials, {
    ...operation('Administrator', 'listDenials', 'List denied messages', LISTED),
    answer: 'DenialPage',
  })

  get(server, '/rules', {
    ...operation(
      'Administrator',
      'countDenialsByRule',
      'Count what pauses and caps denied in the last 24 hours',
      'By the pause, or by the slot of the plan whose caps had no room. The report of usage counts every denial by its reason alone.',
    ),
    answer: 'RuleDenials',
    handler: () => ruleDenials(db, pauses.known, now()),
  })

  get(server, '/:denial_id', {
    ...operation('Administrator', 'getDenial', 'Read why a message was denied'),
    params: DenialParams,
    answer: 'DenialDetail',
    errors: ['not_found'],
    handler: request => denialDetail(db, request.params.denial_id, { role: 'admin' }),
  })
}
