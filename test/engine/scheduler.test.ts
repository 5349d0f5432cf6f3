import { describe, expect, test } from 'vitest'
import { Closed, Overloaded } from '../../src/engine/completion.ts'
import type { QueueReport } from '../../src/engine/scheduler.ts'
import { ask, commandOf, openScheduler, tick, ticks } from './scheduler-fixture.ts'

describe('a batch', () => {
  test('starts at once for a lone command, which completes with its result', async () => {
    const { send, started, end } = openScheduler()
    const answers = send('a1')
    await tick()
    expect(started()).toEqual(['a1'])
    await end(-1)
    expect(answers).toEqual(['a1!'])
  })

  test('holds all commands of one tick of the event loop, however many callbacks submit them', async () => {
    const { send, started } = openScheduler()
    send('a1 b1')
    await Promise.resolve()
    send('a2')
    process.nextTick(send, 'c1')
    await tick()
    expect(started()).toEqual(['a1 b1 a2 c1'])
    // As if each command was read from a different socket.
    for (const name of ['d1', 'e1', 'd2', 'f1']) setImmediate(send, name)
    await ticks(2)
    expect(started()).toEqual(['d1 e1 d2 f1'])
  })

  test('gathers while others are in flight, and has at most batchSize commands, those that have waited longest', async () => {
    const { scheduler, send, started, end } = openScheduler({ concurrency: 1, batchSize: 3 })
    const answers = send('a1 b1')
    await tick()
    send('c1 a2 d1')
    send('b2 b3 e1 f1')
    await tick()
    expect(started()).toEqual(['a1 b1'])
    expect(scheduler.inFlight).toBe(1)
    for (const next of ['c1 a2 d1', 'b2 b3 e1', 'f1']) {
      await end(-1)
      expect(started()).toEqual([next])
    }
    expect(answers).toEqual(['a1!', 'b1!'])
  })

  test('has no command of a user who is in flight: these wait for that batch, and then come first', async () => {
    const { send, started, end } = openScheduler({ batchSize: 3, workers: 2 })
    send('a1')
    await tick()
    send('a2 b1 a3 c1 d1 e1')
    await tick()
    expect(started()).toEqual(['a1', 'b1 c1 d1'])
    await end(0)
    expect(started()).toEqual(['a2 a3 e1'])
    await end(1)
    expect(started()).toEqual([])
  })

  test('includes the commands that follow from the answers of the previous one, behind those gathered', async () => {
    const { scheduler, send, started, end } = openScheduler()
    for (const name of ['a1', 'b1']) {
      void ask(scheduler, commandOf(name)).then(() => process.nextTick(send, `${name}-again`))
    }
    await tick()
    send('b2 a2')
    await tick()
    await end(-1)
    expect(started()).toEqual(['a1 b1', 'b2 a2 a1-again b1-again'])
  })

  test('is the only one to start in its tick', async () => {
    const { send, started } = openScheduler({ batchSize: 1 })
    send('a1 b1 c1')
    for (const next of ['a1', 'b1', 'c1']) {
      await tick()
      expect(started()).toEqual([next])
    }
  })
})

describe('the report of a batch', () => {
  /** A scheduler with a clock, and the reports of its batches. */
  function withReports(options: Parameters<typeof openScheduler>[0] = {}) {
    const clock = { now: 100 }
    const reports: QueueReport[] = []
    const onQueueReport = (report: QueueReport) => reports.push(report)
    return { clock, reports, ...openScheduler({ now: () => clock.now, onQueueReport, ...options }) }
  }

  test('says its size, how long its oldest command waited and how long it ran', async () => {
    const { clock, reports, send, end } = withReports({ concurrency: 1 })
    send('a1')
    await tick()
    clock.now = 103
    send('b1')
    clock.now = 104
    send('b2')
    clock.now = 110
    await end(-1)
    clock.now = 140
    await end(-1, run => run.fail(new Error('no')))
    expect(reports).toEqual([
      { size: 1, isIsolated: false, queuedMs: 0, ranMs: 10 },
      { size: 2, isIsolated: false, queuedMs: 7, ranMs: 30 },
    ])
  })

  test('counts the wait of its own commands only, each from when it came', async () => {
    const { clock, reports, send, started, end } = withReports({ concurrency: 1, batchSize: 2 })
    send('a1 b1 c1')
    await tick()
    clock.now = 105
    send('c2 d1')
    for (const now of [110, 120, 130]) {
      clock.now = now
      await end(-1)
      if (now === 110) send('e1 f1')
    }
    expect(started()).toEqual(['a1 b1', 'c1 c2', 'd1 e1', 'f1'])
    clock.now = 140
    await end(-1)
    expect(reports.map(({ queuedMs }) => queuedMs)).toEqual([0, 10, 15, 20])
  })

  test('does not count the wait of the batch before, if that was full', async () => {
    const { clock, reports, send, end } = withReports({ concurrency: 1, batchSize: 2 })
    send('a1 b1')
    await tick()
    clock.now = 105
    send('c1')
    clock.now = 110
    await end(-1)
    await end(-1)
    expect(reports.map(({ queuedMs }) => queuedMs)).toEqual([0, 5])
  })

  test('counts the wait of commands behind their user’s batch from when the first of them came', async () => {
    const { clock, reports, send, started, end } = withReports()
    for (let n = 0; n < 4; n++) {
      send(`a${n}-1`)
      await tick()
      clock.now += 4
      send(`a${n}-2`)
      await tick()
      clock.now += 6
      if (n > 0) await end(n - 1)
    }
    expect(started()).toEqual(['a0-1', 'a0-2 a1-1 a1-2', 'a2-1 a2-2', 'a3-1 a3-2'])
    await end(-1)
    expect(reports.map(({ queuedMs }) => queuedMs)).toEqual([0, 16, 10, 10])
  })

  test('names batches that run isolated, which wait from when their commands came, and none that is left empty', async () => {
    const { clock, reports, send, runAt, end } = withReports()
    send('a1 a2')
    await tick()
    clock.now = 130
    runAt(0).isolate('a')
    await end(0)
    clock.now = 150
    await end(1)
    expect(reports).toEqual([{ size: 2, isIsolated: true, queuedMs: 30, ranMs: 20 }])
  })
})

describe('a failure', () => {
  test('rejects the commands of its batch and no others', async () => {
    const { send, started, end } = openScheduler({ batchSize: 2 })
    const answers = [send('a1 a2 a3'), send('b1')]
    await ticks(3)
    expect(started()).toEqual(['a1 a2', 'b1'])
    await end(0, run => run.fail(new Error('away')))
    expect(started()).toEqual(['a3'])
    await end(1)
    await end(2)
    expect(answers).toEqual([['a1: away', 'a2: away', 'a3!'], ['b1!']])
  })

  test('of one command, which its result says, rejects that command alone', async () => {
    const { scheduler, send, end } = openScheduler()
    const answers = send('a1 b1 a2')
    await tick()
    await end(-1, run => run.answer(['a1!', new Error('held'), 'a2!']))
    expect(answers).toEqual(['a1!', 'b1: held', 'a2!'])
    expect([scheduler.queued, scheduler.inFlight]).toEqual([0, 0])
  })

  test('may be thrown synchronously', async () => {
    const { send } = openScheduler({
      run() {
        throw new Error('at once')
      },
    })
    const answers = send('a1 b1')
    await tick()
    expect(answers).toEqual(['a1: at once', 'b1: at once'])
  })

  test('that is no error rejects with one', async () => {
    const { scheduler, end } = openScheduler()
    const rejected = expect(ask(scheduler, commandOf('a1'))).rejects.toMatchObject({
      message: 'a batch failed',
      cause: 'no reason',
    })
    await tick()
    await end(-1, run => run.fail('no reason'))
    await rejected
  })

  test.each([
    ['too few', ['a!'], '1'],
    ['too many', ['a!', 'b!', 'c!'], '3'],
    ['no', undefined, 'no'],
  ])('comes of %s results, and the batch is not run again', async (_, results, count) => {
    const { send, started } = openScheduler({ run: async () => results as readonly string[] })
    const answers = send('a1 b1')
    await ticks(3)
    expect(answers).toEqual(['a1', 'b1'].map(name => `${name}: a batch of 2 commands got ${count} results`))
    expect(started()).toEqual([])
  })
})

describe('the bounds', () => {
  test('refuse at once when the queue is full, commands in flight included, and accept again after answers', async () => {
    const { scheduler, send, started, end } = openScheduler({ queueCommands: 6, batchSize: 2, concurrency: 1 })
    send('a1 a2 b1')
    await tick()
    await expect(ask(scheduler, commandOf('c1'))).rejects.toBeInstanceOf(Overloaded)
    expect([scheduler.queued, started()]).toEqual([3, ['a1 a2']])
    await end(-1)
    const answers = send('c2 c3 c4')
    await tick()
    expect([scheduler.queued, started()]).toEqual([3, ['b1']])
    expect(answers).toEqual(['c4: 3 commands of the principal are queued, 3 of 3 bytes in all'])
  })

  test('apply to bytes as well', async () => {
    const { scheduler, send, end } = openScheduler({ queueBytes: 10, batchSize: 1 })
    send('a1', 6)
    send('b1', 4)
    await ticks(2)
    await expect(ask(scheduler, commandOf('c1'))).rejects.toBeInstanceOf(Overloaded)
    await end(0)
    expect([scheduler.queued, scheduler.queuedBytes]).toEqual([1, 4])
    await expect(ask(scheduler, commandOf('d1'), 7)).rejects.toBeInstanceOf(Overloaded)
    send('e1', 6)
    expect([scheduler.queued, scheduler.queuedBytes]).toEqual([2, 10])
  })

  test('have room for a command that follows from an answer, before the batch has ended', async () => {
    const { scheduler, end } = openScheduler({ queueCommands: 1 })
    const followed = new Promise((resolve, reject) => {
      const follow = () => scheduler.submit(commandOf('a2'), 1, { resolve, reject })
      scheduler.submit(commandOf('a1'), 1, { resolve: follow, reject })
    })
    await tick()
    await end(0)
    await end(1)
    expect(await followed).toBe('a2!')
  })

  test('have room again after failures, of whole batches and of batches that were isolated', async () => {
    const { scheduler, runAt, send, end } = openScheduler({ queueCommands: 4, queueBytes: 2 })
    send('a1 b1')
    await tick()
    await end(-1, run => run.fail(new Error('no')))
    expect([scheduler.queued, scheduler.queuedBytes]).toEqual([0, 0])
    send('a2 b2')
    await tick()
    runAt(1).isolate('b')
    await end(1, run => run.fail(new Error('no')))
    expect([scheduler.queued, scheduler.queuedBytes]).toEqual([1, 1])
    await end(2, run => run.fail(new Error('no')))
    expect([scheduler.queued, scheduler.queuedBytes, scheduler.inFlight]).toEqual([0, 0, 0])
  })

  test('hold after a weight that is not a number', async () => {
    const { scheduler } = openScheduler()
    await expect(ask(scheduler, commandOf('a1'), Number.NaN)).rejects.toBeInstanceOf(Overloaded)
    expect([scheduler.queued, scheduler.queuedBytes]).toEqual([0, 0])
  })

  test.each([
    { workers: 0 },
    { workers: Number.NaN },
    { concurrency: 0 },
    { concurrency: Number.NaN },
    { batchSize: 0 },
    { batchSize: Number.NaN },
    { batchShare: 0 },
  ])('%o is refused, because no command would ever run', options => {
    expect(() => openScheduler(options)).toThrow(RangeError)
  })
})

describe('close', () => {
  test('accepts no more commands, carries out those accepted, then resolves', async () => {
    const { scheduler, send, started, end } = openScheduler({ concurrency: 1, batchSize: 1 })
    const answers = send('a1 a2 b1')
    await tick()
    let closed = false
    const closing = Promise.all([scheduler.close(), scheduler.close()]).then(() => {
      closed = true
    })
    await expect(ask(scheduler, commandOf('c1'))).rejects.toBeInstanceOf(Closed)
    await end(-1)
    await end(-1, run => run.fail(new Error('no')))
    expect([started(), closed]).toEqual([['a1', 'a2', 'b1'], false])
    await end(-1)
    await closing
    expect([answers, scheduler.inFlight, scheduler.queued]).toEqual([['a1!', 'a2: no', 'b1!'], 0, 0])
  })

  test('carries out the commands of the same tick', async () => {
    const { scheduler, send, end } = openScheduler()
    const answers = send('a1')
    const closing = scheduler.close()
    await tick()
    await end(-1)
    await closing
    expect(answers).toEqual(['a1!'])
  })

  test('waits for batches that run isolated, and for those that they have left empty', async () => {
    const { scheduler, runAt, send, end } = openScheduler()
    const answers = send('a1')
    await tick()
    runAt(0).isolate('a')
    let closed = false
    const closing = scheduler.close().then(() => {
      closed = true
    })
    await ticks(2)
    await end(1)
    expect([answers, closed]).toEqual([['a1!'], false])
    await end(0)
    await closing
    expect(scheduler.inFlight).toBe(0)
  })

  test('resolves at once when there is nothing to do, however often it is called', async () => {
    const { scheduler } = openScheduler()
    await scheduler.close()
    await scheduler.close()
    await expect(ask(scheduler, commandOf('a1'))).rejects.toBeInstanceOf(Closed)
  })
})
