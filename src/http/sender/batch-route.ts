import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { NoQuery } from '../../contract/quotas.ts'
import { BatchReq, type SenderRequest } from '../../contract/sender.ts'
import type { Outcome } from '../../domain/command.ts'
import type { Completion } from '../../engine/completion.ts'
import type { Engine } from '../../engine/engine.ts'
import { ERRORS, invalidRequest, Problem } from '../../errors.ts'
import { createBodyAdmission } from '../platform/body-admission.ts'
import { senderResponses } from '../platform/openapi.ts'
import { problemBody, problemOf } from '../platform/problems.ts'
import { type Asked, commandOf, createOperationCheck } from './requests.ts'
import { answerOf } from './responses.ts'

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

/** Many operations in one call: `/batch`. In a scope of its own, for it parses bodies in its own way. */
export function batchRoute(server: FastifyInstance, engine: Pick<Engine, 'enqueue'>, requireCountry: boolean): void {
  const app = server.withTypeProvider<TypeBoxTypeProvider>()
  const checkOperation = createOperationCheck()
  const batches = createBodyAdmission({ bytes: BATCHES_LIMIT, bytesATurn: BATCHES_A_TURN })

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
        response: senderResponses({ 200: Type.Ref('BatchResult#') }, ['payload_too_large', 'unsupported_media_type']),
      },
    },
    (request, reply) => {
      const { operations } = request.body
      // What was parsed need not wait for the answer: of a thousand operations it weighs more than the commands.
      request.body = { operations: [] }
      const results = new Results(operations.length, request, reply)
      // All are submitted before the first is answered, so that they share a commit and keep their order.
      for (const [place, operation] of operations.entries()) {
        try {
          const found = checkOperation(operation)
          if ('issues' in found) throw invalidRequest(found.issues)
          const asked = commandOf(found.op, operation as SenderRequest, requireCountry)
          engine.enqueue(asked.command, new Operation(results, place, asked))
        } catch (error) {
          results.fail(place, error)
        }
      }
    },
  )
}

/** The results of a batch, in the order of its operations. The call is answered when the last one is there. */
class Results {
  private readonly texts: string[]
  private open: number
  private readonly request: FastifyRequest
  private readonly reply: FastifyReply

  constructor(count: number, request: FastifyRequest, reply: FastifyReply) {
    this.texts = new Array<string>(count).fill('')
    this.open = count
    this.request = request
    this.reply = reply
  }

  fail(place: number, error: unknown): void {
    const problem = problemOf(error, BATCH_LIMIT)
    if (problem.code === 'internal') this.request.log.error({ err: problem.cause }, 'could not do an operation')
    this.tell(place, ERRORS[problem.code].status, problemBody(problem, this.request.id))
  }

  /** Written out at once: a text is less to keep than the objects it tells of. */
  tell(place: number, status: number, body: object): void {
    this.texts[place] = `{"status":${status},"body":${JSON.stringify(body)}}`
    this.open -= 1
    if (this.open === 0) {
      this.reply.type('application/json; charset=utf-8').send(`{"results":[${this.texts.join(',')}]}`)
    }
  }
}

/** One operation of a batch, while it waits for its outcome. */
class Operation implements Completion<Outcome> {
  private readonly results: Results
  private readonly place: number
  private readonly asked: Asked

  constructor(results: Results, place: number, asked: Asked) {
    this.results = results
    this.place = place
    this.asked = asked
  }

  resolve(outcome: Outcome): void {
    try {
      this.results.tell(this.place, 200, answerOf(this.asked, outcome))
    } catch (error) {
      this.results.fail(this.place, error)
    }
  }

  reject(error: unknown): void {
    this.results.fail(this.place, error)
  }
}

function tooManyBatches(): Problem {
  const detail = 'Too many batches are under way already. Nothing was done; repeat the call.'
  return new Problem('overloaded', detail, { headers: { 'retry-after': '1' } })
}
