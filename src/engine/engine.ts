import type { Log } from '../db/database.ts'
import type { Command, Outcome } from '../domain/command.ts'
import { SHARD_COUNT, shardOf } from '../domain/shard.ts'
import type { EpochMs } from '../domain/time.ts'
import { Problem } from '../errors.ts'
import { createConnections } from './connections.ts'
import { type BatchReport, type Caller, Closed, createLanes, Overloaded } from './lanes.ts'
import { type Answer, type BatchModeReport, createShard, type Shard } from './shard.ts'

/**
 * Takes commands, gathers them by shard while the batch before commits, and answers each when its batch is durable.
 * Commands of one user take effect in the order they were submitted; different users have no order.
 */
export interface Engine {
  /** Rejects with a Problem: `overloaded` when the queue is full, `unavailable` when the store cannot decide now. */
  submit(command: Command): Promise<Outcome>
  /** The same without a promise, for those who ask thousands of times a second. */
  enqueue(command: Command, caller: Caller<Outcome>): void
  /** Commands accepted and not yet answered, and what they weigh. */
  readonly queue: { commands: number; bytes: number }
  /** Takes nothing new, carries out what was accepted, and lets the connections go. */
  close(): Promise<void>
}

export interface EngineOptions {
  url: string
  now: () => EpochMs
  log: Log
  /** Grants everything, and says what would have been denied. */
  observe?: boolean
  /** Only to measure what keeping usage costs: none is kept if false. */
  keepsUsage?: boolean
  /** Batches in flight at most, each with a connection of its own. */
  connections?: number
  /** Commands in a batch at most. */
  batchSize?: number
  /** Commands accepted and not answered at most, in number and in bytes. */
  queueCommands?: number
  queueBytes?: number
  onBatch?: (report: BatchReport) => void
  onBatchMode?: (report: BatchModeReport) => void
}

/**
 * Batches in flight while nothing holds them up. With more of them each carries fewer commands, and the cores spend their
 * time on changing from one to the other. One that is not back after two milliseconds waits for a disk (or a lock), and
 * makes room for another: where a flush takes that long, three in flight would be all that is done meanwhile
 * (docs/performance.md).
 */
const ABREAST = 3
const HELD_UP_MS = 2

/** What a command weighs in the queue beside its texts: its object, who waits for it, its place in line. */
const BYTES_A_COMMAND = 400

export function createEngine(options: EngineOptions): Engine {
  const onLost = () => {
    for (const shard of shards) shard.forget()
  }
  const connections = createConnections({ url: options.url, log: options.log, onLost })
  const shards: readonly Shard[] = Array.from({ length: SHARD_COUNT }, (_, shard) =>
    createShard({
      shard,
      connections,
      now: options.now,
      enforcement: { observe: options.observe ?? false },
      keepsUsage: options.keepsUsage ?? true,
      onLost,
      onBatch: options.onBatchMode ?? (() => {}),
    }),
  )
  const lanes = createLanes<Command, Answer>({
    lanes: SHARD_COUNT,
    workers: options.connections ?? 8,
    abreast: ABREAST,
    heldUpMs: HELD_UP_MS,
    batchSize: options.batchSize ?? 1_000,
    queueCommands: options.queueCommands ?? 50_000,
    queueBytes: options.queueBytes ?? 64 * 1024 * 1024,
    run(lane, commands, turn) {
      const shard = shards[lane]
      if (shard === undefined) throw new RangeError(`there is no shard ${lane}`)
      return shard.run(commands, turn.slow)
    },
    // What is no problem of the store's is one command's fault.
    splits: error => !(error instanceof Problem),
    now: () => performance.now(),
    ...(options.onBatch === undefined ? {} : { onBatch: options.onBatch }),
  })

  function enqueue(command: Command, caller: Caller<Outcome>): void {
    const bytes = BYTES_A_COMMAND + 2 * command.id.length
    lanes.submit(shardOf(command.user_id), command, bytes, new CallerOfLane(caller))
  }

  return {
    enqueue,
    submit: command => new Promise((resolve, reject) => enqueue(command, { resolve, reject })),
    get queue() {
      return { commands: lanes.queued, bytes: lanes.queuedBytes }
    },
    async close() {
      await lanes.close()
      await connections.close()
    },
  }
}

/** Between a lane and a caller: whatever is wrong, with one command or with the queue, is a rejection. */
class CallerOfLane implements Caller<Answer> {
  private readonly caller: Caller<Outcome>

  constructor(caller: Caller<Outcome>) {
    this.caller = caller
  }

  resolve(answer: Answer): void {
    if (answer instanceof Problem) this.caller.reject(answer)
    else this.caller.resolve(answer)
  }

  reject(error: unknown): void {
    this.caller.reject(refusalOf(error))
  }
}

function refusalOf(error: unknown): unknown {
  const headers = { 'retry-after': '1' }
  if (error instanceof Overloaded) {
    return new Problem('overloaded', 'Too much is waiting already. Nothing was done; repeat the call.', { headers })
  }
  if (error instanceof Closed) {
    return new Problem('unavailable', 'The service is stopping. Nothing was done; repeat the call.', { headers })
  }
  return error
}
