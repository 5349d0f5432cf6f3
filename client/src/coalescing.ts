/**
 * Sends the operations that a process calls at the same time as one batch. There is no timer: while batches are under way,
 * the next one gathers, so a lone operation goes out at once and a crowd shares its calls.
 *
 * Each process gets batches of its own users.
 *
 * The operations of one user take effect in the order of the calls: they are never in two batches at a time. An operation
 * of a batch that is answered "try later" is sent again before what its user called later; what succeeded in the same
 * batch stays.
 */
import type { BatchResult, Problem } from './api.ts'
import { asUncertain, isUncertain, UnavailableError } from './errors.ts'
import { toCamel } from './names.ts'
import type { Process } from './processes.ts'
import { asFirst, isDenied, type Repetitions } from './repetitions.ts'
import type { Retries } from './retries.ts'
import type { SenderOperation } from './route.ts'
import { type Span, startSpan } from './tracing.ts'
import { type Input, type OwnCallOptions, refusalOf, type Transport, tryLater } from './transport.ts'
import type { UserKey } from './user.ts'
import { createQueue, type Waiting, waitingOperation } from './waiting.ts'

/** At a time, to each process. */
const MAX_BATCHES = 4

/** An operation of a batch that was answered "try later". */
interface Refused {
  readonly operation: Waiting
  readonly error: UnavailableError
}

export interface CoalescingOptions {
  readonly transport: Pick<Transport, 'call'>
  /** Where the next call about a user goes. */
  readonly processOf: (user: UserKey | undefined) => Process
  readonly retries: Retries
  readonly repetitions: Repetitions
  readonly timeoutMs: number
  /** Operations that may wait for a batch. More are refused at once. */
  readonly maxWaiting: number
  readonly now: () => number
  readonly sleep: (ms: number) => Promise<void>
}

export type Coalesced = (name: SenderOperation, input: Input, options: OwnCallOptions, span?: Span) => Promise<unknown>

export function createCoalescing(options: CoalescingOptions): Coalesced {
  const { transport, processOf, retries, repetitions, timeoutMs, maxWaiting, now, sleep } = options
  const queue = createQueue(processOf)
  /** Those under way. */
  const batches = new Map<Process, number>()
  let isScheduled = false

  const count = (process: Process, step: number) => batches.set(process, (batches.get(process) ?? 0) + step)
  const mayTake = () => queue.ready().filter(process => (batches.get(process) ?? 0) < MAX_BATCHES)

  /** Sends what waits, together with what else is called in this tick. */
  function schedule(): void {
    if (isScheduled || mayTake().length === 0) return
    isScheduled = true
    queueMicrotask(() => {
      isScheduled = false
      for (const process of mayTake()) sendTo(process)
      schedule()
    })
  }

  function sendTo(process: Process): void {
    const batch = queue.take(process)
    if (batch.length === 0) return
    count(process, 1)
    send(batch).then(refused => {
      count(process, -1)
      const [again, ms] = chooseRetries(refused, retries, now())
      queue.free(batch, again)
      schedule()
      if (again.length === 0) return
      sleep(ms).then(() => {
        queue.putBack(again)
        schedule()
      })
    })
  }

  async function send(batch: readonly Waiting[]): Promise<Refused[]> {
    const timeout = Math.max(...batch.map(({ deadline }) => deadline)) - now()
    const onFailure = (error: UnavailableError) => {
      for (const operation of batch) noteFailure(operation, error)
    }
    try {
      return await sendOnce(transport, batch, { timeout, onFailure })
    } catch (error) {
      for (const operation of batch) fail(operation, error)
      return []
    }
  }

  return (name, input, { timeoutMs: ownTimeoutMs = timeoutMs, signal, onFailure }, span) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted()
      const waiting = queue.waiting()
      if (waiting >= maxWaiting) {
        const message = `${waiting} operations are waiting for the service`
        throw new UnavailableError(message, { mayHaveTakenEffect: false, isOutage: false })
      }
      const deadline = now() + ownTimeoutMs
      const { isRepeated, ...ends } = noted(repetitions, { name, input }, { resolve, reject })
      const operation = waitingOperation(
        { name, input, span, deadline, signal, isRepeated, onFailure, timeoutMs: ownTimeoutMs },
        ends.resolve,
        ends.reject,
      )
      queue.add(operation)
      schedule()
    })
}

/** A lone operation has a call of its own. */
async function sendOnce(
  transport: Pick<Transport, 'call'>,
  batch: readonly Waiting[],
  { timeout, onFailure }: { timeout: number; onFailure: (error: UnavailableError) => void },
): Promise<Refused[]> {
  const [first, ...others] = batch
  if (first === undefined || others.length > 0) return sendTogether(transport, batch, { timeout, onFailure })
  const again = () => {
    waitedFor(batch)
    return first.input
  }
  succeed(first, await transport.call(first.name, first.input, { onFailure, again }, timeout, first.span))
  return []
}

async function sendTogether(
  transport: Pick<Transport, 'call'>,
  batch: readonly Waiting[],
  { timeout, onFailure }: { timeout: number; onFailure: (error: UnavailableError) => void },
): Promise<Refused[]> {
  let sent = batch
  const input = () => ({ operations: sent.map(({ name, input }) => ({ op: name, ...input })) })
  const again = () => {
    sent = waitedFor(batch)
    return input()
  }
  const spans = batch.map(({ span }) => span)
  const span = startSpan('batch', spans)
  const call = () => transport.call('batch', input(), { onFailure, again }, timeout, span) as Promise<BatchResult>
  const { results } = await (span === undefined ? call() : span.run(call))
  return results.flatMap((result, index) => {
    const operation = sent[index]
    return operation === undefined ? [] : (settle(operation, result) ?? [])
  })
}

/**
 * The operations whose callers still wait. What another has given up is not sent again: it would hold or take units for nothing when the
 * service is back.
 *
 * @throws UnavailableError if there are none
 */
function waitedFor(batch: readonly Waiting[]): readonly Waiting[] {
  const open = batch.filter(({ isOver }) => !isOver)
  if (open.length > 0) return open
  throw new UnavailableError('no caller waits for it any more', { mayHaveTakenEffect: true })
}

/** Those to send again, and in how many milliseconds. The others fail. Together they cost one retry: they are one call. */
function chooseRetries(refused: readonly Refused[], retries: Retries, now: number): [Waiting[], number] {
  const open = refused.filter(({ operation }) => !operation.isOver)
  if (open.length === 0) return [[], 0]
  const already = Math.max(...open.map(({ operation }) => operation.retries))
  const latest = Math.max(...open.map(({ operation }) => operation.deadline))
  const ms = retries.delay(already, 0, latest) ?? Number.POSITIVE_INFINITY
  const again: Waiting[] = []
  for (const { operation, error } of open) {
    noteFailure(operation, error)
    if (now + ms >= operation.deadline) fail(operation, error)
    else again.push(operation)
    operation.isSent = false
    operation.retries += 1
  }
  return [again, ms]
}

/** @returns what asks to try later */
function settle(operation: Waiting, result: BatchResult['results'][number]): Refused | undefined {
  if (result.status < 300) {
    succeed(operation, result.body)
    return undefined
  }
  const problem = toCamel(result.body) as Problem
  if (result.status !== 503 && result.status !== 429) {
    fail(operation, refusalOf(problem, result.status))
    return undefined
  }
  return { operation, error: tryLater(problem) }
}

/** Notes a call, and forgets it if it ends without an effect. */
function noted(
  repetitions: Repetitions,
  { name, input }: Pick<Waiting, 'name' | 'input'>,
  { resolve, reject }: Pick<Waiting, 'resolve' | 'reject'>,
): Pick<Waiting, 'isRepeated' | 'resolve' | 'reject'> {
  const isRepeated = repetitions.note(name, input)
  const forget = () => !isRepeated && repetitions.forget(name, input)
  return {
    isRepeated,
    resolve(answer) {
      if (isDenied(answer)) forget()
      resolve(answer)
    },
    reject(error) {
      if (!isUncertain(error)) forget()
      reject(error)
    },
  }
}

function succeed(operation: Waiting, answer: unknown): void {
  const { name, isUncertain, isRepeated } = operation
  operation.resolve(isUncertain && !isRepeated ? asFirst(name, answer) : answer)
}

function noteFailure(operation: Waiting, error: UnavailableError): void {
  operation.isUncertain ||= error.mayHaveTakenEffect
  operation.isOutage = error.isOutage
  operation.onFailure?.(error)
}

/** Rejects an operation, whose earlier attempt may have taken effect even if this one did not. */
function fail(operation: Waiting, error: unknown): void {
  operation.reject(operation.isUncertain ? asUncertain(error) : error)
}
