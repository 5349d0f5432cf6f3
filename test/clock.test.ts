import { expect, test } from 'vitest'
import { createClock, MAX_OFFSET_MS } from '../src/clock.ts'
import { DAY_MS } from '../src/domain/time/time.ts'

const START = Date.parse('2026-03-15T12:00:00.000Z')

/** A clock on a machine and beside a database whose clocks the test moves, synchronized once. */
async function createScene(offset = 0) {
  const time = { monotonic: 5_000, system: START, database: START + offset }
  const clock = createClock({ monotonic: () => time.monotonic, system: () => time.system })
  return {
    clock,
    time,
    /** All clocks go on. */
    pass(ms: number) {
      time.monotonic += ms
      time.system += ms
      time.database += ms
    },
    synchronize: () => clock.synchronize(async () => time.database),
  }
}

test('tells no time before the first synchronization', async () => {
  const { clock } = await createScene()
  expect(clock.now()).toBeNull()
})

test('follows the database, at any system time', async () => {
  const { clock, pass, synchronize, time } = await createScene(3 * DAY_MS)
  await synchronize()
  expect(clock.now()).toBe(time.database)
  pass(1_500)
  expect(clock.now()).toBe(time.database)
})

test('does not correct a difference that the round trip explains', async () => {
  const { clock, time } = await createScene()
  await clock.synchronize(async () => {
    time.monotonic += 40
    time.system += 40
    return START + 10
  })
  expect(clock.now()).toBe(START + 10)
  await clock.synchronize(async () => {
    time.monotonic += 60
    time.system += 60
    return START + 50
  })
  expect(clock.now()).toBe(START + 70)
})

test('never steps back while it is trusted', async () => {
  const { clock, pass, synchronize, time } = await createScene()
  await synchronize()
  pass(1_000)
  const before = clock.now()
  time.database -= MAX_OFFSET_MS
  await synchronize()
  expect(clock.now()).toBe(before)
  pass(MAX_OFFSET_MS + 1)
  expect(clock.now()).toBe(time.database)
})

test.each([
  ['ahead', DAY_MS],
  ['back', -DAY_MS],
])('a system time that is set %s is no time until the database confirms the clock', async (_where, jump) => {
  const { clock, pass, synchronize, time } = await createScene()
  await synchronize()
  time.system += jump
  expect(clock.now()).toBeNull()
  pass(500)
  await synchronize()
  expect(clock.now()).toBe(time.database)
})

test('a machine that has slept tells no time until two synchronizations agree', async () => {
  const { clock, pass, synchronize, time } = await createScene()
  await synchronize()
  time.system += DAY_MS
  time.database += DAY_MS
  expect(clock.now()).toBeNull()
  await synchronize()
  expect(clock.now()).toBeNull()
  pass(1_000)
  await synchronize()
  expect(clock.now()).toBe(time.database)
})

test.each([
  ['ahead', DAY_MS],
  ['back', -DAY_MS],
])('a database whose clock is briefly %s is not believed', async (_where, jump) => {
  const { clock, pass, synchronize, time } = await createScene()
  await synchronize()
  time.database += jump
  await synchronize()
  expect(clock.now()).toBeNull()
  time.database -= jump
  pass(1_000)
  await synchronize()
  expect(clock.now()).toBe(time.database)
})

test.each([
  ['ahead', DAY_MS],
  ['back', -DAY_MS],
])('a database whose clock stays %s is followed once two synchronizations agree', async (_where, jump) => {
  const { clock, pass, synchronize, time } = await createScene()
  await synchronize()
  time.database += jump
  await synchronize()
  pass(1_000)
  expect(clock.now()).toBeNull()
  await synchronize()
  expect(clock.now()).toBe(time.database)
})

test('two synchronizations at the same time do not confirm each other', async () => {
  const { clock, pass, synchronize, time } = await createScene()
  await synchronize()
  time.database += DAY_MS
  for (let n = 0; n < 3; n++) await synchronize()
  expect(clock.now()).toBeNull()
  pass(1_000)
  await synchronize()
  expect(clock.now()).toBe(time.database)
})

test('a database whose clock jumps at each synchronization is never followed', async () => {
  const { clock, synchronize, time } = await createScene()
  await synchronize()
  for (let jump = 1; jump < 5; jump++) {
    time.database += jump * DAY_MS
    await synchronize()
    expect(clock.now()).toBeNull()
  }
})

test('a database that does not answer changes nothing', async () => {
  const { clock, pass, synchronize, time } = await createScene()
  await synchronize()
  await expect(clock.synchronize(() => Promise.reject(new Error('away')))).rejects.toThrow('away')
  pass(20_000)
  expect(clock.now()).toBe(time.database)
})
