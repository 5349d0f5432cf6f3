/** Operations of senders that wait for a batch, or for its answer. */
import { UnavailableError } from './errors.ts'
import type { Process } from './processes.ts'
import type { SenderOperation } from './route.ts'
import type { Span } from './tracing.ts'
import type { Input } from './transport.ts'
import { keyOfReference, type UserKey } from './user.ts'

const MAX_OPERATIONS = 1_000
/** Of the texts of messages in a batch, far below the 1 MiB that a body may have. */
const MAX_TEXT = 200_000

export interface Waiting {
  readonly name: SenderOperation
  readonly input: Input
  readonly span: Span | undefined
  readonly deadline: number
  /** Whether this client was called so before. */
  readonly isRepeated: boolean
  /** Gets the failure of each attempt. */
  readonly onFailure: ((error: UnavailableError) => void) | undefined
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
  /** Set when its caller has its answer, also if that is a timeout. */
  isOver: boolean
  isSent: boolean
  /** Whether an earlier attempt may have taken effect. */
  isUncertain: boolean
  /** False if the last attempt that ended was answered by a service that is there; see `UnavailableError`. */
  isOutage: boolean
  retries: number
}

/** An operation that is over when it has a result, at its deadline, or when its signal aborts. */
export function waitingOperation(
  {
    signal,
    timeoutMs,
    ...asked
  }: Pick<Waiting, 'name' | 'input' | 'span' | 'deadline' | 'isRepeated' | 'onFailure'> & {
    signal: AbortSignal | undefined
    timeoutMs: number
  },
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
    isOutage: true,
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
    const { isSent, isUncertain, isOutage } = operation
    operation.reject(new UnavailableError(message, { mayHaveTakenEffect: isSent || isUncertain, isOutage }))
  }, timeoutMs)
  signal?.addEventListener('abort', abort)
  return operation
}

type Lines = Map<UserKey | undefined, Waiting[]>

/** Lines of users that have no operations under way, by the process to which they go, in the order in which they came. */
function createReady(processOf: (user: UserKey | undefined) => Process) {
  const ready = new Map<Process, Lines>()
  return {
    processes: () => [...ready].flatMap(([process, lines]) => (lines.size > 0 ? process : [])),
    linesOf: (process: Process): Lines => ready.get(process) ?? new Map(),

    find(user: UserKey | undefined): Waiting[] | undefined {
      for (const lines of ready.values()) {
        const line = lines.get(user)
        if (line !== undefined) return line
      }
      return undefined
    },

    add(user: UserKey | undefined, line: Waiting[]): void {
      const process = processOf(user)
      const lines = ready.get(process)
      if (lines === undefined) ready.set(process, new Map([[user, line]]))
      else lines.set(user, line)
    },
  }
}

/**
 * The operations that wait, a line for each user. Those of users with operations under way stay until these are done.
 *
 * @param processOf where the next call about a user goes
 */
export function createQueue(processOf: (user: UserKey | undefined) => Process) {
  const ready = createReady(processOf)
  /** Of users that have some under way. */
  const behind: Lines = new Map()
  let waiting = 0

  function release(user: UserKey | undefined): void {
    const line = behind.get(user)
    behind.delete(user)
    if (line !== undefined && line.length > 0) ready.add(user, line)
  }

  return {
    waiting: () => waiting,
    /** The processes for which there is a batch. */
    ready: ready.processes,

    add(operation: Waiting): void {
      const user = lineOf(operation.input)
      const line = behind.get(user) ?? ready.find(user)
      if (line === undefined) ready.add(user, [operation])
      else line.push(operation)
      waiting += 1
    },

    /** The next batch for a process; empty if all that waited is over. */
    take(process: Process): Waiting[] {
      const batch: Waiting[] = []
      const lines = ready.linesOf(process)
      let room = MAX_TEXT
      for (const [user, line] of lines) {
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
        lines.delete(user)
        if (batch.length > sent) behind.set(user, line.slice(taken))
        else if (line.length > taken) lines.set(user, line.slice(taken))
      }
      return batch
    },

    /** Lets the operations that waited behind those of a batch be sent, but for those of users who have some to repeat. */
    free(batch: readonly Waiting[], again: readonly Waiting[]): void {
      const held = new Set(again.map(({ input }) => lineOf(input)))
      for (const { input } of batch) if (!held.has(lineOf(input))) release(lineOf(input))
    },

    /** Lets operations be sent again, before those that waited behind them. */
    putBack(operations: readonly Waiting[]): void {
      for (const [user, line] of linesOf(operations)) {
        behind.set(user, [...line, ...(behind.get(user) ?? [])])
        release(user)
      }
      waiting += operations.length
    },
  }
}

/** The user whose operations keep their order; undefined for what the service refuses. One that is named in both ways has two lines. */
const lineOf = ({ userId, userRef }: Input): UserKey | undefined => {
  if (typeof userRef === 'string') return keyOfReference(userRef)
  return typeof userId === 'number' ? userId : undefined
}

/** The operations of each user, in their order. */
function linesOf(operations: readonly Waiting[]): Lines {
  const lines: Lines = new Map()
  for (const operation of operations) {
    const user = lineOf(operation.input)
    const line = lines.get(user)
    if (line === undefined) lines.set(user, [operation])
    else line.push(operation)
  }
  return lines
}

function textLength({ message }: Input): number {
  return typeof message === 'object' && message !== null && 'text' in message ? String(message.text).length : 0
}
