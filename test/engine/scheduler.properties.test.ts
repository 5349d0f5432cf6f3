import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createQueue } from '../../src/engine/queue.ts'
import { createScheduler, type RunningBatch } from '../../src/engine/scheduler.ts'
import { runs } from '../support/runs.ts'
import { ask, tick } from './scheduler-fixture.ts'

const USERS = 5
const NEVER_MS = 2 ** 31 - 1

interface NumberedCommand {
  readonly user_id: number
  readonly origin: { readonly principal: string }
  /** Its place among all commands. */
  readonly number: number
}

const PRINCIPALS = ['one', 'other']
const ORIGINS = PRINCIPALS.map(principal => ({ principal }))

/** Commands by the tick of the event loop in which they come, numbered in the order in which they come. */
const arrivals: fc.Arbitrary<NumberedCommand[][]> = fc
  .array(fc.array(fc.tuple(fc.nat(USERS - 1), fc.constantFrom(...ORIGINS)), { maxLength: 25 }), { maxLength: 8 })
  .map(ticks => {
    let number = 0
    return ticks.map(commands => commands.map(([user_id, origin]) => ({ user_id, origin, number: number++ })))
  })

/** What a batch does next. The last three end it. */
type Step =
  | { readonly does: 'isolate'; readonly users: readonly number[]; readonly difficulty: string | undefined }
  | { readonly does: 'succeed' | 'fail' }
  | { readonly does: 'fail one'; readonly nth: number }

const difficulty = fc.option(fc.constantFrom('locked', 'failing'), { nil: undefined })

/** What all batches do, in the order in which they get to do something: they succeed when nothing is left of it. */
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        does: fc.constant('isolate' as const),
        users: fc.subarray([0, 1, 2, 3, 4]),
        difficulty,
      }),
    },
    { weight: 2, arbitrary: fc.record({ does: fc.constantFrom('succeed' as const, 'fail' as const) }) },
    { weight: 1, arbitrary: fc.record({ does: fc.constant('fail one' as const), nth: fc.nat(25) }) },
  ),
  { maxLength: 40 },
)

const bounds = fc.record({
  batchSize: fc.integer({ min: 1, max: 12 }),
  batchShare: fc.integer({ min: 1, max: 12 }),
  workers: fc.integer({ min: 1, max: 5 }),
  concurrency: fc.integer({ min: 1, max: 5 }),
})

/** How a command completed: with its number, or with an error. */
type Completed = number | string

class Failed extends Error {}

/** Batches that do these steps, and what they have seen. */
function openLedger(
  steps: readonly Step[],
  difficulties: Map<number, string>,
  limits: { batchSize: number; workers: number; concurrency: number },
  pause: () => Promise<unknown>,
) {
  const left = steps.values()
  const inFlight = new Set<RunningBatch<NumberedCommand>>()
  /** The batch in which each user is. */
  const batches = new Map<number, RunningBatch<NumberedCommand>>()
  const effects: NumberedCommand[] = []

  function begin(batch: RunningBatch<NumberedCommand>): void {
    inFlight.add(batch)
    const apart = [...inFlight].filter(({ isIsolated }) => isIsolated).length
    expect(inFlight.size).toBeLessThanOrEqual(limits.workers)
    expect(apart).toBeLessThanOrEqual(Math.max(1, Math.floor(limits.workers / 2)))
    expect(inFlight.size - apart).toBeLessThanOrEqual(limits.concurrency)
    expect(batch.commands.length).toBeGreaterThan(0)
    expect(batch.commands.length).toBeLessThanOrEqual(limits.batchSize)
    for (const { user_id } of batch.commands) {
      expect(batches.get(user_id) ?? batch).toBe(batch)
      batches.set(user_id, batch)
    }
  }

  function release(batch: RunningBatch<NumberedCommand>, users: ReadonlySet<number>): void {
    for (const [user, its] of batches) if (its === batch && users.has(user)) batches.delete(user)
  }

  function isolate(batch: RunningBatch<NumberedCommand>, users: readonly number[], reason: string | undefined): void {
    const before = batch.commands
    for (const user of users) if (reason !== undefined) difficulties.set(user, reason)
    release(batch, new Set(users))
    batch.isolate(new Set(users))
    expect(batch.commands).toEqual(before.filter(({ user_id }) => !users.includes(user_id)))
  }

  async function run(batch: RunningBatch<NumberedCommand>): Promise<(number | Error)[]> {
    begin(batch)
    try {
      for (;;) {
        await pause()
        const step = left.next().value ?? { does: 'succeed' }
        const { commands } = batch
        if (step.does === 'isolate') isolate(batch, step.users, step.difficulty)
        else if (step.does === 'fail') throw new Failed('whole')
        else {
          const failed = step.does === 'fail one' ? commands[step.nth % commands.length] : undefined
          effects.push(...commands.filter(command => command !== failed))
          for (const { user_id } of commands) difficulties.delete(user_id)
          return commands.map(command => (command === failed ? new Failed('alone') : command.number))
        }
      }
    } finally {
      inFlight.delete(batch)
      release(batch, new Set(batches.keys()))
    }
  }

  return { run, effects }
}

test('in any order in which batches end, every command completes once, and a principal’s for a user in order', async () => {
  const property = fc.asyncProperty(
    fc.scheduler(),
    arrivals,
    steps,
    bounds,
    fc.dictionary(fc.constantFrom('0', '1', '2', '3', '4'), fc.constantFrom('locked', 'failing')),
    async (s, ticks, whatBatchesDo, limits, initial) => {
      const difficulties = new Map(Object.entries(initial).map(([user, reason]) => [Number(user), reason]))
      const { run, effects } = openLedger(whatBatchesDo, difficulties, limits, () =>
        s.schedule(Promise.resolve(), 'a step of a batch'),
      )
      const scheduler = createScheduler<NumberedCommand, number>({
        ...limits,
        stallMs: NEVER_MS,
        queueCommands: 1_000,
        queueBytes: 3_000,
        difficultyOf: user => difficulties.get(user),
        run,
        now: () => 0,
      })
      /** How often each command has completed, and how, in the order of completion. */
      const completed = new Map<NumberedCommand, Completed[]>()
      const complete = (command: NumberedCommand, how: Completed) =>
        completed.set(command, [...(completed.get(command) ?? []), how])
      for (const commands of ticks) {
        for (const command of commands) {
          scheduler.submit(command, 3, {
            resolve: result => complete(command, result),
            reject: error => complete(command, error instanceof Failed ? error.message : String(error)),
          })
        }
        await tick()
        if (s.count() > 0) await s.waitOne()
      }
      const all = ticks.flat()
      expect(scheduler.queued).toBe(all.length - completed.size)
      expect(scheduler.queuedBytes).toBe(3 * scheduler.queued)
      await s.waitFor(scheduler.close())

      expect(completed.size).toBe(all.length)
      for (const [{ number }, hows] of completed) {
        expect(hows).toHaveLength(1)
        expect([number, 'whole', 'alone']).toContain(hows[0])
      }
      for (let user = 0; user < USERS; user++) {
        for (const principal of PRINCIPALS) {
          const isOf = (command: NumberedCommand) => command.user_id === user && command.origin.principal === principal
          expect([...completed.keys()].filter(isOf)).toEqual(all.filter(isOf))
          expect(effects.filter(isOf)).toEqual(
            all.filter(command => isOf(command) && completed.get(command)?.[0] === command.number),
          )
        }
      }
      expect([scheduler.queued, scheduler.queuedBytes, scheduler.inFlight]).toEqual([0, 0, 0])
    },
  )
  await fc.assert(property, { numRuns: runs(300) })
})

test('after that no user is held: a command of each starts in the next batch', async () => {
  const property = fc.asyncProperty(
    fc.scheduler(),
    arrivals,
    steps,
    bounds,
    async (s, ticks, whatBatchesDo, limits) => {
      const difficulties = new Map<number, string>()
      const ledger = openLedger(whatBatchesDo, difficulties, limits, () =>
        s.schedule(Promise.resolve(), 'a step of a batch'),
      )
      let batches: number[][] = []
      const scheduler = createScheduler<NumberedCommand, number>({
        ...limits,
        stallMs: NEVER_MS,
        queueCommands: 1_000,
        queueBytes: 1_000,
        difficultyOf: user => difficulties.get(user),
        run(batch) {
          batches.push(batch.commands.map(({ user_id }) => user_id))
          return ledger.run(batch)
        },
        now: () => 0,
      })
      const answers: Promise<unknown>[] = []
      for (const commands of ticks) {
        for (const command of commands) answers.push(ask(scheduler, command).catch(error => error))
        await tick()
        if (s.count() > 0) await s.waitOne()
      }
      await s.waitFor(Promise.all(answers))
      // Batches that have set all of their users apart.
      while (scheduler.inFlight > 0) await (s.count() > 0 ? s.waitOne() : tick())
      difficulties.clear()
      batches = []
      for (let user = 0; user < USERS; user++)
        void ask(scheduler, { user_id: user, origin: { principal: 'one' }, number: -1 }).catch(() => {})
      await tick()
      expect(batches).toEqual([[0, 1, 2, 3, 4].slice(0, limits.batchSize)])
      await s.waitFor(scheduler.close())
    },
  )
  await fc.assert(property, { numRuns: runs(100) })
})

test('one call of take looks at twice as many commands as a batch has, at most', () => {
  const property = fc.property(
    fc.integer({ min: 1, max: 20 }),
    fc.array(fc.tuple(fc.nat(3), fc.integer({ min: 1, max: 60 })), { minLength: 1, maxLength: 10 }),
    fc.option(fc.nat(3), { nil: undefined }),
    (batchSize, backlog, difficult) => {
      const seen = new Set<number>()
      const queue = createQueue<NumberedCommand, undefined>({
        batchSize,
        batchShare: batchSize,
        queueCommands: 2_000,
        queueBytes: 1_000,
        now: () => 0,
        difficultyOf: user => (user === difficult ? 'locked' : undefined),
      })
      let count = 0
      // Many commands of one user, then many of another one.
      for (const [user, commands] of backlog) {
        for (let n = 0; n < commands; n++) {
          const number = count++
          const command = {
            number,
            origin: { principal: 'one' },
            get user_id() {
              seen.add(number)
              return user
            },
          }
          queue.add(command, 1, { resolve() {}, reject() {} })
        }
      }
      const taken: number[] = []
      while (queue.hasWaiting) {
        seen.clear()
        const batch = queue.take()
        expect(seen.size).toBeGreaterThan(0)
        expect(seen.size).toBeLessThan(2 * batchSize)
        // The commands that were seen are the next ones.
        for (const number of seen) expect(number).toBe(taken.push(number) - 1)
        expect(batch?.entries.length ?? 0).toBeLessThanOrEqual(batchSize)
      }
      expect(taken).toHaveLength(count)
    },
  )
  fc.assert(property, { numRuns: runs(200) })
})
