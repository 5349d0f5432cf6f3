import { Counter, Gauge, Histogram, type Registry } from '@prometheus-io/client'
import type { RunningJob, StepReport } from '../jobs/runner.ts'

export interface JobMetrics {
  /** A job starts now: its first step is due. Its lag is read at each scrape. */
  jobStarted(job: RunningJob): void
  /** A step of a job has ended. */
  jobStep(report: StepReport): void
}

const STEP_SECONDS = [0.01, 0.1, 1, 10]

/** @param now milliseconds since 1970 on the clock that Prometheus compares with: this machine's */
export function jobMetrics(registers: Registry[], now: () => number): JobMetrics {
  // Not `job`, which is Prometheus' own label of what it scrapes.
  const labelNames = ['name']
  const steps = new Counter({
    name: 'sms_quota_job_steps_total',
    help: 'Steps of background jobs, by outcome: done, unavailable (the database or the clock) or failed.',
    labelNames: ['name', 'outcome'],
    registers,
  })
  const seconds = new Histogram({
    name: 'sms_quota_job_step_seconds',
    help: 'Time that a step of a background job took.',
    labelNames,
    buckets: STEP_SECONDS,
    registers,
  })
  const success = new Gauge({
    name: 'sms_quota_job_last_success_timestamp_seconds',
    help: 'When a step of the background job last succeeded, in seconds since 1970.',
    labelNames,
    registers,
  })
  const due = new Gauge({
    name: 'sms_quota_job_due_timestamp_seconds',
    help: 'When the next step of the background job is due, in seconds since 1970. It stays in the past while a step runs or fails.',
    labelNames,
    registers,
  })
  const started: RunningJob[] = []
  new Gauge({
    name: 'sms_quota_job_lag_seconds',
    help: 'How long the oldest work of the background job is overdue, as far as this process knows: since the first step was due that failed, hangs or left work.',
    labelNames,
    registers,
    collect() {
      for (const job of started) {
        const lagMs = lagOf(job)
        if (lagMs !== undefined) this.set({ name: job.name }, lagMs / 1_000)
      }
    },
  })
  return {
    jobStarted(job) {
      due.set({ name: job.name }, now() / 1_000)
      started.push(job)
    },
    jobStep({ name, outcome, tookMs, pauseMs }) {
      steps.inc({ name, outcome })
      seconds.observe({ name }, tookMs / 1_000)
      if (outcome !== 'done') return
      success.set({ name }, now() / 1_000)
      due.set({ name }, (now() + pauseMs) / 1_000)
    },
  }
}

/** Undefined while the service's clock is not trusted: the last value then stays. */
function lagOf(job: RunningJob): number | undefined {
  try {
    return job.lagMs()
  } catch {
    return undefined
  }
}
