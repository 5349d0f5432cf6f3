import type { Log } from '../db/database.ts'
import type { Command, Outcome } from '../domain/command.ts'
import { SHARD_COUNT, SHARDS, shardOf } from '../domain/shard.ts'
import type { EpochMs } from '../domain/time.ts'
import type { BatchReport } from './batch-report.ts'
import type { Completion } from './completion.ts'
import { createConnections } from './connections.ts'
import { EngineFailure, Unavailable } from './failures.ts'
import { createLanes, type LaneReport } from './lanes.ts'
import type { Answer } from './locked-mode.ts'
import { createShardRunner } from './shard-runner.ts'

/**
 * Takes commands, gathers them by shard while the previous batch commits, and answers each when its batch is durable.
 * Commands of one user take effect in the order in which they were submitted; different users have no order.
 */
export interface Engine {
  /**
   * Rejects with an `EngineFailure` (failures.ts) if the command is not decided: `Overloaded` when the queue is full,
   * `Closed` after `close`, `Unavailable` when the store cannot decide now.
   */
  submit(command: Command): Promise<Outcome>
  /** Does what `submit` does without a promise, for thousands of calls a second. */
  enqueue(command: Command, completion: Completion<Outcome>): void
  /** Commands accepted and not yet answered, and what they weigh in bytes. */
  readonly queue: { commands: number; bytes: number }
  /** Accepts no more commands, carries out those accepted, and closes the connections. */
  close(): Promise<void>
}

export interface EngineOptions {
  url: string
  now: () => EpochMs
  log: Log
  /** Grants every command, and reports what would have been denied. */
  observe?: boolean
  /** False keeps no usage. Only to measure what keeping it costs. */
  keepsUsage?: boolean
  /** The maximum number of batches in flight, each with a connection of its own; default 8. */
  connections?: number
  /** The maximum number of commands in a batch; default 1,000. */
  batchSize?: number
  /** The maximum number of commands accepted and not yet answered; default 50,000. */
  queueCommands?: number
  /** The maximum of their bytes; default 64 MiB. */
  queueBytes?: number
  onLaneReport?: (report: LaneReport) => void
  onBatchReport?: (report: BatchReport) => void
}

/**
 * Batches in flight while none of them waits. With more of them each carries fewer commands, and the cores spend their
 * time on switching between them. A batch that takes longer than two milliseconds waits for a disk (or a lock) and
 * makes room for another: where a flush takes that long, only three batches would be in flight meanwhile
 * (docs/performance.md).
 */
const CONCURRENCY = 3
const STALL_MS = 2

/** What a command weighs in the queue beside its texts: its object, its completion, its place in the batch. */
const BYTES_PER_COMMAND = 400

export function createEngine(options: EngineOptions): Engine {
  const onLost = () => {
    for (const runner of runners) runner.forget()
  }
  const connections = createConnections({ url: options.url, log: options.log, onLost })
  const runners = SHARDS.map(shard =>
    createShardRunner({
      shard,
      connections,
      now: options.now,
      enforcement: { observe: options.observe ?? false },
      keepsUsage: options.keepsUsage ?? true,
      onLost,
      onBatchReport: options.onBatchReport ?? (() => {}),
    }),
  )
  const lanes = createLanes<Command, Answer>({
    lanes: SHARD_COUNT,
    workers: options.connections ?? 8,
    concurrency: CONCURRENCY,
    stallMs: STALL_MS,
    batchSize: options.batchSize ?? 1_000,
    queueCommands: options.queueCommands ?? 50_000,
    queueBytes: options.queueBytes ?? 64 * 1024 * 1024,
    run(lane, commands, slot) {
      const runner = runners[lane]
      if (runner === undefined) throw new RangeError(`there is no shard ${lane}`)
      return runner.run(commands, slot.reportBlocked)
    },
    // An error that is not the store's is caused by one command.
    splits: error => !(error instanceof EngineFailure),
    now: () => performance.now(),
    ...(options.onLaneReport === undefined ? {} : { onLaneReport: options.onLaneReport }),
  })

  function enqueue(command: Command, completion: Completion<Outcome>): void {
    const bytes = BYTES_PER_COMMAND + 2 * command.id.length
    lanes.submit(shardOf(command.user_id), command, bytes, new AnswerCompletion(completion))
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

/** Rejects a command whose answer is a failure, so that callers of the engine get failures in one way. */
class AnswerCompletion implements Completion<Answer> {
  private readonly completion: Completion<Outcome>

  constructor(completion: Completion<Outcome>) {
    this.completion = completion
  }

  resolve(answer: Answer): void {
    if (answer instanceof Unavailable) this.completion.reject(answer)
    else this.completion.resolve(answer)
  }

  reject(error: unknown): void {
    this.completion.reject(error)
  }
}
