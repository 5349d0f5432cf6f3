/**
 * Sends the operations that a process calls at the same time as one batch. There is no timer: while batches are under way,
 * the next one gathers, so a lone operation goes out at once and a crowd shares its calls.
 *
 * The operations of one user take effect in the order of the calls: they are never in two batches at a time. An operation
 * of a batch that is answered "try later" is sent again before what its user called later; what succeeded in the same
 * batch stays.
 */
import type { BatchResult, Problem } from './api.ts'
import { QuotaError, UnavailableError } from './errors.ts'
import { toCamel } from './names.ts'
import type { Retries } from './retries.ts'
import type { CallOptions, Input, Transport } from './transport.ts'

/** The operations that a batch can hold. */
export const SENDER_OPERATIONS = ['check', 'reserve', 'consume', 'commit', 'release', 'refund'] as const

type SenderOperation = (typeof SENDER_OPERATIONS)[number]

const MAX_OPERATIONS = 1_000
const MAX_BATCHES = 4
/** Of the texts of messages in a batch, far below the 1 MiB that a body may have. */
const MAX_TEXT = 200_000

interface Waiting {
  readonly name: SenderOperation
  readonly input: Input
  readonly deadline: number
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
  /** Set when its caller has its answer, also if that is a timeout. */
  isOver: boolean
  isSent: boolean
  /** Whether an earlier attempt may have taken effect. */
  isUncertain: boolean
  retries: number
}

/** An operation of a batch that was answered "try later". */
interface Refused {
  readonly operation: Waiting
  readonly error: UnavailableError
}

export interface CoalescingOptions {
  readonly transport: Transport
  readonly retries: Retries
  readonly timeoutMs: number
  /** Operations that may wait for a batch. More are refused at once. */
  readonly maxWaiting: number
  readonly now: () => number
  readonly sleep: (ms: number) => Promise<void>
}

export type Coalesced = (name: SenderOperation, input: Input, options: CallOptions) => Promise<unknown>

export function createCoalescing(options: CoalescingOptions): Coalesced {
  const { transport, retries, timeoutMs, maxWaiting, now, sleep } = options
  const queue = createQueue()
  let batches = 0
  let isScheduled = false

  /** Sends what waits, together with what else is called in this tick. */
  function schedule(): void {
    if (isScheduled || batches >= MAX_BATCHES || !queue.hasReady()) return
    isScheduled = true
    queueMicrotask(() => {
      isScheduled = false
      const batch = queue.take()
      if (batch.length > 0) {
        batches += 1
        send(batch).then(refused => {
          batches -= 1
          const [again, ms] = chooseRetries(refused)
          queue.free(batch, again)
          if (again.length > 0) sleep(ms).then(() => putBack(again))
          schedule()
        })
      }
      schedule()
    })
  }

  async function send(batch: readonly Waiting[]): Promise<Refused[]> {
    const timeout = Math.max(...batch.map(({ deadline }) => deadline)) - now()
    const [first] = batch
    try {
      if (batch.length === 1 && first !== undefined) {
        first.resolve(await transport.call(first.name, first.input, {}, timeout))
        return []
      }
      const operations = batch.map(({ name, input }) => ({ op: name, ...input }))
      const { results } = (await transport.call('batch', { operations }, {}, timeout)) as BatchResult
      return batch.flatMap((operation, index) => settle(operation, results[index]) ?? [])
    } catch (error) {
      for (const operation of batch) fail(operation, error)
      return []
    }
  }

  /** Those to send again, and in how many milliseconds. The others fail. Together they cost one retry: they are one call. */
  function chooseRetries(refused: readonly Refused[]): [Waiting[], number] {
    const open = refused.filter(({ operation }) => !operation.isOver)
    if (open.length === 0) return [[], 0]
    const already = Math.max(...open.map(({ operation }) => operation.retries))
    const latest = Math.max(...open.map(({ operation }) => operation.deadline))
    const ms = retries.delay(already, 0, latest) ?? Number.POSITIVE_INFINITY
    const again: Waiting[] = []
    for (const { operation, error } of open) {
      if (now() + ms >= operation.deadline) fail(operation, error)
      else again.push(operation)
      operation.isSent = false
      operation.isUncertain ||= error.mayHaveTakenEffect
      operation.retries += 1
    }
    return [again, ms]
  }

  function putBack(operations: readonly Waiting[]): void {
    queue.putBack(operations)
    schedule()
  }

  return (name, input, { timeoutMs: ownTimeoutMs = timeoutMs, signal }) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted()
      const waiting = queue.waiting()
      if (waiting >= maxWaiting) {
        throw new UnavailableError(`${waiting} operations are waiting for the service`, { mayHaveTakenEffect: false })
      }
      const deadline = now() + ownTimeoutMs
      const operation = waitingOperation({ name, input, deadline, signal, timeoutMs: ownTimeoutMs }, resolve, reject)
      queue.add(operation)
      schedule()
    })
}

/** An operation that is over when it has a result, at its deadline, or when its signal aborts. */
function waitingOperation(
  {
    signal,
    timeoutMs,
    ...asked
  }: Pick<Waiting, 'name' | 'input' | 'deadline'> & { signal: AbortSignal | undefined; timeoutMs: number },
  resolve: (value: unknown) => void,
  reject: (error: unknown) => void,
): Waiting {
  const end = () => {
    operation.isOver = true
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
  const operation: Waiting = {
    ...asked,
    isOver: false,
    isSent: false,
    isUncertain: false,
    retries: 0,
    resolve(value) {
      end()
      resolve(value)
    },
    reject(error) {
      end()
      reject(error)
    },
  }
  const abort = () => operation.reject(signal?.reason)
  const timer = setTimeout(() => {
    const message = 'the service did not answer in time'
    operation.reject(new UnavailableError(message, { mayHaveTakenEffect: operation.isSent || operation.isUncertain }))
  }, timeoutMs)
  signal?.addEventListener('abort', abort)
  return operation
}

/** The operations that wait, a line for each user. Those of users with operations under way stay until these are done. */
function createQueue() {
  /** Of users that have none under way, in the order in which they came. */
  const ready = new Map<unknown, Waiting[]>()
  /** Of users that have some under way. */
  const behind = new Map<unknown, Waiting[]>()
  let waiting = 0

  function release(user: unknown): void {
    const line = behind.get(user)
    behind.delete(user)
    if (line !== undefined && line.length > 0) ready.set(user, line)
  }

  return {
    waiting: () => waiting,
    hasReady: () => ready.size > 0,

    add(operation: Waiting): void {
      const user = operation.input.userId
      const line = behind.get(user) ?? ready.get(user)
      if (line === undefined) ready.set(user, [operation])
      else line.push(operation)
      waiting += 1
    },

    /** The next batch; empty if all that waited is over. */
    take(): Waiting[] {
      const batch: Waiting[] = []
      let room = MAX_TEXT
      for (const [user, line] of ready) {
        if (batch.length === MAX_OPERATIONS || room <= 0) break
        const sent = batch.length
        let taken = 0
        for (const operation of line) {
          if (batch.length === MAX_OPERATIONS || room <= 0) break
          taken += 1
          if (operation.isOver) continue
          room -= textLength(operation.input)
          operation.isSent = true
          batch.push(operation)
        }
        waiting -= taken
        ready.delete(user)
        if (batch.length > sent) behind.set(user, line.slice(taken))
        else if (line.length > taken) ready.set(user, line.slice(taken))
      }
      return batch
    },

    /** Lets the operations that waited behind those of a batch be sent, but for those of users who have some to repeat. */
    free(batch: readonly Waiting[], again: readonly Waiting[]): void {
      const held = new Set(again.map(({ input }) => input.userId))
      for (const { input } of batch) if (!held.has(input.userId)) release(input.userId)
    },

    /** Lets operations be sent again, before those that waited behind them. */
    putBack(operations: readonly Waiting[]): void {
      const lines = new Map<unknown, Waiting[]>()
      for (const operation of operations) {
        const user = operation.input.userId
        const line = lines.get(user)
        if (line === undefined) lines.set(user, [operation])
        else line.push(operation)
      }
      for (const [user, line] of lines) {
        behind.set(user, [...line, ...(behind.get(user) ?? [])])
        release(user)
      }
      waiting += operations.length
    },
  }
}

/** @returns what asks to try later */
function settle(operation: Waiting, result: BatchResult['results'][number] | undefined): Refused | undefined {
  if (result === undefined) {
    const message = 'the answer has no result for this operation'
    operation.reject(new UnavailableError(message, { mayHaveTakenEffect: true }))
    return undefined
  }
  if (result.status < 300) {
    operation.resolve(result.body)
    return undefined
  }
  const problem = toCamel(result.body) as Problem
  const cause = new QuotaError(problem)
  if (result.status !== 503 && result.status !== 429) {
    operation.reject(cause)
    return undefined
  }
  const mayHaveTakenEffect = problem.code === 'unavailable'
  return { operation, error: new UnavailableError(cause.message, { mayHaveTakenEffect, cause }) }
}

/** Rejects an operation, whose earlier attempt may have taken effect even if this one did not. */
function fail(operation: Waiting, error: unknown): void {
  if (error instanceof UnavailableError && operation.isUncertain && !error.mayHaveTakenEffect) {
    const { message, cause } = error
    operation.reject(new UnavailableError(message, { mayHaveTakenEffect: true, cause }))
  } else {
    operation.reject(error)
  }
}

function textLength({ message }: Input): number {
  return typeof message === 'object' && message !== null && 'text' in message ? String(message.text).length : 0
}
