import { expect, test } from 'vitest'
import { ConnectionLost } from '../../src/db/database.ts'
import { HOUR_MS } from '../../src/domain/time.ts'
import { createLoop } from '../../src/jobs/job.ts'

const quiet = { info() {}, warn() {}, error() {} }

test('goes from step to step until it is stopped, and ends with the step under way', async () => {
  let steps = 0
  const [third, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const loop = createLoop({
    name: 'work',
    log: quiet,
    async step() {
      steps += 1
      if (steps === 3) {
        third.resolve()
        await gate.promise
      }
      return () => 0
    },
  })
  loop.start()
  await third.promise
  let isStopped = false
  const stopped = loop.stop().then(() => {
    isStopped = true
  })
  await Promise.resolve()
  expect(isStopped).toBe(false)
  gate.resolve()
  await stopped
  expect(steps).toBe(3)
})

test('is stopped at once while it pauses, and if it never began', async () => {
  const paused = Promise.withResolvers<void>()
  const pauseAfter = () => {
    paused.resolve()
    return HOUR_MS
  }
  const loop = createLoop({ name: 'work', log: quiet, step: async () => pauseAfter })
  loop.start()
  await paused.promise
  await loop.stop()
  await createLoop({ name: 'work', log: quiet, step: async () => pauseAfter }).stop()
})

test('goes on after a failure; that the database is away is told once', async () => {
  const failures = [new ConnectionLost('away', 'test'), new ConnectionLost('away', 'test'), new Error('a fault')]
  const told: string[] = []
  const over = Promise.withResolvers<void>()
  const loop = createLoop({
    name: 'work',
    log: { info() {}, warn: (_, message) => told.push(message), error: (_, message) => told.push(message) },
    afterFaultMs: 0,
    async step() {
      const failure = failures.shift()
      if (failure !== undefined) throw failure
      over.resolve()
      return () => HOUR_MS
    },
  })
  loop.start()
  await over.promise
  await loop.stop()
  expect(told).toEqual(['the work waits for the database', 'the work failed'])
})
