import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { NoQuery } from '../../contract/schemas.ts'
import { REQUESTS, type SenderRequest } from '../../contract/sender.ts'
import type { Outcome } from '../../domain/command.ts'
import type { RouteContext } from '../context.ts'
import { changeResponses, operation } from '../platform/openapi.ts'
import { compileValidator, validatorOf } from '../platform/validation.ts'
import { commandOf, originOf, requestCheck } from '../sender/requests.ts'
import { answerOf } from '../sender/responses.ts'

/** Whether a message would be sent, for people who help users: `/api/sms/admin/quota/check`. */
export function quotaCheckRoutes(server: FastifyInstance, { engine, settings }: RouteContext): void {
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
        response: changeResponses({ 200: Type.Union([Type.Ref('Grantable#'), Type.Ref('Denied#')]) }, ['overloaded']),
      },
      validatorCompiler: part =>
        part.httpPart === 'body' ? validatorOf(requestCheck('check')) : compileValidator(part as never),
      // The same serializer as on the paths of senders: the same answer.
      serializerCompiler: () => JSON.stringify,
    },
    async request => {
      const body = { explain: true, ...(request.body as SenderRequest) }
      const call = commandOf('check', body, { origin: originOf(request), requireCountry: settings.requireCountry })
      const outcome = await new Promise<Outcome>((resolve, reject) => engine.enqueue(call.command, { resolve, reject }))
      return answerOf(call, outcome)
    },
  )
}
