import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createLanes, Overloaded } from '../../src/engine/lanes.ts'
import { ask, Poison, turn } from './lanes-fixture.ts'

interface Command {
  lane: number
  number: number
  poisonous: boolean
}

/** Commands by the turn of the event loop they come in, numbered in the order they come. */
const arrivals: fc.Arbitrary<Command[][]> = fc
  .array(fc.array(fc.record({ lane: fc.nat(3), poisonous: fc.nat(5).map(draw => draw === 0) }), { maxLength: 30 }), {
    maxLength: 6,
  })
  .map(turns => {
    let number = 0
    return turns.map(commands => commands.map(command => ({ ...command, number: number++ })))
  })

/** What a caller was told: its command's number, `poison` with that number, or `overloaded`. */
type OutboxEvent = number | string

async function told(answer: Promise<number>): Promise<OutboxEvent> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof Overloaded) return 'overloaded'
    if (error instanceof Poison) return `poison ${error.message}`
    throw error
  }
}

test('whatever is poisonous, exactly that is refused, and the rest is done once, lane by lane in its order', async () => {
  const property = fc.asyncProperty(arrivals, fc.integer({ min: 1, max: 40 }), async (turns, batchSize) => {
    const effects: Command[] = []
    const lanes = createLanes<Command, number>({
      lanes: 4,
      workers: 2,
      batchSize,
      queueCommands: 1000,
      queueBytes: 1000,
      // A transaction: the first poisonous command undoes the whole.
      async run(_lane, commands) {
        await turn()
        const poisonous = commands.find(command => command.poisonous)
        if (poisonous !== undefined) throw new Poison(String(poisonous.number))
        effects.push(...commands)
        return commands.map(command => command.number)
      },
      splits: error => error instanceof Poison,
      now: () => 0,
    })
    const answers: Promise<OutboxEvent>[] = []
    for (const commands of turns) {
      for (const command of commands) answers.push(told(ask(lanes, command.lane, command)))
      await turn()
    }
    await lanes.close()
    const all = turns.flat()
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

test('in whatever order batches end, the bounds hold and every caller is answered', async () => {
  const WORKERS = 4
  const bounds = { batchSize: 7, queueCommands: 40, queueBytes: 90 }
  const property = fc.asyncProperty(fc.scheduler(), arrivals, fc.infiniteStream(fc.nat(2)), async (s, turns, dice) => {
    const running = new Set<number>()
    /** The lanes whose last batch was slow. */
    const slow = new Set<number>()
    let slowRunning = 0
    const lanes = createLanes<Command, number>({
      lanes: 4,
      workers: WORKERS,
      ...bounds,
      async run(lane, commands, { slow: saySlow }) {
        expect(running.has(lane)).toBe(false)
        running.add(lane)
        expect(running.size).toBeLessThanOrEqual(WORKERS)
        expect(commands.length).toBeLessThanOrEqual(bounds.batchSize)
        const counts = slow.has(lane)
        if (counts) expect(++slowRunning).toBeLessThanOrEqual(WORKERS / 2)
        await s.schedule(Promise.resolve(), `batch of lane ${lane}`)
        running.delete(lane)
        if (counts) slowRunning--
        slow.delete(lane)
        // Fails or says that it is slow, each a third of the time.
        const [draw = 0] = dice.take(1)
        if (draw === 1) throw new Poison('whole')
        if (draw === 2) {
          slow.add(lane)
          saySlow()
        }
        return commands.map(command => command.number)
      },
      splits: () => false,
      now: () => 0,
    })
    const answers: Promise<OutboxEvent>[] = []
    for (const commands of turns) {
      for (const command of commands) {
        const before = lanes.queued
        answers.push(told(ask(lanes, command.lane, command, 3)))
        const accepted = lanes.queued > before
        // 90 bytes are room for 30 commands.
        expect(accepted).toBe(before < 30)
      }
      await turn()
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
