import { setImmediate as nextTick } from 'node:timers/promises'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { isReference } from '../../contract/patterns.ts'
import { NoQuery } from '../../contract/schemas.ts'
import { BatchReq, type SenderOp, type SenderRequest } from '../../contract/sender.ts'
import type { Outcome } from '../../domain/units/command.ts'
import type { Completion } from '../../engine/completion.ts'
import { ERRORS, invalidRequest, Problem } from '../../errors.ts'
import type { Metrics } from '../../metrics.ts'
import { principalOf } from '../auth/guard.ts'
import { asUnmade, mayMakeUser, NotMade, type SenderUsers } from '../auth/sender-users.ts'
import type { ServerParts } from '../context.ts'
import { createBodyAdmission } from '../platform/body-admission.ts'
import { parseJsonBody, readRawBodies } from '../platform/json-body.ts'
import { operation, senderResponses } from '../platform/openapi.ts'
import { problemBody, problemOf } from '../platform/problems.ts'
import { loggedRequest } from '../platform/request-log.ts'
import { waitPaused } from '../platform/slow-down.ts'
import { whenClosed } from '../platform/when-closed.ts'
import { commandOf, createOperationCheck, originOf, type SenderCall } from './requests.ts'
import { answerOf } from './responses.ts'
import { checkRights, readsNotes } from './rights.ts'

/** The maximum size of a batch, in bytes. */
const MAX_BATCH_BYTES = 1024 * 1024

/**
 * The maximum size of all batches in progress, in bytes. More would not finish sooner, and objects that live for a second
 * cause the garbage collector to pause the process (docs/performance.md).
 */
const MAX_BYTES_IN_PROGRESS = 1024 * 1024

/**
 * A batch counts at most this much: the size of a thousand typical operations, the most there can be. The texts of
 * messages are freed after parsing.
 */
const MAX_COUNTED_BYTES = 80 * 1024

/** Parsed, validated and submitted in one tick of the event loop, which takes about 5 ms. */
const BYTES_PER_TICK = 64 * 1024

/**
 * A batch gives way to other calls after this time and one more operation. Counting the segments of the longest text of nothing but
 * joiners or combining marks takes 25 ms, and a batch has room for thirty of them.
 */
const MAX_TICK_MS = 10

const SCHEMA = {
  ...operation(
    'Sender',
    'batch',
    'Run up to 1,000 operations in one call',
    'Each operation is independent and has its own status. Operations of the same user take effect in order. The body may have up to 1 MiB.',
  ),
  querystring: NoQuery,
  body: BatchReq,
  response: senderResponses(Type.Ref('BatchResult#'), ['payload_too_large', 'unsupported_media_type']),
}

/**
 * Many operations in one call: `/batch`. Needs a scope of its own, because it replaces the body parser.
 */
export function batchRoutes(server: FastifyInstance, parts: ServerParts): void {
  const { engine, authenticator, metrics, senderLimit, senderUsers: users } = parts
  const app = server.withTypeProvider<TypeBoxTypeProvider>()
  const checkOperation = createOperationCheck(() => parts.settings.segments)
  const batches = createBodyAdmission({ maxBytes: MAX_BYTES_IN_PROGRESS, bytesPerTick: BYTES_PER_TICK })

  readRawBodies(app, app.bodyReader, MAX_BATCH_BYTES)
  admitCompleteBodies(app, batches)

  app.post(
    '/batch',
    {
      bodyLimit: MAX_BATCH_BYTES,
      // Refusing a batch before its body is read costs almost nothing.
      onRequest(request, _reply, done) {
        const bytes = Number(request.headers['content-length'] ?? MAX_BATCH_BYTES)
        if (batches.hasRoom(principalOf(request).subject, countedBytes(bytes))) done()
        else refuseLater(request, done)
      },
      schema: SCHEMA,
    },
    async (request, reply) => {
      const { operations } = request.body
      const principal = principalOf(request)
      // How many there are is known only now, and the call itself has been counted: the sender's next calls wait until these are paid off.
      senderLimit.charge(principal.subject, operations.length - 1)
      // Frees the parsed body: with a thousand operations it is larger than the commands.
      request.body = { operations: [] }
      const results = new Results(operations.length, request, reply, metrics)
      const origin = originOf(request)
      const mayMake = (operation: unknown): boolean => {
        const checked = checkOperation(operation)
        if ('issues' in checked) return false
        const body = operation as SenderRequest
        return mayMakeUser(principal, checked.op, body, id => commandOf(checked.op, id, body, origin, parts.settings))
      }
      const caller = { principal, requestId: request.id }
      const named = await usersOfReferences(users, caller, operations, mayMake)
      // Submits all operations before the first outcome, so that they share a commit and keep their order.
      let pauseAt = performance.now() + MAX_TICK_MS
      for (const [place, operation] of operations.entries()) {
        if (performance.now() > pauseAt) {
          await nextTick()
          pauseAt = performance.now() + MAX_TICK_MS
        }
        try {
          const checked = checkOperation(operation)
          if ('issues' in checked) throw invalidRequest(checked.issues)
          const body = operation as SenderRequest
          const call = commandOf(checked.op, userOf(checked.op, body, named), body, origin, parts.settings)
          checkRights(authenticator, principal, call.command)
          engine.enqueue(call.command, new Operation(results, place, call))
        } catch (error) {
          if (error instanceof NotMade) results.set(place, 200, error.denial)
          else results.fail(place, error)
        }
      }
      return reply
    },
  )
}

/** Who a reference names, or why that is not known or not allowed. */
type Named = ReadonlyMap<string, number | { error: unknown }>

/**
 * Finds the users of all references before the first operation is submitted, those that are not remembered by one statement: operations
 * of the same user, however they name them, take effect in their order.
 */
async function usersOfReferences(
  users: SenderUsers,
  caller: Parameters<SenderUsers['identify']>[0],
  operations: readonly unknown[],
  mayMake: (operation: unknown) => boolean,
): Promise<Named | null> {
  if (operations.every(operation => referenceOf(operation) === undefined)) return null
  const byReference = Map.groupBy(operations, referenceOf)
  byReference.delete(undefined)
  const named = new Map<string, number | { error: unknown }>()
  const found: Promise<unknown>[] = []
  for (const [ref = '', ofUser] of byReference) {
    const isFirst = (operation: unknown): boolean => {
      try {
        return mayMake(operation)
      } catch {
        // It is refused in its turn.
        return false
      }
    }
    const userId = users.identify(caller, { user_ref: ref }, () => ofUser.some(isFirst))
    if (typeof userId === 'number') named.set(ref, userId)
    else {
      const settled = userId.then(
        id => named.set(ref, id),
        error => named.set(ref, { error }),
      )
      found.push(settled)
    }
  }
  if (found.length > 0) await Promise.all(found)
  return named
}

/** A reference that the schema accepts; undefined: the operation has none, or is refused. */
function referenceOf(operation: unknown): string | undefined {
  if (typeof operation !== 'object' || operation === null || !('user_ref' in operation)) return undefined
  const { user_ref: ref } = operation
  return typeof ref === 'string' && isReference(ref) ? ref : undefined
}

/** @throws what kept the user of the reference from being found */
function userOf(op: SenderOp, { user_id, user_ref = '' }: SenderRequest, named: Named | null): number {
  const userId = user_id ?? named?.get(user_ref)
  if (typeof userId === 'number') return userId
  if (userId === undefined) throw new TypeError('a validated operation names no user')
  return asUnmade(op, userId.error)
}

/** A batch is admitted when its body is complete: one that arrives slowly takes no room of others. */
function admitCompleteBodies(app: FastifyInstance, batches: ReturnType<typeof createBodyAdmission>): void {
  app.addHook('preValidation', (request, reply, done) => {
    const { body } = request
    if (!(body instanceof Buffer)) return done()
    const bytes = countedBytes(body.length)
    const { subject } = principalOf(request)
    if (!batches.tryAcquire(subject, bytes)) return refuseLater(request, done)
    whenClosed(reply.raw, () => batches.release(subject, bytes))
    // Parses and submits the batch in the same tick.
    batches.nextTick(body.length).then(() => {
      parseJsonBody(request, body, (error, parsed) => {
        request.body = parsed
        done(error ?? undefined)
      })
    })
  })
}

/** The results of a batch, in the order of its operations. Sends the response after the last one. */
class Results {
  private readonly texts: string[]
  private open: number
  readonly readsNotes: boolean
  private readonly request: FastifyRequest
  private readonly reply: FastifyReply
  private readonly metrics: Pick<Metrics, 'problem'>

  constructor(count: number, request: FastifyRequest, reply: FastifyReply, metrics: Pick<Metrics, 'problem'>) {
    this.texts = new Array<string>(count).fill('')
    this.open = count
    this.readsNotes = readsNotes(principalOf(request))
    this.request = request
    this.reply = reply
    this.metrics = metrics
  }

  fail(place: number, error: unknown): void {
    const problem = problemOf(error, MAX_BATCH_BYTES)
    this.metrics.problem(problem)
    this.request.server.requestLog.failed(loggedRequest(this.request), problem, error)
    this.set(place, ERRORS[problem.code].status, problemBody(problem, this.request.id))
  }

  /** Serialized at once: the text takes less memory than the objects. */
  set(place: number, status: number, body: object): void {
    this.texts[place] = `{"status":${status},"body":${JSON.stringify(body)}}`
    this.open -= 1
    if (this.open === 0) {
      this.reply.type('application/json; charset=utf-8').send(`{"results":[${this.texts.join(',')}]}`)
    }
  }
}

/** An operation of a batch that waits for its outcome. */
class Operation implements Completion<Outcome> {
  private readonly results: Results
  private readonly place: number
  private readonly call: SenderCall

  constructor(results: Results, place: number, call: SenderCall) {
    this.results = results
    this.place = place
    this.call = call
  }

  resolve(outcome: Outcome): void {
    try {
      this.results.set(this.place, 200, answerOf(this.call, outcome, this.results.readsNotes))
    } catch (error) {
      this.results.fail(this.place, error)
    }
  }

  reject(error: unknown): void {
    this.results.fail(this.place, error)
  }
}

function countedBytes(bytes: number): number {
  return Math.min(bytes, MAX_COUNTED_BYTES)
}

/** A batch that is sent again at once costs the reading of its body again, so its sender waits for the refusal. */
function refuseLater(request: FastifyRequest, done: (refusal: Problem) => void): void {
  const detail = 'Too many batches of this sender are in progress. Nothing was done; repeat the call.'
  waitPaused(request.raw).then(() => done(new Problem('overloaded', detail)))
}
