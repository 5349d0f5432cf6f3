import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Overloaded } from '../../src/engine/failures.ts'
import { createLanes } from '../../src/engine/lanes.ts'
import { ask, Poison, tick } from './lanes-fixture.ts'

interface Command {
  lane: number
  number: number
  poisonous: boolean
}

/** Commands by the tick of the event loop in which they come, numbered in the order in which they come. */
const arrivals: fc.Arbitrary<Command[][]> = fc
  .array(fc.array(fc.record({ lane: fc.nat(3), poisonous: fc.nat(5).map(draw => draw === 0) }), { maxLength: 30 }), {
    maxLength: 6,
  })
  .map(ticks => {
    let number = 0
    return ticks.map(commands => commands.map(command => ({ ...command, number: number++ })))
  })

/** How a command completed: with its number, `poison` with that number, or `overloaded`. */
type Completed = number | string

async function completed(answer: Promise<number>): Promise<Completed> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof Overloaded) return 'overloaded'
    if (error instanceof Poison) return `poison ${error.message}`
    throw error
  }
}

test('exactly the poisonous commands are rejected, and the others are done once, in the order of their lane', async () => {
  const property = fc.asyncProperty(arrivals, fc.integer({ min: 1, max: 40 }), async (ticks, batchSize) => {
    const effects: Command[] = []
    const lanes = createLanes<Command, number>({
      lanes: 4,
      workers: 2,
      batchSize,
      queueCommands: 1000,
      queueBytes: 1000,
      // A transaction: the first poisonous command undoes all of it.
      async run(_lane, commands) {
        await tick()
        const poisonous = commands.find(command => command.poisonous)
        if (poisonous !== undefined) throw new Poison(String(poisonous.number))
        effects.push(...commands)
        return commands.map(command => command.number)
      },
      splits: error => error instanceof Poison,
      now: () => 0,
    })
    const answers: Promise<Completed>[] = []
    for (const commands of ticks) {
      for (const command of commands) answers.push(completed(ask(lanes, command.lane, command)))
      await tick()
    }
    await lanes.close()
    const all = ticks.flat()
    expect(await Promise.all(answers)).toEqual(
      all.map(({ number, poisonous }) => (poisonous ? `poison ${number}` : number)),
    )
    for (let lane = 0; lane < 4; lane++) {
      const ofLane = (command: Command) => command.lane === lane
      expect(effects.filter(ofLane)).toEqual(all.filter(command => ofLane(command) && !command.poisonous))
    }
    expect([lanes.queued, lanes.queuedBytes, lanes.inFlight]).toEqual([0, 0, 0])
  })
  await fc.assert(property, { numRuns: 300 })
})

test('in any order of the ends of batches, the bounds hold and every command completes', async () => {
  const WORKERS = 4
  const bounds = { batchSize: 7, queueCommands: 40, queueBytes: 90 }
  const property = fc.asyncProperty(fc.scheduler(), arrivals, fc.infiniteStream(fc.nat(2)), async (s, ticks, dice) => {
    const running = new Set<number>()
    /** The lanes whose last batch reported that it was blocked. */
    const blocked = new Set<number>()
    let blockedInFlight = 0
    const lanes = createLanes<Command, number>({
      lanes: 4,
      workers: WORKERS,
      ...bounds,
      async run(lane, commands, { reportBlocked }) {
        expect(running.has(lane)).toBe(false)
        running.add(lane)
        expect(running.size).toBeLessThanOrEqual(WORKERS)
        expect(commands.length).toBeLessThanOrEqual(bounds.batchSize)
        const counts = blocked.has(lane)
        if (counts) expect(++blockedInFlight).toBeLessThanOrEqual(WORKERS / 2)
        await s.schedule(Promise.resolve(), `batch of lane ${lane}`)
        running.delete(lane)
        if (counts) blockedInFlight--
        blocked.delete(lane)
        // Fails or reports that it is blocked, each in a third of the runs.
        const [draw = 0] = dice.take(1)
        if (draw === 1) throw new Poison('whole')
        if (draw === 2) {
          blocked.add(lane)
          reportBlocked()
        }
        return commands.map(command => command.number)
      },
      splits: () => false,
      now: () => 0,
    })
    const answers: Promise<Completed>[] = []
    for (const commands of ticks) {
      for (const command of commands) {
        const before = lanes.queued
        answers.push(completed(ask(lanes, command.lane, command, 3)))
        const accepted = lanes.queued > before
        // 90 bytes have room for 30 commands.
        expect(accepted).toBe(before < 30)
      }
      await tick()
      if (s.count() > 0) await s.waitOne()
    }
    await s.waitFor(lanes.close())
    for (const [number, answer] of (await Promise.all(answers)).entries()) {
      expect([number, 'poison whole', 'overloaded']).toContain(answer)
    }
    expect([lanes.queued, lanes.queuedBytes, lanes.inFlight]).toEqual([0, 0, 0])
  })
  await fc.assert(property, { numRuns: 300 })
})
