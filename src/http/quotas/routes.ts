import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { AlertsQuery, SummaryQuery } from '../../contract/quota-summary.ts'
import { AdminListQuery, QuotaParams, UserListQuery } from '../../contract/quotas.ts'
import { NoQuery } from '../../contract/schemas.ts'
import { REQUESTS, type SenderRequest } from '../../contract/sender.ts'
import { findQuota } from '../../db/quotas/quotas.ts'
import type { Outcome } from '../../domain/units/command.ts'
import { principalOf, userIdOf } from '../auth/guard.ts'
import { asUnmade, NotMade } from '../auth/sender-users.ts'
import { found } from '../changes/outcomes.ts'
import type { RouteContext } from '../context.ts'
import { changeResponses, operation } from '../platform/openapi.ts'
import { get } from '../platform/routes.ts'
import { compileValidator, validatorOf } from '../platform/validation.ts'
import { commandOf, originOf, requestCheck } from '../sender/requests.ts'
import { answerOf } from '../sender/responses.ts'
import { alertsOf, listPage, quotaOf, summaryOf, taggedView } from './responses.ts'

/** What users read of their own quotas: `/api/sms/quota…`. The token names the user; there is no parameter for it. */
export function userQuotaRoutes(server: FastifyInstance, { db, pauses, now }: RouteContext): void {
  get(server, '/list', {
    ...operation('User', 'listMyQuotas', 'List my quotas'),
    query: UserListQuery,
    answer: 'QuotaPage',
    handler: request => listPage(db, request.query, { role: 'user', userId: userIdOf(request) }, now()),
  })

  get(server, '/summary', {
    ...operation('User', 'summarizeMyQuotas', 'Read my summary'),
    isReport: true,
    answer: 'QuotaSummary',
    handler: request => summaryOf({ db, pauses }, userIdOf(request), now()),
  })
}

/** What administrators read of all quotas: `/api/sms/admin/quota…`. */
export function adminQuotaRoutes(server: FastifyInstance, { db, pauses, now }: RouteContext): void {
  get(server, '/list', {
    ...operation('Administrator', 'listQuotas', 'List the quotas of all users'),
    query: AdminListQuery,
    answer: 'QuotaPage',
    handler: request => listPage(db, request.query, { role: 'admin' }, now()),
  })

  get(server, '/summary', {
    ...operation('Administrator', 'summarizeQuotasOfUser', "Read a user's summary"),
    isReport: true,
    query: SummaryQuery,
    answer: 'QuotaSummary',
    handler: request => summaryOf({ db, pauses }, request.query.user_id, now()),
  })

  get(server, '/:id', {
    ...operation('Administrator', 'getQuota', 'Read a quota'),
    params: QuotaParams,
    answer: 'SmsQuota',
    errors: ['not_found'],
    handler: async (request, reply) => {
      const { id } = request.params
      const quota = await findQuota(db, id)
      return taggedView(reply, { quota: found(quota?.deleted_at === null ? quota : undefined, quotaOf(id)), at: now() })
    },
  })

  get(server, '/alerts', {
    ...operation(
      'Administrator',
      'listAlerts',
      'List quotas that are running out',
      'All live quotas that have reached a percentage of their `alert_at` in the current window, in their current state: the highest percentage first, of equal ones the latest. A quota is not listed while a raised limit or a refund has brought it below all its percentages.',
    ),
    query: AlertsQuery,
    answer: 'QuotaAlerts',
    handler: request => alertsOf(db, request.query, now()),
  })
}

/** Whether a message would be sent, for people who help users: `/api/sms/admin/quota/check`. */
export function quotaCheckRoutes(server: FastifyInstance, { engine, senderUsers, settings }: RouteContext): void {
  server.post(
    '/check',
    {
      config: { access: 'check' },
      schema: {
        ...operation(
          'Administrator',
          'checkQuotasOfUser',
          "Would a user's message be sent?",
          "Answers as senders' `check`, and takes nothing. `explain` is true unless the body says otherwise.",
        ),
        querystring: NoQuery,
        body: REQUESTS.check,
        response: changeResponses({ 200: Type.Union([Type.Ref('Grantable#'), Type.Ref('Denied#')]) }, [
          'overloaded',
          'unknown_user',
        ]),
      },
      validatorCompiler: part =>
        part.httpPart === 'body'
          ? validatorOf(requestCheck('check', () => settings.segments))
          : compileValidator(part as never),
      // The same serializer as on the paths of senders: the same answer.
      serializerCompiler: () => JSON.stringify,
    },
    async request => {
      const body = { explain: true, ...(request.body as SenderRequest) }
      // What a token for some users may name bounds senders only.
      const caller = { principal: { ...principalOf(request), senderUsers: 'all' }, requestId: request.id } as const
      try {
        const identified = Promise.resolve(senderUsers.identify(caller, body, () => false))
        const userId = await identified.catch(error => asUnmade('check', error))
        const call = commandOf('check', userId, body, originOf(request), settings)
        const outcome = await new Promise<Outcome>((resolve, reject) =>
          engine.enqueue(call.command, { resolve, reject }),
        )
        return answerOf(call, outcome, true)
      } catch (error) {
        if (error instanceof NotMade) return error.denial
        throw error
      }
    },
  )
}
