/**
 * Carries out commands in batches, while the next ones gather. The queue (queue.ts) forms the batches, the limiter
 * (limiter.ts) says how many may be in flight; here they start and end. Nothing here knows what a command does.
 *
 * When a batch starts: no timer delays it. Commands that arrive in one tick of Node's event loop start at the end of that
 * tick (`setImmediate`), so a lone client waits for microseconds, while requests that are ready on a hundred sockets share
 * a batch. A microtask would run before the second socket is read and would leave the first command alone. The batch that
 * follows another one starts at the end of a tick, too. One batch starts a tick: to decide hundreds of commands takes
 * milliseconds, and sockets wait to be read.
 */
import { Closed, type Completion } from './completion.ts'
import { createLimiter, type Limiter, type LimiterOptions } from './limiter.ts'
import { createQueue, type Queue, type QueuedBatch, type QueueOptions, type UserCommand } from './queue.ts'

export interface SchedulerOptions<C, R> extends QueueOptions, Omit<LimiterOptions, 'onRoom'> {
  /**
   * Carries out a batch and resolves to one result per command that the batch still has, in their order; an error is the
   * result of a command that failed alone. If it rejects or throws, all of them are rejected with that error.
   */
  run(batch: RunningBatch<C>): Promise<readonly (R | Error)[]>
  /** Called when a batch has ended, successfully or not, unless all of its commands were isolated. */
  onQueueReport?(report: QueueReport): void
}

/** A batch as `run` sees it. */
export interface RunningBatch<C> {
  /** The commands that it has to carry out, in their order. */
  readonly commands: readonly C[]
  readonly isIsolated: boolean
  /** Leaves these users' commands to another batch, which runs isolated; this one goes on without them. Not after its end. */
  isolate(users: ReadonlySet<number>): void
}

/** A batch that has ended. */
export interface QueueReport {
  readonly size: number
  readonly isIsolated: boolean
  /** The wait of its oldest command when the batch started, in milliseconds. */
  readonly queuedMs: number
  readonly ranMs: number
}

export interface Scheduler<C, R> {
  /**
   * Completes with what `run` resolved to for the command, or rejected with. Rejects at once, with nothing done, when
   * the bounds are reached (`Overloaded`) and after `close` (`Closed`). `bytes` is what the command weighs.
   */
  submit(command: C, bytes: number, completion: Completion<R>): void
  /** Whether the queue has room for another command of the principal. */
  hasRoom(principal: string): boolean
  /** Accepts no more commands, carries out those accepted, then resolves. It never rejects. */
  close(): Promise<void>
  /** Commands accepted and not yet completed, those in flight included: what `queueCommands` bounds. */
  readonly queued: number
  readonly queuedBytes: number
  /** Batches in flight. */
  readonly inFlight: number
}

export function createScheduler<C extends UserCommand, R>(options: SchedulerOptions<C, R>): Scheduler<C, R> {
  return new QueueScheduler(options)
}

class QueueScheduler<C extends UserCommand, R> implements Scheduler<C, R> {
  private readonly options: SchedulerOptions<C, R>
  private readonly queue: Queue<C, R>
  private readonly limiter: Limiter
  private isWaking = false
  private closing: Promise<void> | undefined
  private drained = () => {}

  constructor(options: SchedulerOptions<C, R>) {
    this.options = options
    this.queue = createQueue<C, R>(options)
    this.limiter = createLimiter({ ...options, onRoom: () => this.wake() })
  }

  submit(command: C, bytes: number, completion: Completion<R>): void {
    const refusal =
      this.closing === undefined
        ? this.queue.add(command, bytes, completion)
        : new Closed('no more commands are accepted')
    if (refusal === undefined) this.wake()
    else completion.reject(refusal)
  }

  hasRoom(principal: string): boolean {
    return this.queue.hasRoom(principal)
  }

  close(): Promise<void> {
    this.closing ??= new Promise(resolve => {
      this.drained = resolve
      this.reportDrained()
    })
    return this.closing
  }

  get queued(): number {
    return this.queue.commands
  }

  get queuedBytes(): number {
    return this.queue.bytes
  }

  get inFlight(): number {
    return this.limiter.inFlight
  }

  private reportDrained(): void {
    if (this.queue.commands === 0 && this.limiter.inFlight === 0) this.drained()
  }

  /** Starts a batch at the end of the tick, if one may start. */
  private wake(): void {
    const { queue } = this
    if (this.isWaking) return
    if (!(queue.hasIsolated && this.canStart(true)) && !(queue.hasWaiting && this.canStart(false))) return
    this.isWaking = true
    setImmediate(this.startNext)
  }

  /** The commands of a batch leave the queue before its slot, and may be in two batches while some of them are isolated. */
  private canStart(isIsolated: boolean): boolean {
    return this.limiter.canStart(isIsolated, Math.max(0, this.queue.commands - this.limiter.commands))
  }

  private readonly startNext = (): void => {
    const { queue } = this
    this.isWaking = false
    const batch =
      (this.canStart(true) ? queue.takeIsolated() : undefined) ?? (this.canStart(false) ? queue.take() : undefined)
    if (batch !== undefined) void this.carryOut(batch)
    this.wake()
  }

  private async carryOut(batch: QueuedBatch<C, R>): Promise<void> {
    const { now, onQueueReport } = this.options
    const endSlot = this.limiter.start(batch.isIsolated, batch.entries.length)
    const started = now()

    const results = await this.resultsOf(batch)

    const { entries } = batch
    this.queue.release(entries)
    for (let n = 0; n < entries.length; n++) {
      const result = results[n]
      if (result instanceof Error) entries[n]?.completion.reject(result)
      else entries[n]?.completion.resolve(result as R)
    }
    const ended = now()
    this.queue.end(batch)
    endSlot()
    this.reportDrained()
    if (entries.length === 0) return
    // Last, so that an error thrown in it becomes an unhandled rejection and leaves nothing half done here.
    onQueueReport?.({
      size: entries.length,
      isIsolated: batch.isIsolated,
      queuedMs: started - batch.since,
      ranMs: ended - started,
    })
  }

  /** A result for each command that the batch has in the end. */
  private async resultsOf(batch: QueuedBatch<C, R>): Promise<readonly (R | Error)[]> {
    const running = new OpenBatch(batch, users => {
      this.queue.isolate(batch, users)
      this.wake()
    })
    try {
      const results = await this.options.run(running)
      if (Array.isArray(results) && results.length === running.commands.length) return results
      const count = Array.isArray(results) ? results.length : 'no'
      throw new Error(`a batch of ${running.commands.length} commands got ${count} results`)
    } catch (error) {
      const failure = error instanceof Error ? error : new Error('a batch failed', { cause: error })
      return running.commands.map(() => failure)
    }
  }
}

/**
 * A batch until its commands are completed. A class, because an object with a getter of its own has a hidden class of its own, which
 * outlives it, and with it all that its functions see: the requests of the batch.
 */
class OpenBatch<C extends UserCommand, R> implements RunningBatch<C> {
  commands: readonly C[]
  private readonly batch: QueuedBatch<C, R>
  private readonly divide: (users: ReadonlySet<number>) => void

  constructor(batch: QueuedBatch<C, R>, divide: (users: ReadonlySet<number>) => void) {
    this.batch = batch
    this.divide = divide
    this.commands = commandsOf(batch)
  }

  get isIsolated(): boolean {
    return this.batch.isIsolated
  }

  isolate(users: ReadonlySet<number>): void {
    this.divide(users)
    this.commands = commandsOf(this.batch)
  }
}

function commandsOf<C extends UserCommand, R>({ entries }: QueuedBatch<C, R>): C[] {
  return entries.map(({ command }) => command)
}
