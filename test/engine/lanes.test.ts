import { describe, expect, test } from 'vitest'
import { Closed, Overloaded } from '../../src/engine/failures.ts'
import type { LaneReport } from '../../src/engine/lanes.ts'
import { ask, openLanes, Poison, tick } from './lanes-fixture.ts'

describe('a batch', () => {
  test('starts at once for a lone command, which completes with its result', async () => {
    const { send, started, end } = openLanes()
    const answers = send(3, ['a'])
    await tick()
    expect(started()).toEqual(['3:a'])
    await end(-1)
    expect(answers).toEqual(['a!'])
  })

  test('holds all commands of one tick of the event loop, however many callbacks submit them', async () => {
    const { send, started } = openLanes()
    send(0, ['a', 'b'])
    await Promise.resolve()
    send(0, ['c'])
    process.nextTick(send, 0, ['d'])
    await tick()
    expect(started()).toEqual(['0:abcd'])
    // As if each command was read from a different socket.
    for (const command of 'efgh') setImmediate(send, 1, [command])
    await tick()
    await tick()
    expect(started()).toEqual(['1:efgh'])
  })

  test('gathers while the previous one is in flight, and has at most batchSize commands', async () => {
    const { lanes, send, started, end } = openLanes({ batchSize: 3 })
    const answers = send(0, 'ab')
    await tick()
    send(0, 'cde')
    send(0, 'fghi')
    await tick()
    expect(started()).toEqual(['0:ab'])
    expect(lanes.inFlight).toBe(1)
    for (const next of ['0:cde', '0:fgh', '0:i']) {
      await end(-1)
      expect(started()).toEqual([next])
    }
    expect(answers).toEqual(['a!', 'b!'])
  })

  test('includes the commands that follow from the answers of the previous one, beside those gathered', async () => {
    const { lanes, send, started, end } = openLanes()
    const again = (command: string) => process.nextTick(send, 0, [command.toUpperCase()])
    for (const command of 'ab') void ask(lanes, 0, command).then(() => again(command))
    await tick()
    send(0, 'c')
    await end(-1)
    expect(started()).toEqual(['0:ab', '0:cAB'])
  })

  test('is reported with its lane, its size, how long it waited and how long it ran', async () => {
    let now = 100
    const reports: LaneReport[] = []
    const { send, end } = openLanes({ workers: 1, now: () => now, onLaneReport: report => reports.push(report) })
    send(0, 'a')
    await tick()
    now = 103
    send(5, 'b')
    now = 104
    send(5, 'c')
    now = 110
    await end(-1)
    now = 140
    await end(-1, run => run.fail(new Error('no')))
    expect(reports).toEqual([
      { lane: 0, size: 1, queuedMs: 0, ranMs: 10 },
      { lane: 5, size: 2, queuedMs: 7, ranMs: 30 },
    ])
  })
})

describe('workers', () => {
  test('serve at most as many lanes at once as there are workers', async () => {
    const { lanes, send, started, end } = openLanes({ workers: 2 })
    for (const lane of [0, 1, 2]) send(lane, 'a')
    await tick()
    expect([started(), lanes.inFlight]).toEqual([['0:a', '1:a'], 2])
    await end(0)
    expect([started(), lanes.inFlight]).toEqual([['2:a'], 2])
  })

  test('serve the lanes round robin: one with a backlog waits behind the others', async () => {
    const { send, started, end } = openLanes({ workers: 1, batchSize: 2 })
    send(0, 'abcdef')
    send(1, 'g')
    await tick()
    await end(-1)
    send(2, 'h')
    const order = started()
    while (order.length < 5) {
      await end(-1)
      order.push(...started())
    }
    expect(order).toEqual(['0:ab', '1:g', '0:cd', '2:h', '0:ef'])
  })

  test('are not all taken by one hot lane', async () => {
    const { send, started } = openLanes({ workers: 2, batchSize: 1 })
    send(0, 'abc')
    await tick()
    send(1, 'd')
    await tick()
    expect(started()).toEqual(['0:a', '1:d'])
  })
})

describe('the bounds', () => {
  test('refuse at once when the queue is full, commands in flight included, and accept again after answers', async () => {
    const { lanes, send, started, end } = openLanes({ queueCommands: 3, batchSize: 2 })
    send(0, 'abc')
    await tick()
    await expect(ask(lanes, 1, 'd')).rejects.toBeInstanceOf(Overloaded)
    expect([lanes.queued, started()]).toEqual([3, ['0:ab']])
    await end(-1)
    const answers = send(1, 'efg')
    await tick()
    expect([lanes.queued, started()]).toEqual([3, ['0:c', '1:ef']])
    expect(answers).toEqual(['g: 3 commands of 3 bytes are waiting already'])
  })

  test('apply to bytes as well', async () => {
    const { lanes, send, end } = openLanes({ queueBytes: 10 })
    send(0, 'a', 6)
    send(1, 'b', 4)
    await tick()
    await expect(ask(lanes, 0, 'c')).rejects.toBeInstanceOf(Overloaded)
    await end(0)
    expect([lanes.queued, lanes.queuedBytes]).toEqual([1, 4])
    await expect(ask(lanes, 0, 'd', 7)).rejects.toBeInstanceOf(Overloaded)
    send(0, 'e', 6)
    expect([lanes.queued, lanes.queuedBytes]).toEqual([2, 10])
  })

  test('have room again after failures of whole and of halved batches', async () => {
    const { lanes, send, end } = openLanes({ queueCommands: 2, queueBytes: 2 })
    send(0, 'ab')
    await tick()
    await end(-1, run => run.fail(new Error('no')))
    expect([lanes.queued, lanes.queuedBytes]).toEqual([0, 0])
    send(0, 'cd')
    await tick()
    await end(-1, run => run.fail(new Poison()))
    await end(-1, run => run.fail(new Poison()))
    expect([lanes.queued, lanes.queuedBytes]).toEqual([1, 1])
    await end(-1)
    expect([lanes.queued, lanes.queuedBytes, lanes.inFlight]).toEqual([0, 0, 0])
  })

  test('hold after a weight that is not a number', async () => {
    const { lanes } = openLanes()
    await expect(ask(lanes, 0, 'a', Number.NaN)).rejects.toBeInstanceOf(Overloaded)
    expect(lanes.queuedBytes).toBe(0)
  })

  test.each([{ lanes: 0 }, { workers: 0 }, { batchSize: 0 }, { workers: Number.NaN }])(
    '%o is refused, because no command would ever run',
    options => {
      expect(() => openLanes(options)).toThrow(RangeError)
    },
  )

  test.each([-1, 8, 0.5])('lane %d does not exist', async lane => {
    const { lanes } = openLanes()
    await expect(ask(lanes, lane, 'a')).rejects.toThrow(RangeError)
    expect(lanes.queued).toBe(0)
  })
})

describe('close', () => {
  test('accepts no more commands, carries out those accepted, then resolves', async () => {
    const { lanes, send, started, end } = openLanes({ workers: 1, batchSize: 1 })
    const answers = send(0, 'abc')
    await tick()
    let closed = false
    const closing = Promise.all([lanes.close(), lanes.close()]).then(() => {
      closed = true
    })
    await expect(ask(lanes, 0, 'd')).rejects.toBeInstanceOf(Closed)
    await end(-1)
    await end(-1, run => run.fail(new Error('no')))
    expect([started(), closed]).toEqual([['0:a', '0:b', '0:c'], false])
    await end(-1)
    await closing
    expect([answers, lanes.inFlight, lanes.queued]).toEqual([['a!', 'b: no', 'c!'], 0, 0])
  })

  test('carries out the commands of the same tick', async () => {
    const { lanes, send, end } = openLanes()
    const answers = send(0, 'a')
    const closing = lanes.close()
    await tick()
    await end(-1)
    await closing
    expect(answers).toEqual(['a!'])
  })

  test('resolves at once when there is nothing to do, however often it is called', async () => {
    const { lanes } = openLanes()
    await lanes.close()
    await lanes.close()
    await expect(ask(lanes, 0, 'a')).rejects.toBeInstanceOf(Closed)
  })
})
