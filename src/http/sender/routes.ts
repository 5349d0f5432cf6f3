import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import Type, { type TSchema } from 'typebox'
import { NoQuery } from '../../contract/schemas.ts'
import { SEGMENTS_HEADER, writeSegmentRules } from '../../contract/segments-header.ts'
import { REQUESTS, ReservationParams, SENDER_OPS, type SenderOp, type SenderRequest } from '../../contract/sender.ts'
import type { SegmentRules } from '../../domain/messages/segment-rules.ts'
import type { ErrorCode } from '../../errors.ts'
import { principalOf } from '../auth/guard.ts'
import type { ServerParts } from '../context.ts'
import { operation, senderResponses } from '../platform/openapi.ts'
import { compileValidator, validatorOf } from '../platform/validation.ts'
import { refusalOf } from './admission.ts'
import { batchRoutes } from './batch-routes.ts'
import { createSenderCalls, type SenderCalls } from './calls.ts'
import { originOf, requestCheck } from './requests.ts'
import { senderReservationList } from './reservation-list.ts'

const decision = Type.Union([Type.Ref('Granted#'), Type.Ref('Denied#')])
const decisionErrors: ErrorCode[] = ['unknown_user', 'idempotency_mismatch', 'reservation_closed']
const settlementErrors: ErrorCode[] = [
  'not_found',
  'unknown_user',
  'exceeds_reservation',
  'no_rate',
  'reservation_closed',
]

/** The documentation of each operation. */
const DOCUMENTED: Record<SenderOp, { summary: string; description: string; answer: TSchema; errors: ErrorCode[] }> = {
  check: {
    summary: 'Check whether units are available',
    description: 'Answers what `reserve` would answer, and takes nothing.',
    answer: Type.Union([Type.Ref('Grantable#'), Type.Ref('Denied#')]),
    errors: ['unknown_user'],
  },
  reserve: {
    summary: 'Reserve units before sending',
    description:
      'Repeating the call returns the existing reservation (`replayed`). After a denial, the same id is decided again.',
    answer: decision,
    errors: decisionErrors,
  },
  consume: {
    summary: 'Reserve and commit in one call',
    description:
      'For senders that need no second step and, with `force`, for messages that were already sent. Takes the fields of `reserve`; `ttl_seconds` and `on_expiry` have no effect, since nothing stays reserved.',
    answer: decision,
    errors: decisionErrors,
  },
  commit: {
    summary: 'Commit reserved units',
    description: 'Safe to repeat, because `total_units` is a total: how many units shall be committed in all.',
    answer: Type.Ref('Settled#'),
    errors: settlementErrors,
  },
  release: {
    summary: 'Release reserved units that were not sent',
    description: 'Safe to repeat, because `total_units` is a total: how many units shall be released in all.',
    answer: Type.Ref('Settled#'),
    errors: settlementErrors,
  },
  refund: {
    summary: 'Refund committed units',
    description:
      'Gives the units back to the quotas that counted them. Safe to repeat, because `total_units` is a total: how many units shall be refunded in all.',
    answer: Type.Ref('Settled#'),
    errors: ['not_found', 'unknown_user', 'exceeds_reservation', 'exceeds_committed', 'no_rate', 'reservation_closed'],
  },
  feedback: {
    summary: "Say that a message's code was entered",
    description:
      'Counts the message as verified in usage: once for each reservation, however often it is repeated (`replayed`), in any `state`. A reservation that is not stored any more is not found.',
    answer: Type.Ref('Settled#'),
    errors: ['not_found', 'unknown_user'],
  },
}

/** The sender's operations: `/api/sms/sender/quota/…`. Senders name the user that the message belongs to. */
export function senderRoutes(server: FastifyInstance, parts: ServerParts): void {
  const { settings } = parts
  const calls = createSenderCalls(parts)
  const app = server.withTypeProvider<TypeBoxTypeProvider>()

  // 0.7 µs per response. The compiled serializer takes 1.8 µs, most of it to find the matching schema of several.
  app.setSerializerCompiler(() => JSON.stringify)
  app.addHook('onRoute', route => {
    route.config = { ...route.config, isForMachines: true }
  })
  app.addHook('onRequest', (request, _reply, done) => done(refusalOf(parts, principalOf(request))))
  nameSegmentRules(app, settings.segments)

  operationRoutes(app, settings, calls)
  app.register(async scope => batchRoutes(scope, parts))
  senderReservationList(app, parts)

  app.get(
    '/reservations/:user_id/:id',
    {
      schema: {
        ...operation('Sender', 'getReservation', 'Read a reservation'),
        params: ReservationParams,
        querystring: NoQuery,
        response: senderResponses(Type.Ref('AuthoredReservation#'), ['not_found', 'unknown_user']),
      },
    },
    (request, reply) => {
      const command = { op: 'find', ...request.params, origin: originOf(request) } as const
      calls.perform({ command, measure: null, userRef: request.userRef }, principalOf(request), reply)
    },
  )
}

/** Each operation on its own path. */
function operationRoutes(app: FastifyInstance, settings: ServerParts['settings'], calls: SenderCalls): void {
  for (const op of SENDER_OPS) {
    const { summary, description, answer, errors } = DOCUMENTED[op]
    app.post(
      `/${op}`,
      {
        schema: {
          ...operation('Sender', op, summary, description),
          querystring: NoQuery,
          body: REQUESTS[op],
          response: senderResponses(answer, ['payload_too_large', 'unsupported_media_type', ...errors]),
        },
        validatorCompiler: part =>
          part.httpPart === 'body'
            ? validatorOf(requestCheck(op, () => settings.segments))
            : compileValidator(part as never),
      },
      (request, reply) =>
        calls.operate(
          op,
          request.body as SenderRequest,
          { principal: principalOf(request), requestId: request.id },
          reply,
        ),
    )
  }
}

/** Names them in each answer. */
function nameSegmentRules(app: FastifyInstance, rules: SegmentRules): void {
  const value = writeSegmentRules(rules)
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header(SEGMENTS_HEADER, value)
    done()
  })
}
