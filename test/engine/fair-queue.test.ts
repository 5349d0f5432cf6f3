import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createQueue } from '../../src/engine/queue.ts'
import { commandOf, openScheduler, type TestCommand, tick, ticks } from './scheduler-fixture.ts'

const completion = { resolve() {}, reject() {} }

function openQueue(options: { batchSize?: number; batchShare?: number; queueCommands?: number } = {}) {
  const queue = createQueue<TestCommand, undefined>({
    batchSize: 4,
    batchShare: 1_000,
    queueCommands: 1_000,
    queueBytes: 1_000_000,
    now: () => 0,
    difficultyOf: () => undefined,
    ...options,
  })
  /** Adds commands, such as `P:a1 P:b1`, and returns those that found room. */
  const add = (names: string) =>
    names.split(' ').filter(name => queue.add(commandOf(name), 1, completion) === undefined)
  return { queue, add }
}

/** `P:aa1 P:ab1 …`: commands of a principal, each for another user. */
const flood = (principal: string, count: number) =>
  Array.from({ length: count }, (_, n) => `${principal}:${String.fromCharCode(0x100 + n)}1`).join(' ')

describe('a batch', () => {
  test('takes a command of each principal in turn, each principal’s in their order', async () => {
    const { send, started, end } = openScheduler({ concurrency: 1, batchSize: 4 })
    send('G:a1 G:b1 G:c1 G:d1 G:e1 G:f1 P:g1 P:h1 Q:i1')
    await tick()
    expect(started()).toEqual(['G:a1 P:g1 Q:i1 G:b1'])
    send('P:j1')
    await end(-1)
    expect(started()).toEqual(['P:h1 G:c1 P:j1 G:d1'])
    await end(-1)
    expect(started()).toEqual(['G:e1 G:f1'])
  })

  test('has the first command of a newcomer, whatever others have waiting', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 3 }), backlogs => {
        const { queue, add } = openQueue({ batchSize: 5 })
        for (const [number, count] of backlogs.entries()) add(flood(`G${number}`, count))
        queue.take()
        add('P:z1')
        const { entries = [] } = queue.take() ?? {}
        expect(entries.map(({ command }) => command.name)).toContain('P:z1')
      }),
    )
  })

  test('has few commands of each principal while another has some in the queue, and all that fit of a lone one', () => {
    const { queue, add } = openQueue({ batchSize: 100, batchShare: 4 })
    const sizes = () => {
      const names = queue.take()?.entries.map(({ command }) => command.name[0]) ?? []
      return ['G', 'H', 'P'].map(principal => names.filter(name => name === principal).length)
    }
    add(`${flood('G', 30)} ${flood('H', 6)} P:z1`)
    expect([sizes(), sizes(), sizes()]).toEqual([
      [4, 4, 1],
      [4, 2, 0],
      // The others' commands are in flight.
      [4, 0, 0],
    ])
    const lone = openQueue({ batchSize: 100, batchShare: 4 })
    lone.add(flood('G', 30))
    expect(lone.queue.take()?.entries).toHaveLength(30)
  })

  test('does not let a user’s backlog of one principal delay another principal’s', async () => {
    const { send, started, end } = openScheduler({ batchSize: 4, workers: 1 })
    send('G:a1')
    await tick()
    send('G:a2 G:a3 G:a4 G:b1 G:c1 P:a5 P:d1')
    await end(0)
    expect(started()).toEqual(['G:a1', 'G:a2 P:a5 G:a3 P:d1'])
    await end(1)
    expect(started()).toEqual(['G:a4 G:b1 G:c1'])
  })

  test('puts followers of several principals back to their own lines', async () => {
    const { send, started, end } = openScheduler({ batchSize: 4, workers: 2 })
    send('G:a1')
    await tick()
    send('G:a2 G:a3 P:a4 G:b1 G:b2 G:b3 G:b4')
    await tick()
    // The batch of user b is full after it has looked at all that wait.
    expect(started()).toEqual(['G:a1', 'G:b1 G:b2 G:b3 G:b4'])
    send('P:c1 G:d1')
    await end(0)
    expect(started()).toEqual(['P:a4 G:a2 P:c1 G:a3'])
    await end(2)
    expect(started()).toEqual(['G:d1'])
  })
})

describe('the share of a principal', () => {
  test('is as many commands as there is room left: half of the queue for one, less for each of more', () => {
    const { queue, add } = openQueue({ queueCommands: 12 })
    expect(add(flood('G', 12))).toHaveLength(6)
    expect(add(flood('H', 12))).toHaveLength(3)
    expect(add(flood('I', 12))).toHaveLength(2)
    expect([queue.hasRoom('G'), queue.hasRoom('newcomer')]).toEqual([false, true])
    expect(add('P:a1')).toEqual(['P:a1'])
    expect(queue.commands).toBe(12)
  })

  test('leaves room for a newcomer, however many principals fill theirs', () => {
    const { queue, add } = openQueue({ queueCommands: 1_000 })
    for (let n = 0; n < 8; n++) add(flood(`G${n}`, 1_000))
    expect(queue.commands).toBeLessThan(1_000)
    expect(add('P:a1')).toEqual(['P:a1'])
  })

  test('counts commands until they are released, and grows again as others leave', () => {
    const { queue, add } = openQueue({ queueCommands: 8, batchSize: 8 })
    add(flood('G', 8))
    const batch = queue.take()
    expect([batch?.entries.length, queue.hasRoom('G')]).toEqual([4, false])
    queue.release(batch?.entries ?? [])
    if (batch !== undefined) queue.end(batch)
    expect(queue.hasRoom('G')).toBe(true)
    expect(add(flood('G', 8))).toHaveLength(4)
  })

  test('of the service itself is like any other’s', () => {
    const { add } = openQueue({ queueCommands: 8 })
    expect(add('a1 b1 c1 d1 e1 f1')).toHaveLength(4)
    expect(add('P:a1')).toHaveLength(1)
  })

  test('refuses with the reason, and the refused command takes no room', async () => {
    const { scheduler, send } = openScheduler({ queueCommands: 4 })
    const answers = send('G:a1 G:b1 G:c1')
    await ticks(2)
    expect(answers).toEqual(['G:c1: 2 commands of the principal are queued, 2 of 2 bytes in all'])
    expect([scheduler.hasRoom('G'), scheduler.hasRoom('P'), scheduler.queued]).toEqual([false, true, 2])
  })
})
