import { expect, test } from 'vitest'
import { ConnectionLost } from '../../src/db/connection/database.ts'
import { HOUR_MS } from '../../src/domain/time.ts'
import { createJobRunner, type Job } from '../../src/jobs/runner.ts'

const log = { info() {}, warn() {}, error() {} }

test('a job goes from step to step until the runner stops, which waits for the step under way', async () => {
  let steps = 0
  const [third, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const job: Job = {
    name: 'work',
    async step() {
      steps += 1
      if (steps === 3) {
        third.resolve()
        await gate.promise
      }
      return () => 0
    },
  }
  const jobs = createJobRunner([job], { log })
  jobs.start()
  await third.promise
  let isStopped = false
  const stopped = jobs.stop().then(() => {
    isStopped = true
  })
  await Promise.resolve()
  expect(isStopped).toBe(false)
  gate.resolve()
  await stopped
  expect(steps).toBe(3)
})

test('stop ends a pause at once, and resolves at once for a runner that was not started', async () => {
  const paused = Promise.withResolvers<void>()
  const pauseAfter = () => {
    paused.resolve()
    return HOUR_MS
  }
  const jobs = createJobRunner([{ name: 'work', step: async () => pauseAfter }], { log })
  jobs.start()
  await paused.promise
  await jobs.stop()
  await createJobRunner([{ name: 'work', step: async () => pauseAfter }], { log }).stop()
})

test('one signal stops the steps of all jobs, and each job is finished after its last step', async () => {
  const events: string[] = []
  const signals = new Set<AbortSignal>()
  const createJob = (name: string) => {
    const started = Promise.withResolvers<void>()
    const job: Job = {
      name,
      async step(signal) {
        signals.add(signal)
        const aborted = Promise.withResolvers<void>()
        signal.addEventListener('abort', () => aborted.resolve())
        started.resolve()
        await aborted.promise
        events.push(`${name}: step ended`)
        return () => 0
      },
      async finish() {
        events.push(`${name}: finished`)
      },
    }
    return { job, started: started.promise }
  }
  const [one, other] = [createJob('one'), createJob('other')]
  const jobs = createJobRunner([one.job, other.job], { log })
  jobs.start()
  await Promise.all([one.started, other.started])
  await jobs.stop()
  expect(signals.size).toBe(1)
  for (const name of ['one', 'other']) {
    expect(events.filter(event => event.startsWith(`${name}:`))).toEqual([`${name}: step ended`, `${name}: finished`])
  }
})

test('a job goes on after a failure, and an unavailable database is logged once', async () => {
  const failures = [new ConnectionLost('away', 'test'), new ConnectionLost('away', 'test'), new Error('a bug')]
  const logged: string[] = []
  const over = Promise.withResolvers<void>()
  const job: Job = {
    name: 'work',
    async step() {
      const failure = failures.shift()
      if (failure !== undefined) throw failure
      over.resolve()
      return () => HOUR_MS
    },
  }
  const jobs = createJobRunner([job], {
    log: { info() {}, warn: (_, message) => logged.push(message), error: (_, message) => logged.push(message) },
    retryMs: 0,
  })
  jobs.start()
  await over.promise
  await jobs.stop()
  expect(logged).toEqual(['work: database unavailable, retrying', 'work: step failed, retrying'])
})
