/** The HTTP side of the agent: the paths of senders, for callers on this machine, which need no token. */
import { randomUUID } from 'node:crypto'
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import { NoQuery } from '../../../contract/schemas.ts'
import { BatchReq, REQUESTS, SENDER_OPS, type SenderRequest } from '../../../contract/sender.ts'
import { FEWEST_SEGMENTS, type SegmentRules } from '../../../domain/messages/segment-rules.ts'
import { ERRORS, invalidRequest, Problem } from '../../../errors.ts'
import type { HttpListener } from '../../../http/listener.ts'
import { createBodyReader, MAX_UNFINISHED_BYTES } from '../../../http/platform/body-reader.ts'
import { createErrorAnswers } from '../../../http/platform/error-answers.ts'
import { clientRequestId, PLAIN_HEADERS } from '../../../http/platform/headers.ts'
import { parseJsonBodies } from '../../../http/platform/json-body.ts'
import { refuseUnknownRoutes } from '../../../http/platform/routing.ts'
import { createSlowDown } from '../../../http/platform/slow-down.ts'
import { compileValidator, validatorOf } from '../../../http/platform/validation.ts'
import { createOperationCheck, requestCheck } from '../../../http/sender/requests.ts'
import type { Debts } from './debts.ts'
import { type Answer, type Forward, MAX_OPERATION_BYTES, problemAnswer } from './forward.ts'
import type { OutageLog } from './outage-log.ts'

const PREFIX = '/api/sms/sender/quota'
const MAX_BATCH_BYTES = 1024 * 1024

export interface AgentServerParts {
  readonly listener: HttpListener
  readonly forward: Forward
  /** Undefined: there is no journal. */
  readonly debts: Pick<Debts, 'list' | 'isFull'> | undefined
  readonly outages: Pick<OutageLog, 'isOutage'>
  /** How the service counts segments; null if that is not known. */
  readonly segments: () => SegmentRules | null
  /** Whether it listens on a socket, which no browser can reach. */
  readonly isSocket: boolean
  readonly log: (line: string) => void
}

/** Builds the server behind the listener, which then also answers `/livez` and `/readyz`. Closing it closes the listener. */
export async function createAgentServer(parts: AgentServerParts): Promise<FastifyInstance> {
  const { listener, forward, debts, isSocket, log } = parts
  // The service refuses what is too long. As long as its rules are not known, what may be short enough goes there.
  const segments = () => parts.segments() ?? FEWEST_SEGMENTS
  let serve = () => {}
  const slowDown = createSlowDown(0)
  const errors = createErrorAnswers(requestLogOf(log), slowDown, MAX_OPERATION_BYTES)
  const app = Fastify({
    bodyLimit: MAX_OPERATION_BYTES,
    serverFactory(handler) {
      serve = () => listener.serve(handler, slowDown)
      return listener.server
    },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    genReqId: request => clientRequestId(request.headers) ?? randomUUID(),
    clientErrorHandler: errors.answerBroken,
    frameworkErrors: errors.answer,
  })
  app.setValidatorCompiler(compileValidator)
  app.setErrorHandler(errors.answer)
  app.addHook('onReady', async () => serve())
  app.addHook('onClose', async () => {
    await listener.readiness.stop()
    await listener.close()
  })
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(PLAIN_HEADERS).header('x-request-id', request.id)
    if (isSocket || isLoopback(request.hostname)) done()
    else done(new Problem('forbidden', 'The agent is called by an address of its own machine, such as 127.0.0.1.'))
  })
  refuseUnknownRoutes(app)

  const reader = createBodyReader(MAX_UNFINISHED_BYTES)
  await app.register(
    async scope => {
      parseJsonBodies(scope, reader, MAX_OPERATION_BYTES)
      singleRoutes(scope, forward, segments)
    },
    { prefix: PREFIX },
  )
  await app.register(
    async scope => {
      parseJsonBodies(scope, reader, MAX_BATCH_BYTES)
      batchRoute(scope, forward, segments)
    },
    { prefix: PREFIX },
  )
  operatorRoutes(app, parts)
  await app.ready()
  // With a full journal it allows no message while the service is away.
  const check = async () => (debts?.isFull() === true ? 'the journal of the agent is full' : null)
  await listener.readiness.watch(check, {
    info: (_fields, message) => log(message),
    warn: (fields, message) => log('reason' in fields ? `${message}: ${fields.reason}` : message),
    error() {},
  })
  return app
}

/** What the agent owes, as JSON and as metrics. */
function operatorRoutes(app: FastifyInstance, { debts, outages }: AgentServerParts): void {
  const list = () => debts?.list() ?? []
  app.get('/debts', { schema: { querystring: NoQuery } }, async () => ({ outage: outages.isOutage(), debts: list() }))
  app.get('/metrics', { schema: { querystring: NoQuery } }, async (_request, reply) => {
    reply.type('text/plain; version=0.0.4; charset=utf-8')
    const states = ['sent', 'released', 'held', 'unknown'] as const
    const found = list()
    const count = (state: string) => found.filter(debt => debt.state === state).length
    return [
      '# HELP sms_quota_agent_debts Messages that were allowed while the service was away, and are not booked yet.',
      '# TYPE sms_quota_agent_debts gauge',
      ...states.map(state => `sms_quota_agent_debts{state="${state}"} ${count(state)}`),
      '# HELP sms_quota_agent_debts_refused Those of them that the service refuses to book.',
      '# TYPE sms_quota_agent_debts_refused gauge',
      `sms_quota_agent_debts_refused ${found.filter(({ refused }) => refused !== null).length}`,
      '# HELP sms_quota_agent_outage Whether the last call of a sender got no answer of the service.',
      '# TYPE sms_quota_agent_outage gauge',
      `sms_quota_agent_outage ${outages.isOutage() ? 1 : 0}`,
      '',
    ].join('\n')
  })
}

function singleRoutes(app: FastifyInstance, forward: Forward, segments: () => SegmentRules): void {
  for (const op of SENDER_OPS) {
    app.post(
      `/${op}`,
      {
        schema: { querystring: NoQuery, body: REQUESTS[op] },
        validatorCompiler: part =>
          part.httpPart === 'body' ? validatorOf(requestCheck(op, segments)) : compileValidator(part as never),
      },
      async (request, reply) => send(reply, await forward(op, request.body as SenderRequest, request.id)),
    )
  }
}

/** Each operation goes by itself: the client makes batches of those of all callers. */
function batchRoute(app: FastifyInstance, forward: Forward, segments: () => SegmentRules): void {
  const checkOperation = createOperationCheck(segments)

  async function perform(operation: unknown, requestId: string): Promise<Answer> {
    const checked = checkOperation(operation)
    if ('issues' in checked) return problemAnswer(invalidRequest(checked.issues), requestId)
    const { op, ...request } = operation as SenderRequest & { op: unknown }
    // Together with operations of other callers, a larger one could exceed the size of a batch.
    if (Buffer.byteLength(JSON.stringify(request)) > MAX_OPERATION_BYTES) {
      const detail = `The operation is larger than ${MAX_OPERATION_BYTES} bytes.`
      return problemAnswer(new Problem('payload_too_large', detail), requestId)
    }
    return forward(checked.op, request, requestId)
  }

  app.post<{ Body: BatchReq }>(
    '/batch',
    { bodyLimit: MAX_BATCH_BYTES, schema: { querystring: NoQuery, body: BatchReq } },
    async (request, reply) => {
      const results = await Promise.all(request.body.operations.map(operation => perform(operation, request.id)))
      return send(reply, { status: 200, body: { results } })
    },
  )
}

function send(reply: FastifyReply, { status, body }: Answer): FastifyReply {
  reply.code(status).type(`application/${status < 400 ? 'json' : 'problem+json'}; charset=utf-8`)
  if (status === 503 || status === 429) reply.header('retry-after', ERRORS.unavailable.retryAfterSeconds)
  return reply.send(JSON.stringify(body))
}

/** A page of the web whose name leads to this machine would otherwise be a caller, in the browser of this machine. */
function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname)
}

/** Only what is a fault of the agent is logged. */
function requestLogOf(log: (line: string) => void): Parameters<typeof createErrorAnswers>[0] {
  return {
    answered() {},
    failed(_request, { code }, error) {
      if (code === 'internal') log(`a call failed: ${error instanceof Error ? error.stack : error}`)
    },
    stopped() {},
    broken() {},
    summarize() {},
  }
}
