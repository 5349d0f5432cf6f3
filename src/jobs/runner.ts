import { setTimeout as pause } from 'node:timers/promises'
import type { Cluster } from '../db/cluster/topology.ts'
import { isUnavailable, type Log } from '../db/connection/database.ts'
import { type EpochMs, removalTime } from '../domain/time/time.ts'
import { EngineFailure } from '../engine/completion.ts'

/** Work in the background, in steps that are repeated until the runner stops. */
export interface Job {
  /** The part that log messages name. */
  readonly name: string
  /** Does a bounded piece of the work, and ends early when the signal aborts. */
  step(signal: AbortSignal): Promise<StepEnd>
  /** The delay of the oldest overdue work, in milliseconds, if the job knows it more exactly than its runner (`RunningJob`). */
  lagMs?(): number
  /** Ends the work that steps have started and not awaited. Called once, after the last step. */
  finish?(): Promise<void>
}

/** The end of a step that did not fail. */
export interface StepEnd {
  /** It left work that was due. */
  readonly isBehind: boolean
  /** How many milliseconds to pause before the next step, given how many this one took. */
  pauseMs(tookMs: number): number
}

/** The pause of jobs that find nothing to do, in milliseconds. On a cluster, to look for work asks all shards. */
export const idleMsOn = (cluster: Cluster | undefined) => (cluster === undefined ? 1_000 : 5_000)

/** A job that runs, for metrics. */
export interface RunningJob {
  readonly name: string
  /**
   * How long the oldest work is overdue, in milliseconds: since the first step was due that has not ended, has failed, or
   * has left work, after the last one that left none. Or what the job itself says, if that is more.
   */
  lagMs(): number
}

/** The work of a step of a job that goes through rows page by page. */
export interface PagedStep {
  /** There may be more to do. */
  isBehind: boolean
}

export interface Removal extends PagedStep {
  removed: number
}

/** A job that removes rows whose time is over, and that no caller waits for. Any number of processes may run it. */
export interface RetentionJob<Step extends PagedStep = Removal> extends Job {
  /**
   * Removes a page of each part that has more, each in a short transaction: what has been kept long enough at `now`. A step of the job
   * takes the time of `removalTime`.
   */
  removeOnce(now: EpochMs, signal?: AbortSignal): Promise<Step>
}

export interface RetentionJobOptions<Step> {
  name: string
  /** The pause after a step that left nothing, in milliseconds. */
  intervalMs: number
  now: () => EpochMs
  removePage(now: EpochMs, signal?: AbortSignal): Promise<Step>
}

/** It works for at most half of the time. */
export function createRetentionJob<Step extends PagedStep>(options: RetentionJobOptions<Step>): RetentionJob<Step> {
  const { name, intervalMs, now, removePage } = options
  return {
    name,
    removeOnce: removePage,
    async step(signal) {
      const { isBehind } = await removePage(removalTime(now()), signal)
      return { isBehind, pauseMs: tookMs => (isBehind ? 5 + tookMs : intervalMs) }
    },
  }
}

/**
 * Whether work of every `everyMs` that was planned for `plannedAt` is due. A plan that lies farther ahead was made by a clock
 * that was ahead, and counts as missed.
 */
export function isDue(now: EpochMs, plannedAt: EpochMs, everyMs: number): boolean {
  return now >= plannedAt || now < plannedAt - everyMs
}

export interface JobRunner {
  /** Starts all jobs, each with its first step. To be called once at most. */
  start(): void
  /** Aborts the signal of all steps. Resolves when the steps under way have ended and every job is finished. */
  stop(): Promise<void>
}

/** A step that has ended. */
export interface StepReport {
  /** The job's. */
  name: string
  /** `unavailable`: the database does not serve, or the clock is not trusted. */
  outcome: 'done' | 'unavailable' | 'failed'
  tookMs: number
  /** The pause until the next step. */
  pauseMs: number
}

export interface JobRunnerOptions {
  log: Log
  onStart?: (job: RunningJob) => void
  onStep?: (report: StepReport) => void
  /** The pause after a step that failed, in milliseconds; a second if left out. */
  retryMs?: number
  /** Milliseconds that never go back; the process's if left out. */
  monotonicMs?: () => number
}

/** Runs jobs beside each other, the steps of each one after the other. */
export function createJobRunner(jobs: readonly Job[], options: JobRunnerOptions): JobRunner {
  const { log, onStart, onStep, retryMs = 1_000, monotonicMs = () => performance.now() } = options
  const stopping = new AbortController()
  const { signal } = stopping
  const running = new Map<Job, Promise<void>>()

  /** Repeats a step that failed: the work of jobs stays in the database until it is done. */
  async function run(job: Job): Promise<void> {
    let wasOutage = false
    let dueAt = monotonicMs()
    onStart?.({
      name: job.name,
      lagMs: () => Math.max(0, monotonicMs() - dueAt, job.lagMs?.() ?? 0),
    })
    while (!signal.aborted) {
      let pauseMs = retryMs
      let outcome: StepReport['outcome'] = 'done'
      const started = monotonicMs()
      try {
        const end = await job.step(signal)
        pauseMs = end.pauseMs(monotonicMs() - started)
        if (!end.isBehind) dueAt = monotonicMs() + pauseMs
        wasOutage = false
      } catch (error) {
        // The clock is in doubt if the engine's failure comes from a job: no step runs until it is trusted again.
        const isOutage = isUnavailable(error) || error instanceof EngineFailure
        const what = error instanceof EngineFailure ? 'service' : 'database'
        if (!isOutage) log.error({ err: error }, `${job.name}: step failed, retrying`)
        else if (!wasOutage) log.warn({ reason: String(error) }, `${job.name}: ${what} unavailable, retrying`)
        wasOutage = isOutage
        outcome = isOutage ? 'unavailable' : 'failed'
      }
      onStep?.({ name: job.name, outcome, tookMs: monotonicMs() - started, pauseMs })
      await pause(pauseMs, undefined, { signal }).catch(() => {})
    }
  }

  return {
    start() {
      for (const job of jobs) running.set(job, run(job))
    },
    async stop() {
      stopping.abort()
      await Promise.all(
        jobs.map(async job => {
          await running.get(job)
          await job.finish?.()
        }),
      )
    },
  }
}
