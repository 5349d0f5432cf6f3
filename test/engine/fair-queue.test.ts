import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createQueue } from '../../src/engine/queue.ts'
import { commandOf, idOf, openScheduler, type TestCommand, tick, ticks } from './scheduler-fixture.ts'

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

/** How many commands of each principal the next batch has. It stays in flight. */
function sizes(queue: ReturnType<typeof openQueue>['queue']): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { command } of queue.take()?.entries ?? []) {
    const principal = command.name.slice(0, 1)
    counts[principal] = (counts[principal] ?? 0) + 1
  }
  return counts
}

type TestBatch = ReturnType<ReturnType<typeof openQueue>['queue']['take']>

function finish(queue: ReturnType<typeof openQueue>['queue'], batch: TestBatch): void {
  if (batch === undefined) return
  queue.release(batch.entries)
  queue.end(batch)
}

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

  test('has the first command of a newcomer, however much others have waiting', () => {
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
    add(`${flood('G', 30)} ${flood('H', 6)} ${flood('P', 5)}`)
    expect([sizes(queue), sizes(queue), sizes(queue)]).toEqual([
      { G: 4, H: 4, P: 4 },
      { G: 4, H: 2, P: 1 },
      // The others' commands are in flight.
      { G: 4 },
    ])
    const lone = openQueue({ batchSize: 100, batchShare: 4 })
    lone.add(flood('G', 30))
    expect(sizes(lone.queue)).toEqual({ G: 30 })
  })

  test('that has ended leads to no command: what still names it keeps none of them in memory', () => {
    const { queue, add } = openQueue()
    add('P:a1 P:b1')
    const batch = queue.take()
    add('P:a2')
    expect(queue.take()).toBeUndefined()
    finish(queue, batch)
    expect(batch).toMatchObject({ entries: [], followers: [] })
  })

  test('is left to a principal with few commands while one of each other is on its way', () => {
    const { queue, add } = openQueue({ batchSize: 100, batchShare: 4 })
    add(`${flood('G', 30)} ${flood('H', 30)} P:y1`)
    const first = queue.take()
    expect(first?.entries).toHaveLength(9)
    expect([queue.hasWaiting, queue.take()]).toEqual([false, undefined])
    add('P:z1')
    expect(queue.hasWaiting).toBe(true)
    expect(sizes(queue)).toEqual({ P: 1 })
    finish(queue, first)
    expect([queue.hasWaiting, sizes(queue)]).toEqual([true, { G: 4, H: 4 }])
  })

  test('has all that fit again when no principal has had few commands for a while', () => {
    const { queue, add } = openQueue({ batchSize: 4, batchShare: 2, queueCommands: 10_000 })
    add(`${flood('G', 600)} P:z1`)
    finish(queue, queue.take())
    const sizesAlone: (number | undefined)[] = []
    for (let n = 0; n < 70; n++) {
      const running = queue.take()
      sizesAlone.push(queue.hasWaiting ? queue.take()?.entries.length : undefined)
      finish(queue, running)
    }
    expect(sizesAlone.slice(0, 60).every(size => size === undefined)).toBe(true)
    expect(sizesAlone.at(-1)).toBe(4)
  })

  test('has all that fit again while all commands of another principal are stuck in a batch of their own', () => {
    const { queue, add } = openQueue({ batchSize: 100, batchShare: 4, queueCommands: 30_000 })
    add(`P:z1 ${flood('G', 10_000)}`)
    const first = queue.take()
    queue.isolate(first ?? expect.unreachable(), new Set([idOf('z')]))
    const stuck = queue.takeIsolated()
    expect(stuck?.entries.map(({ command }) => command.name)).toEqual(['P:z1'])
    // It waits behind the first one.
    add('P:z2')
    finish(queue, first)
    for (let n = 0; n < 70; n++) finish(queue, queue.take())
    const running = queue.take()
    expect([running?.entries.length, queue.hasWaiting]).toEqual([100, true])
    finish(queue, running)
    // Free again, they are few: the next batches have few of the others.
    finish(queue, stuck)
    expect(sizes(queue)).toEqual({ P: 1, G: 4 })
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

  test('puts followers of several principals back to their own queues', async () => {
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
