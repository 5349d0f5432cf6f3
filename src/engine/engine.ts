import type { Log } from '../db/database.ts'
import type { Command, Outcome } from '../domain/command.ts'
import type { EpochMs } from '../domain/time.ts'
import type { BatchReport } from './batch-report.ts'
import type { Completion } from './completion.ts'
import { createConnections } from './connections.ts'
import { createDenialSampler } from './denial-sampler.ts'
import { createDifficultUsers } from './difficult-users.ts'
import { createMemory } from './memory.ts'
import { createPrincipals } from './principals.ts'
import { createRunner } from './runner.ts'
import { createScheduler, type QueueReport } from './scheduler.ts'

/**
 * Takes commands, gathers them while the previous batches commit, and answers each when its batch is durable. Commands of
 * one principal for one user take effect in the order in which they were submitted; others have no order.
 */
/** The maximum number of connections to the database. */
export const ENGINE_CONNECTIONS = 8

export interface Engine {
  /**
   * Rejects with an `EngineFailure` (failures.ts) if the command is not decided: `Overloaded` when the queue is full or the
   * principal has its share of it, `Closed` after `close`, `Unavailable` when the store cannot decide now.
   */
  submit(command: Command): Promise<Outcome>
  /** Does what `submit` does without a promise, for thousands of calls a second. */
  enqueue(command: Command, completion: Completion<Outcome>): void
  /**
   * Whether the queue has room for a command of the principal. To ask before a request is read makes a refusal cheap; a
   * command may be refused all the same.
   */
  hasRoom(principal: string): boolean
  /** Commands accepted and not yet answered, and what they weigh in bytes. */
  readonly queue: { commands: number; bytes: number }
  /** Accepts no more commands, carries out those accepted, and closes the connections. */
  close(): Promise<void>
}

export interface EngineOptions {
  url: string
  now: () => EpochMs
  log: Log
  /** A clock in milliseconds that never steps back; default: the process's. */
  monotonicMs?: () => number
  /** Grants every command, and reports what would have been denied. */
  observe?: boolean
  /** False keeps no usage. Only to measure what keeping it costs. */
  keepsUsage?: boolean
  /** False logs no denials. Only to measure what logging them costs. */
  logsDenials?: boolean
  /** The maximum number of batches in flight, each with a connection of its own; default `ENGINE_CONNECTIONS`. */
  connections?: number
  /**
   * How long a batch of many users waits for a locked row, in milliseconds, before the users whose rows are locked run
   * apart; default 100.
   */
  lockTimeoutMs?: number
  /** The maximum number of commands in a batch; default 256. */
  batchSize?: number
  /** The maximum number of commands accepted and not yet answered; default 50,000. */
  queueCommands?: number
  /** The maximum of their bytes; default 64 MiB. */
  queueBytes?: number
  onQueueReport?: (report: QueueReport) => void
  onBatchReport?: (report: BatchReport) => void
}

/**
 * Batches in flight while none of them waits: with more of them each carries fewer commands. A batch that takes longer than
 * its commands explain waits for a disk or a lock and makes room for another: where a flush takes long, few batches would
 * be in flight meanwhile (docs/performance.md).
 */
const CONCURRENCY = 2
/** With larger batches PostgreSQL waits while a batch is decided and answered, and Node.js while it is written. */
const BATCH_SIZE = 256
/**
 * Of one principal while others have commands, too. A command waits for the batches in flight and its own, so with two full
 * ones the calls of a polite sender beside a greedy one wait for 768 commands; with these for 192.
 */
const BATCH_SHARE = 64
const STALL_MS = 3
const STALL_MS_PER_COMMAND = 0.05

/** What a command weighs in the queue beside its texts: its object, its completion, its place in the batch. */
const BYTES_PER_COMMAND = 400

export function createEngine(options: EngineOptions): Engine {
  const monotonicMs = options.monotonicMs ?? (() => performance.now())
  const memory = createMemory()
  const principals = createPrincipals()
  const difficultUsers = createDifficultUsers()
  const connections = createConnections({
    url: options.url,
    monotonicMs,
    lockTimeoutMs: options.lockTimeoutMs ?? 100,
    log: options.log,
    onLost() {
      memory.forgetAll()
      principals.forgetAll()
    },
  })
  const runner = createRunner(
    {
      connections,
      memory,
      principals,
      now: options.now,
      enforcement: { observe: options.observe ?? false },
      keepsUsage: options.keepsUsage ?? true,
      denialSampler: (options.logsDenials ?? true) ? createDenialSampler() : null,
      onBatchReport: options.onBatchReport ?? (() => {}),
    },
    difficultUsers,
  )
  const scheduler = createScheduler<Command, Outcome>({
    workers: options.connections ?? ENGINE_CONNECTIONS,
    concurrency: CONCURRENCY,
    stallMs: STALL_MS,
    stallMsPerCommand: STALL_MS_PER_COMMAND,
    batchSize: options.batchSize ?? BATCH_SIZE,
    batchShare: BATCH_SHARE,
    queueCommands: options.queueCommands ?? 50_000,
    queueBytes: options.queueBytes ?? 64 * 1024 * 1024,
    run: batch => runner.run(batch),
    difficultyOf: difficultUsers.difficultyOf,
    now: monotonicMs,
    ...(options.onQueueReport === undefined ? {} : { onQueueReport: options.onQueueReport }),
  })

  function enqueue(command: Command, completion: Completion<Outcome>): void {
    scheduler.submit(command, BYTES_PER_COMMAND + 2 * command.id.length, completion)
  }

  return {
    enqueue,
    hasRoom: principal => scheduler.hasRoom(principal),
    submit: command => new Promise((resolve, reject) => enqueue(command, { resolve, reject })),
    get queue() {
      return { commands: scheduler.queued, bytes: scheduler.queuedBytes }
    },
    async close() {
      await scheduler.close()
      await connections.close()
    },
  }
}
