import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import Type, { type TSchema } from 'typebox'
import { ERRORS, type ErrorCode, invalidRequest } from '../../errors.ts'
import { NoQuery } from '../contract.ts'
import { senderAnswers } from '../openapi.ts'
import { problemBody, problemOf } from '../problems.ts'
import { answerOf } from '../sender-answers.ts'
import {
  BatchReq,
  REQUESTS,
  ReservationParams,
  SENDER_OPS,
  type SenderOp,
  type SenderRequest,
} from '../sender-contract.ts'
import { type Asked, commandOf, createOperationCheck, requestCheck } from '../sender-requests.ts'
import type { ServerParts } from '../server.ts'
import { compileValidator, validatorOf } from '../validation.ts'

/** The most the body of a batch may hold, in bytes. */
const BATCH_LIMIT = 1024 * 1024

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
  const tags = ['Sender']
  const bodyErrors: ErrorCode[] = ['forbidden', 'payload_too_large', 'unsupported_media_type', 'invalid_request']

  // 0.7 µs an answer. The compiled serializer takes 1.8 µs, most of it to find out which of several answers it has.
  app.setSerializerCompiler(() => JSON.stringify)
  app.addHook('onRoute', route => {
    route.config = { ...route.config, isSummarized: true }
  })

  const perform = async (asked: Asked): Promise<object> => answerOf(asked, await engine.submit(asked.command))

  for (const op of SENDER_OPS) {
    const { summary, description, answer, errors } = DOCUMENTED[op]
    app.post(
      `/${op}`,
      {
        schema: {
          operationId: op,
          summary,
          description,
          tags,
          querystring: NoQuery,
          body: REQUESTS[op],
          response: senderAnswers({ 200: answer }, [...bodyErrors, ...errors, 'overloaded']),
        },
        validatorCompiler: part =>
          part.httpPart === 'body' ? validatorOf(requestCheck(op)) : compileValidator(part as never),
      },
      request => perform(commandOf(op, request.body as SenderRequest, requireCountry)),
    )
  }

  const checkOperation = createOperationCheck()

  app.post(
    '/batch',
    {
      bodyLimit: BATCH_LIMIT,
      schema: {
        operationId: 'batch',
        summary: 'Do up to 1,000 operations in one call',
        description:
          "Each operation stands alone and has its own status. One user's take effect in the order given; a body may have 1 MiB.",
        tags,
        querystring: NoQuery,
        body: BatchReq,
        response: senderAnswers({ 200: Type.Ref('BatchResult#') }, bodyErrors),
      },
    },
    async request => {
      async function resultOf(operation: unknown): Promise<{ status: number; body: object }> {
        try {
          const found = checkOperation(operation)
          if ('faults' in found) throw invalidRequest(found.faults)
          const asked = commandOf(found.op, operation as SenderRequest, requireCountry)
          return { status: 200, body: await perform(asked) }
        } catch (error) {
          const problem = problemOf(error, BATCH_LIMIT)
          if (problem.code === 'internal') request.log.error({ err: problem.cause }, 'could not do an operation')
          return { status: ERRORS[problem.code].status, body: problemBody(problem, request.id) }
        }
      }
      // All are submitted before the first is awaited, so that they share a commit and keep their order.
      return { results: await Promise.all(request.body.operations.map(resultOf)) }
    },
  )

  app.get(
    '/reservations/:user_id/:id',
    {
      schema: {
        operationId: 'getReservation',
        summary: 'Read a reservation',
        tags,
        params: ReservationParams,
        querystring: NoQuery,
        response: senderAnswers({ 200: Type.Ref('Reservation#') }, [
          'forbidden',
          'invalid_request',
          'not_found',
          'overloaded',
        ]),
      },
    },
    request => perform({ command: { op: 'find', ...request.params }, measure: null }),
  )
}
