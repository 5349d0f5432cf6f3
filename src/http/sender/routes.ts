import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply } from 'fastify'
import Type, { type TSchema } from 'typebox'
import { NoQuery } from '../../contract/quotas.ts'
import { REQUESTS, ReservationParams, SENDER_OPS, type SenderOp, type SenderRequest } from '../../contract/sender.ts'
import type { ErrorCode } from '../../errors.ts'
import type { ServerParts } from '../context.ts'
import { senderResponses } from '../platform/openapi.ts'
import { compileValidator, validatorOf } from '../platform/validation.ts'
import { batchRoute } from './batch-route.ts'
import { type Asked, commandOf, requestCheck } from './requests.ts'
import { answerOf } from './responses.ts'

const decided = Type.Union([Type.Ref('Granted#'), Type.Ref('Denied#')])
const decisionErrors: ErrorCode[] = ['idempotency_mismatch', 'reservation_closed']
const settlementErrors: ErrorCode[] = ['not_found', 'exceeds_reservation', 'reservation_closed']

/** How each operation is documented. */
const DOCUMENTED: Record<SenderOp, { summary: string; description: string; answer: TSchema; errors: ErrorCode[] }> = {
  check: {
    summary: 'Ask whether units could be had',
    description: 'Answers what `reserve` would, and takes nothing.',
    answer: Type.Union([Type.Ref('Grantable#'), Type.Ref('Denied#')]),
    errors: [],
  },
  reserve: {
    summary: 'Set units aside before sending',
    description: 'The same call again answers the reservation as it stands (`replayed`). A denied id is judged afresh.',
    answer: decided,
    errors: decisionErrors,
  },
  consume: {
    summary: 'Reserve and commit in one',
    description:
      'For senders that need no second step, and with `force` for what has been sent already. It takes what `reserve` takes; as nothing stays reserved, `ttl_seconds` and `on_expiry` have no effect.',
    answer: decided,
    errors: decisionErrors,
  },
  commit: {
    summary: 'Make reserved units used',
    description: 'By target, so that the call may be repeated: `total_units` is how much shall be committed in all.',
    answer: Type.Ref('Settled#'),
    errors: settlementErrors,
  },
  release: {
    summary: 'Give units back that were not sent',
    description: 'By target: `total_units` is how much shall be released in all.',
    answer: Type.Ref('Settled#'),
    errors: settlementErrors,
  },
  refund: {
    summary: 'Give committed units back',
    description: 'To the very quotas that counted them. By target: `total_units` is how much shall be refunded in all.',
    answer: Type.Ref('Settled#'),
    errors: settlementErrors,
  },
}

/** What senders do: `/api/sms/sender/quota/…`. They name the user, because a message belongs to a user. */
export function senderRoutes(server: FastifyInstance, { engine, requireCountry }: ServerParts): void {
  const app = server.withTypeProvider<TypeBoxTypeProvider>()

  // 0.7 µs an answer. The compiled serializer takes 1.8 µs, most of it to find out which of several answers it has.
  app.setSerializerCompiler(() => JSON.stringify)
  app.addHook('onRoute', route => {
    route.config = { ...route.config, isForMachines: true }
  })

  /** Answers when the outcome is there. Without a promise: the fewer objects wait for it, the better. */
  function perform(asked: Asked, reply: FastifyReply): void {
    engine.enqueue(asked.command, {
      resolve(outcome) {
        try {
          reply.send(answerOf(asked, outcome))
        } catch (error) {
          reply.send(error)
        }
      },
      reject: error => reply.send(error),
    })
  }

  for (const op of SENDER_OPS) {
    const { summary, description, answer, errors } = DOCUMENTED[op]
    app.post(
      `/${op}`,
      {
        schema: {
          operationId: op,
          summary,
          description,
          tags: ['Sender'],
          querystring: NoQuery,
          body: REQUESTS[op],
          response: senderResponses({ 200: answer }, ['payload_too_large', 'unsupported_media_type', ...errors]),
        },
        validatorCompiler: part =>
          part.httpPart === 'body' ? validatorOf(requestCheck(op)) : compileValidator(part as never),
      },
      (request, reply) => perform(commandOf(op, request.body as SenderRequest, requireCountry), reply),
    )
  }

  app.register(async scope => batchRoute(scope, engine, requireCountry))

  app.get(
    '/reservations/:user_id/:id',
    {
      schema: {
        operationId: 'getReservation',
        summary: 'Read a reservation',
        tags: ['Sender'],
        params: ReservationParams,
        querystring: NoQuery,
        response: senderResponses({ 200: Type.Ref('Reservation#') }, ['not_found']),
      },
    },
    (request, reply) => perform({ command: { op: 'find', ...request.params }, measure: null }, reply),
  )
}
