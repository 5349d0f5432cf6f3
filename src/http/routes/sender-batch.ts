import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { ERRORS, invalidRequest, Problem } from '../../errors.ts'
import { NoQuery } from '../contract.ts'
import { createLargeCalls } from '../large-calls.ts'
import { senderAnswers } from '../openapi.ts'
import { problemBody, problemOf } from '../problems.ts'
import { BatchReq, type SenderRequest } from '../sender-contract.ts'
import { type Asked, commandOf, createOperationCheck } from '../sender-requests.ts'

/** The most the body of a batch may hold, in bytes. */
const BATCH_LIMIT = 1024 * 1024

/**
 * Bodies of batches under way at most, in bytes, each counted up to this size: a thousand usual operations, for there can
 * be no more, and the texts of messages do not outlive the parsing. More of them would not be done any sooner, and what
 * waits for a second is what the garbage collector then stops everybody for (docs/performance.md).
 */
const BATCHES_LIMIT = 1024 * 1024
const COUNTED_AT_MOST = 80 * 1024

/** What is parsed, checked and submitted in one turn of the event loop: it takes about 5 ms. */
const BATCHES_A_TURN = 64 * 1024

/** Has a command carried out, and answers what the sender is told. */
export type Perform = (asked: Asked) => Promise<object>

/** Many operations in one call: `/batch`. In a scope of its own, for it parses bodies in its own way. */
export function batchRoute(server: FastifyInstance, perform: Perform, requireCountry: boolean): void {
  const app = server.withTypeProvider<TypeBoxTypeProvider>()
  const checkOperation = createOperationCheck()
  const batches = createLargeCalls({ bytes: BATCHES_LIMIT, bytesATurn: BATCHES_A_TURN })

  // Parsed in its own turn, and submitted in the same one.
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body: string, done) => {
    batches.turn(body.length).then(() => parse(request, body, done))
  })

  app.post(
    '/batch',
    {
      bodyLimit: BATCH_LIMIT,
      // Before the body is read: to refuse it costs next to nothing then.
      onRequest(request, reply, done) {
        const bytes = Math.min(Number(request.headers['content-length'] ?? BATCH_LIMIT), COUNTED_AT_MOST)
        if (!batches.enter(bytes)) return done(tooManyBatches())
        reply.raw.once('close', () => batches.leave(bytes))
        done()
      },
      schema: {
        operationId: 'batch',
        summary: 'Do up to 1,000 operations in one call',
        description:
          "Each operation stands alone and has its own status. One user's take effect in the order given; a body may have 1 MiB.",
        tags: ['Sender'],
        querystring: NoQuery,
        body: BatchReq,
        response: senderAnswers({ 200: Type.Ref('BatchResult#') }, ['payload_too_large', 'unsupported_media_type']),
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
}

function tooManyBatches(): Problem {
  const detail = 'Too many batches are under way already. Nothing was done; repeat the call.'
  return new Problem('overloaded', detail, { headers: { 'retry-after': '1' } })
}
