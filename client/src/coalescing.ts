/**
 * Sends the operations that a process calls at the same time as one batch. There is no timer: while batches are under way,
 * the next one gathers, so a lone operation goes out at once and a crowd shares its calls.
 *
 * The operations of one user take effect in the order of the calls: they are never in two batches at a time.
 */
import type { BatchResult, Problem } from './api.ts'
import { QuotaError, UnavailableError } from './errors.ts'
import { toCamel } from './names.ts'
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
}

export interface CoalescingOptions {
  readonly transport: Transport
  readonly timeoutMs: number
  /** Operations that may wait for a batch. More are refused at once. */
  readonly maxWaiting: number
  readonly now: () => number
}

export type Coalesced = (name: SenderOperation, input: Input, options: CallOptions) => Promise<unknown>

export function createCoalescing({ transport, timeoutMs, maxWaiting, now }: CoalescingOptions): Coalesced {
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
        send(batch).finally(() => {
          batches -= 1
          queue.free(batch)
          schedule()
        })
      }
      schedule()
    })
  }

  async function send(batch: readonly Waiting[]): Promise<void> {
    const timeout = Math.max(...batch.map(({ deadline }) => deadline)) - now()
    const [first] = batch
    try {
      if (batch.length === 1 && first !== undefined) {
        first.resolve(await transport.call(first.name, first.input, {}, timeout))
        return
      }
      const operations = batch.map(({ name, input }) => ({ op: name, ...input }))
      const { results } = (await transport.call('batch', { operations }, {}, timeout)) as BatchResult
      for (const [index, operation] of batch.entries()) settle(operation, results[index])
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
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
    operation.reject(new UnavailableError(message, { mayHaveTakenEffect: operation.isSent }))
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

    /** Lets the operations that waited behind those of a batch be sent. */
    free(batch: readonly Waiting[]): void {
      for (const { input } of batch) {
        const line = behind.get(input.userId)
        behind.delete(input.userId)
        if (line !== undefined && line.length > 0) ready.set(input.userId, line)
      }
    },
  }
}

function settle({ resolve, reject }: Waiting, result: BatchResult['results'][number] | undefined): void {
  if (result === undefined) {
    reject(new UnavailableError('the answer has no result for this operation', { mayHaveTakenEffect: true }))
  } else if (result.status < 300) {
    resolve(result.body)
  } else {
    const problem = toCamel(result.body) as Problem
    const cause = new QuotaError(problem)
    if (result.status === 503 || result.status === 429) {
      const mayHaveTakenEffect = problem.code === 'unavailable'
      reject(new UnavailableError(cause.message, { mayHaveTakenEffect, cause }))
    } else {
      reject(cause)
    }
  }
}

function textLength({ message }: Input): number {
  return typeof message === 'object' && message !== null && 'text' in message ? String(message.text).length : 0
}
