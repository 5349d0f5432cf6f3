import { describe, expect, test } from 'vitest'
import { type BatchReport, Closed, Overloaded } from '../../src/engine/lanes.ts'
import { ask, openLanes, Poison, turn } from './lanes-fixture.ts'

describe('a batch', () => {
  test('starts at once for a lone command, and its caller is told its result', async () => {
    const { send, started, end } = openLanes()
    const told = send(3, ['a'])
    await turn()
    expect(started()).toEqual(['3:a'])
    await end(-1)
    expect(told).toEqual(['a!'])
  })

  test('holds all that came in one turn of the event loop, however many callbacks brought it', async () => {
    const { send, started } = openLanes()
    send(0, ['a', 'b'])
    await Promise.resolve()
    send(0, ['c'])
    process.nextTick(send, 0, ['d'])
    await turn()
    expect(started()).toEqual(['0:abcd'])
    // As if each of them was read from a socket of its own.
    for (const command of 'efgh') setImmediate(send, 1, [command])
    await turn()
    await turn()
    expect(started()).toEqual(['1:efgh'])
  })

  test('gathers while the one before is in flight, and has no more commands than it may', async () => {
    const { lanes, send, started, end } = openLanes({ batchSize: 3 })
    const told = send(0, 'ab')
    await turn()
    send(0, 'cde')
    send(0, 'fghi')
    await turn()
    expect(started()).toEqual(['0:ab'])
    expect(lanes.inFlight).toBe(1)
    for (const next of ['0:cde', '0:fgh', '0:i']) {
      await end(-1)
      expect(started()).toEqual([next])
    }
    expect(told).toEqual(['a!', 'b!'])
  })

  test('takes in those whom the answers of the one before set off, beside what has gathered', async () => {
    const { lanes, send, started, end } = openLanes()
    const again = (command: string) => process.nextTick(send, 0, [command.toUpperCase()])
    for (const command of 'ab') void ask(lanes, 0, command).then(() => again(command))
    await turn()
    send(0, 'c')
    await end(-1)
    expect(started()).toEqual(['0:ab', '0:cAB'])
  })

  test('is reported with its lane, its size, how long it waited and how long it ran', async () => {
    let now = 100
    const reports: BatchReport[] = []
    const { send, end } = openLanes({ workers: 1, now: () => now, onBatch: report => reports.push(report) })
    send(0, 'a')
    await turn()
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
  test('serve no more lanes at once than there are workers', async () => {
    const { lanes, send, started, end } = openLanes({ workers: 2 })
    for (const lane of [0, 1, 2]) send(lane, 'a')
    await turn()
    expect([started(), lanes.inFlight]).toEqual([['0:a', '1:a'], 2])
    await end(0)
    expect([started(), lanes.inFlight]).toEqual([['2:a'], 2])
  })

  test('go from lane to lane in turn: one with a backlog waits behind the others', async () => {
    const { send, started, end } = openLanes({ workers: 1, batchSize: 2 })
    send(0, 'abcdef')
    send(1, 'g')
    await turn()
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
    await turn()
    send(1, 'd')
    await turn()
    expect(started()).toEqual(['0:a', '1:d'])
  })
})

describe('the bounds', () => {
  test('refuse at once when full, what is in flight included, and accept again after answers', async () => {
    const { lanes, send, started, end } = openLanes({ queueCommands: 3, batchSize: 2 })
    send(0, 'abc')
    await turn()
    await expect(ask(lanes, 1, 'd')).rejects.toBeInstanceOf(Overloaded)
    expect([lanes.queued, started()]).toEqual([3, ['0:ab']])
    await end(-1)
    const told = send(1, 'efg')
    await turn()
    expect([lanes.queued, started()]).toEqual([3, ['0:c', '1:ef']])
    expect(told).toEqual(['g: 3 commands of 3 bytes wait already'])
  })

  test('hold for bytes as well', async () => {
    const { lanes, send, end } = openLanes({ queueBytes: 10 })
    send(0, 'a', 6)
    send(1, 'b', 4)
    await turn()
    await expect(ask(lanes, 0, 'c')).rejects.toBeInstanceOf(Overloaded)
    await end(0)
    expect([lanes.queued, lanes.queuedBytes]).toEqual([1, 4])
    await expect(ask(lanes, 0, 'd', 7)).rejects.toBeInstanceOf(Overloaded)
    send(0, 'e', 6)
    expect([lanes.queued, lanes.queuedBytes]).toEqual([2, 10])
  })

  test('make room again after failures, whole and halved', async () => {
    const { lanes, send, end } = openLanes({ queueCommands: 2, queueBytes: 2 })
    send(0, 'ab')
    await turn()
    await end(-1, run => run.fail(new Error('no')))
    expect([lanes.queued, lanes.queuedBytes]).toEqual([0, 0])
    send(0, 'cd')
    await turn()
    await end(-1, run => run.fail(new Poison()))
    await end(-1, run => run.fail(new Poison()))
    expect([lanes.queued, lanes.queuedBytes]).toEqual([1, 1])
    await end(-1)
    expect([lanes.queued, lanes.queuedBytes, lanes.inFlight]).toEqual([0, 0, 0])
  })

  test('do not break on a weight that is no number', async () => {
    const { lanes } = openLanes()
    await expect(ask(lanes, 0, 'a', Number.NaN)).rejects.toBeInstanceOf(Overloaded)
    expect(lanes.queuedBytes).toBe(0)
  })

  test.each([{ lanes: 0 }, { workers: 0 }, { batchSize: 0 }, { workers: Number.NaN }])('%o would hang', options => {
    expect(() => openLanes(options)).toThrow(RangeError)
  })

  test.each([-1, 8, 0.5])('lane %d does not exist', async lane => {
    const { lanes } = openLanes()
    await expect(ask(lanes, lane, 'a')).rejects.toThrow(RangeError)
    expect(lanes.queued).toBe(0)
  })
})

describe('close', () => {
  test('takes nothing new, carries out what was accepted, then settles', async () => {
    const { lanes, send, started, end } = openLanes({ workers: 1, batchSize: 1 })
    const told = send(0, 'abc')
    await turn()
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
    expect([told, lanes.inFlight, lanes.queued]).toEqual([['a!', 'b: no', 'c!'], 0, 0])
  })

  test('carries out what came in the same turn', async () => {
    const { lanes, send, end } = openLanes()
    const told = send(0, 'a')
    const closing = lanes.close()
    await turn()
    await end(-1)
    await closing
    expect(told).toEqual(['a!'])
  })

  test('settles at once when there is nothing to do, however often it is called', async () => {
    const { lanes } = openLanes()
    await lanes.close()
    await lanes.close()
    await expect(ask(lanes, 0, 'a')).rejects.toBeInstanceOf(Closed)
  })
})
