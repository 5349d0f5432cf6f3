import { expect, test } from 'vitest'
import { ConnectionLost } from '../../src/db/connection/database.ts'
import { HOUR_MS } from '../../src/domain/time/time.ts'
import { createJobRunner, type Job, type StepEnd } from '../../src/jobs/runner.ts'

const log = { info() {}, warn() {}, error() {} }

const end = (pauseMs: number, isBehind = false): StepEnd => ({ isBehind, pauseMs: () => pauseMs })

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
      return end(0)
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
  const pauseMs = () => {
    paused.resolve()
    return HOUR_MS
  }
  const job: Job = { name: 'work', step: async () => ({ isBehind: false, pauseMs }) }
  const jobs = createJobRunner([job], { log })
  jobs.start()
  await paused.promise
  await jobs.stop()
  await createJobRunner([job], { log }).stop()
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
        return end(0)
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
      return end(HOUR_MS)
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

test('a job lags from when a step was due that hangs, fails or leaves work, until one leaves none', async () => {
  let now = 5_000
  let lag = () => -1
  const gates = Array.from({ length: 5 }, () => Promise.withResolvers<StepEnd>())
  const started = gates.map(() => Promise.withResolvers<void>())
  let step = 0
  const job: Job = {
    name: 'work',
    step() {
      started[step]?.resolve()
      return gates[step++]?.promise ?? Promise.reject(new Error('one step too many'))
    },
  }
  const jobs = createJobRunner([job], {
    log,
    retryMs: 0,
    monotonicMs: () => now,
    onStart({ lagMs }) {
      lag = lagMs
    },
  })
  /** Ends a step after that time, in milliseconds, and waits for the next one. */
  const endStep = async (n: number, ms: number, settle: (gate: PromiseWithResolvers<StepEnd> | undefined) => void) => {
    now += ms
    settle(gates[n])
    await started[n + 1]?.promise
  }
  jobs.start()
  expect(lag()).toBe(0)
  now += 700
  expect(lag(), 'hangs').toBe(700)
  await endStep(0, 0, gate => gate?.resolve(end(0)))
  expect(lag(), 'left nothing').toBe(0)
  await endStep(1, 30, gate => gate?.reject(new Error('a bug')))
  expect(lag(), 'failed').toBe(30)
  await endStep(2, 40, gate => gate?.resolve(end(0, true)))
  expect(lag(), 'left work').toBe(70)
  await endStep(3, 50, gate => gate?.resolve(end(0)))
  expect(lag(), 'left nothing again').toBe(0)
  const stopped = jobs.stop()
  gates[4]?.resolve(end(HOUR_MS))
  await stopped
  now += HOUR_MS - 1
  expect(lag(), 'pauses').toBe(0)
})

test('a job that knows its lag more exactly says so', async () => {
  let lag = () => -1
  const job: Job = { name: 'work', lagMs: () => 7_000, step: async () => end(HOUR_MS) }
  const jobs = createJobRunner([job], {
    log,
    onStart({ lagMs }) {
      lag = lagMs
    },
  })
  jobs.start()
  expect(lag()).toBe(7_000)
  await jobs.stop()
})
