import type { Log } from '../db/connection/database.ts'
import { SQLSTATE, sqlStateOf } from '../db/connection/errors.ts'
import { NO_PAUSES } from '../domain/pauses/pause.ts'
import { NO_RATES } from '../domain/rates/rate-book.ts'
import type { EpochMs } from '../domain/time/time.ts'
import type { Command, Outcome } from '../domain/units/command.ts'
import type { Enforcement } from '../domain/units/drawing.ts'
import type { KeyOf } from '../domain/units/value-counter.ts'
import type { BatchReport } from './batch.ts'
import type { Completion } from './completion.ts'
import { createConnections } from './connections.ts'
import type { DenialSampler } from './denial-sampler.ts'
import { createMemory } from './memory.ts'
import type { Newcomers } from './newcomers.ts'
import type { Pauses } from './pauses.ts'
import type { Principals } from './principals.ts'
import { createQuarantine } from './quarantine.ts'
import type { Rates } from './rates.ts'
import { createRunner } from './runner.ts'
import { createScheduler, type QueueReport } from './scheduler.ts'
import type { Connect } from './servers.ts'

/** The options that the lanes of an engine share; see `EngineOptions`. */
export interface LaneOptions {
  now: () => EpochMs
  log: Log
  /** A clock in milliseconds that never steps back; default: the process's. */
  monotonicMs?: () => number
  /** Grants every command, and reports what would have been denied. */
  observe?: boolean
  /** False keeps no usage. Only to measure what keeping it costs. */
  keepsUsage?: boolean
  /**
   * The wait of a batch of many users for a locked row, in milliseconds, before the users whose rows are locked run
   * apart; default 100.
   */
  lockTimeoutMs?: number
  /**
   * A batch waits this long, in milliseconds, for a database that went away before its commands are rejected; default 4,000.
   */
  giveUpMs?: number
  /** Users who get quotas with their first reservation; left out: none do. */
  newcomers?: Newcomers
  /** Destinations that are paused, at any time; left out: none are. */
  pauses?: Pick<Pauses, 'known'>
  /** What segments cost; left out: one unit each. */
  rates?: Pick<Rates, 'known'>
  /** The maximum number of commands in a batch; default 256. */
  batchSize?: number
  onQueueReport?: (report: QueueReport) => void
  onBatchReport?: (report: BatchReport) => void
}

/** The parts that a lane has to itself, or shares with the others. */
interface LaneParts {
  readonly connect: Connect
  /** The maximum number of batches in flight, each with a connection of its own. */
  readonly connections: number
  /** The bounds of the lane's queue. */
  readonly queueCommands: number
  readonly queueBytes: number
  /** Among how many lanes the bounds of memory are shared out. */
  readonly lanes: number
  readonly principals: Principals
  readonly keyOf: KeyOf
  /** Chooses the denials that are logged; null: none are. */
  readonly denialSampler: DenialSampler | null
}

/** Carries out the commands of users whose rows lie together: a queue, memory and connections of their own. */
export interface EngineLane {
  enqueue(command: Command, completion: Completion<Outcome>): void
  hasRoom(principal: string): boolean
  readonly queued: number
  readonly queuedBytes: number
  /** Whether the database lately had no room on its disk for a batch. */
  readonly isDiskFull: boolean
  close(): Promise<void>
}

export const DEFAULT_LOCK_TIMEOUT_MS = 100
export const DEFAULT_GIVE_UP_MS = 4_000
/**
 * Batches in flight while none of them waits: with more of them each carries fewer commands. A batch that takes longer than
 * its commands explain waits for a disk or a lock and makes room for another: where a flush takes long, few batches would
 * be in flight meanwhile (docs/performance.md).
 */
const CONCURRENCY = 2
/** A second batch of fewer commands costs more than it gains (docs/performance.md). */
const FEW = 24
/** With larger batches PostgreSQL waits while a batch is decided and answered, and Node.js while it is written. */
const BATCH_SIZE = 256
/**
 * The most commands of one principal in a batch while others have commands, too. A command waits for the batches in
 * flight and its own, so with two full ones the calls of a polite sender beside a greedy one wait for 768 commands; with
 * these for 192.
 */
const BATCH_SHARE = 64
const STALL_MS = 3
const STALL_MS_PER_COMMAND = 0.05

/**
 * The disk counts as full for this long after it had no room for a batch, in milliseconds. Without batches nothing tells that
 * there is room again, and batches may be kept away for as long as it counts as full.
 */
const DISK_FULL_MS = 10_000

/** The weight of a command in the queue beside its texts: its object, its completion, its place in the batch. */
const BYTES_PER_COMMAND = 400

/** Pauses and rates may change from one batch to the next. */
export const enforcementOf = ({ observe = false, pauses, rates }: LaneOptions): Enforcement => ({
  observe,
  get pauses() {
    return pauses?.known ?? NO_PAUSES
  },
  get rates() {
    return rates?.known ?? NO_RATES
  },
})

export function createLane(options: LaneOptions, parts: LaneParts): EngineLane {
  const { now, log, monotonicMs = () => performance.now() } = options
  const memory = createMemory(parts.lanes)
  const quarantine = createQuarantine()
  let diskFullAt = Number.NEGATIVE_INFINITY
  const connections = createConnections({
    connect: parts.connect,
    monotonicMs,
    lockTimeoutMs: options.lockTimeoutMs ?? DEFAULT_LOCK_TIMEOUT_MS,
    log,
    onLost() {
      memory.forgetAll()
      parts.principals.forgetAll()
    },
  })
  const runner = createRunner(
    {
      connections,
      memory,
      lost: new WeakMap(),
      principals: parts.principals,
      keyOf: parts.keyOf,
      now,
      giveUpMs: options.giveUpMs ?? DEFAULT_GIVE_UP_MS,
      enforcement: enforcementOf(options),
      keepsUsage: options.keepsUsage ?? true,
      denialSampler: parts.denialSampler,
      newcomers: options.newcomers ?? null,
      onBatchReport: options.onBatchReport ?? (() => {}),
      onFailure(error) {
        if (sqlStateOf(error) === SQLSTATE.diskFull) diskFullAt = monotonicMs()
      },
    },
    quarantine,
  )
  const scheduler = createScheduler<Command, Outcome>({
    workers: parts.connections,
    concurrency: CONCURRENCY,
    few: FEW,
    stallMs: STALL_MS,
    stallMsPerCommand: STALL_MS_PER_COMMAND,
    batchSize: options.batchSize ?? BATCH_SIZE,
    batchShare: BATCH_SHARE,
    queueCommands: parts.queueCommands,
    queueBytes: parts.queueBytes,
    run: batch => runner.run(batch),
    difficultyOf: quarantine.difficultyOf,
    now: monotonicMs,
    ...(options.onQueueReport === undefined ? {} : { onQueueReport: options.onQueueReport }),
  })

  return {
    enqueue: (command, completion) => scheduler.submit(command, BYTES_PER_COMMAND + 2 * command.id.length, completion),
    hasRoom: principal => scheduler.hasRoom(principal),
    get queued() {
      return scheduler.queued
    },
    get queuedBytes() {
      return scheduler.queuedBytes
    },
    get isDiskFull() {
      return monotonicMs() - diskFullAt < DISK_FULL_MS
    },
    async close() {
      await scheduler.close()
      await connections.close()
    },
  }
}
