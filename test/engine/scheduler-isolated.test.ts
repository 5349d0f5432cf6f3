import { describe, expect, test } from 'vitest'
import { idOf, openScheduler, tick, ticks } from './scheduler-fixture.ts'

/** Users by why they run isolated, such as `{ locked: 'ab' }`. Tests may change it. */
function difficulties(users: Record<string, string>) {
  return (userId: number) =>
    Object.keys(users).find(difficulty => users[difficulty]?.includes(String.fromCharCode(userId)))
}

describe('users that a batch isolates', () => {
  test('do not hold up its other commands, and run in a batch of their own at once', async () => {
    const { runAt, send, started, end } = openScheduler()
    const answers = send('a1 b1 c1 b2 d1')
    await tick()
    expect(runAt(0).isolate('bd')).toBe('a1 c1')
    await tick()
    expect(started()).toEqual(['a1 b1 c1 b2 d1', 'isolated: b1 b2 d1'])
    await end(0)
    expect(answers).toEqual(['a1!', 'c1!'])
    send('a2 b3')
    await tick()
    expect(started()).toEqual(['a2'])
    await end(1)
    expect(answers).toEqual(['a1!', 'c1!', 'b1!', 'b2!', 'd1!'])
    expect(started()).toEqual(['b3'])
  })

  test('keep their order, with commands that came before, while they wait, and while they run', async () => {
    // One worker for batches that run isolated, and `z` has it.
    const { runAt, send, started, end } = openScheduler({ workers: 3, difficultyOf: difficulties({ locked: 'z' }) })
    const answers = send('z1 a1 b1')
    await ticks(2)
    expect(started()).toEqual(['a1 b1', 'isolated: z1'])
    send('a2 b2')
    await tick()
    runAt(0).isolate('a')
    send('a3 c1')
    await tick()
    expect(started()).toEqual(['c1'])
    await end(0)
    expect(started()).toEqual(['b2'])
    await end(1)
    expect(started()).toEqual(['isolated: a1 a2 a3'])
    send('a4')
    await tick()
    send('a5')
    await tick()
    expect(started()).toEqual([])
    await end(-1)
    expect(started()).toEqual(['a4 a5'])
    await end(-1)
    expect(answers).toEqual(['b1!', 'z1!', 'a1!'])
  })

  test('may have more commands than a batch: the rest comes after it', async () => {
    const { runAt, send, started, end } = openScheduler({ workers: 3, batchSize: 3 })
    send('a1 b1 a2')
    await tick()
    send('a3 b2 a4')
    await tick()
    runAt(0).isolate('a')
    await tick()
    send('a5')
    await tick()
    expect(started()).toEqual(['a1 b1 a2', 'isolated: a1 a2 a3'])
    await end(1)
    expect(started()).toEqual(['a4 a5'])
  })

  test('may be none of the batch: then nothing changes', async () => {
    const { scheduler, runAt, send, started, end } = openScheduler()
    const answers = send('a1 b1')
    await tick()
    expect(runAt(0).isolate('')).toBe('a1 b1')
    expect(runAt(0).isolate('c')).toBe('a1 b1')
    send('c1')
    await ticks(2)
    expect(started()).toEqual(['a1 b1', 'c1'])
    await end(0)
    expect([answers, scheduler.inFlight]).toEqual([['a1!', 'b1!'], 1])
  })

  test('may be all of them: the batch is left empty and ends, with no effect on them', async () => {
    const { scheduler, runAt, send, started, end } = openScheduler({ concurrency: 1 })
    const answers = send('a1 b1')
    await tick()
    expect(runAt(0).isolate('ab')).toBe('')
    await end(0)
    send('a2 c1')
    await tick()
    expect(started()).toEqual(['a1 b1', 'isolated: a1 b1', 'c1'])
    expect([answers, scheduler.queued]).toEqual([[], 4])
    await end(1)
    expect(answers).toEqual(['a1!', 'b1!'])
  })

  test('in several steps form a batch each, which start in that order', async () => {
    const { runAt, send, started, end } = openScheduler({ workers: 3 })
    send('a1 b1 c1 d1')
    await tick()
    expect(runAt(0).isolate('ab')).toBe('c1 d1')
    expect(runAt(0).isolate('ac')).toBe('d1')
    await tick()
    const answers = send('c2 a2 d2 b2')
    await tick()
    expect(started()).toEqual(['a1 b1 c1 d1', 'isolated: a1 b1'])
    await end(0)
    expect(started()).toEqual(['d2'])
    await end(1)
    expect(started()).toEqual(['isolated: c1 c2', 'a2 b2'])
    await end(-2)
    expect(answers).toEqual(['c2!'])
  })

  test('may be isolated again by the batch that runs isolated', async () => {
    const { runAt, send, started, end } = openScheduler()
    const answers = send('a1 b1 c1 a2')
    await tick()
    runAt(0).isolate('abc')
    await tick()
    send('a3 b2 c2')
    await tick()
    expect(runAt(1).isolate('a')).toBe('b1 c1')
    await tick()
    expect(runAt(1).isolate('c')).toBe('b1')
    await tick()
    expect(started()).toEqual(['a1 b1 c1 a2', 'isolated: a1 b1 c1 a2', 'isolated: a1 a2 a3', 'isolated: c1 c2'])
    await end(3)
    await end(1)
    expect(started()).toEqual(['b2'])
    await end(2)
    expect(answers).toEqual(['c1!', 'b1!', 'a1!', 'a2!'])
  })

  test('fail isolated: the errors of both batches reach their own commands alone', async () => {
    const { runAt, send, end } = openScheduler()
    const answers = send('a1 b1 c1')
    await tick()
    runAt(0).isolate('b')
    await tick()
    await end(1, run => run.fail(new Error('isolated')))
    await end(0, run => run.answer(['a1!', new Error('alone')]))
    expect(answers).toEqual(['b1: isolated', 'a1!', 'c1: alone'])
  })

  test('get no result of the batch that they have left', async () => {
    const { runAt, send, end } = openScheduler()
    const answers = send('a1 b1')
    await tick()
    runAt(0).isolate('b')
    await end(0, run => run.answer(['a1!', 'b1!']))
    await end(1)
    expect(answers).toEqual(['a1: a batch of 1 commands got 2 results', 'b1!'])
  })

  test('are not those that a batch names after its end', async () => {
    const { scheduler, runAt, send, started, end } = openScheduler()
    const answers = send('a1 b1')
    await tick()
    await end(0)
    runAt(0).isolate('ab')
    send('a2')
    await tick()
    expect(started()).toEqual(['a1 b1', 'a2'])
    expect([answers, scheduler.inFlight]).toEqual([['a1!', 'b1!'], 1])
  })
})

describe('users with a difficulty', () => {
  test('run isolated from the start, in a batch for each difficulty', async () => {
    const { send, started } = openScheduler({ difficultyOf: difficulties({ locked: 'ac', failing: 'b' }) })
    send('a1 b1 d1 c1 a2 b2')
    await ticks(3)
    expect(started()).toEqual(['d1', 'isolated: a1 c1 a2', 'isolated: b1 b2'])
  })

  test('run isolated even if no other command waits', async () => {
    const { send, started, end } = openScheduler({ difficultyOf: difficulties({ locked: 'a' }) })
    const answers = send('a1')
    await ticks(2)
    expect(started()).toEqual(['isolated: a1'])
    await end(0)
    expect(answers).toEqual(['a1!'])
  })

  test('wait for a batch of theirs that is in flight, and run isolated from then on until it is over', async () => {
    const users: Record<string, string> = {}
    const { send, started, end } = openScheduler({ difficultyOf: difficulties(users) })
    send('a1')
    await tick()
    users.locked = 'a'
    send('a2')
    await tick()
    await end(0)
    expect(started()).toEqual(['a1', 'isolated: a2'])
    send('a3')
    await tick()
    delete users.locked
    await end(1)
    expect(started()).toEqual(['a3'])
  })

  test('share the waiting batch with no user who comes later, but with their own later commands', async () => {
    const { send, started, end } = openScheduler({ workers: 2, difficultyOf: difficulties({ locked: 'abc' }) })
    send('a1')
    await ticks(2)
    send('b1')
    await ticks(2)
    send('b2 c1')
    await ticks(2)
    expect(started()).toEqual(['isolated: a1'])
    await end(0)
    expect(started()).toEqual(['isolated: b1 b2'])
    await end(1)
    expect(started()).toEqual(['isolated: c1'])
  })
})

describe('batches that run isolated', () => {
  /** Every user has a difficulty of its own, but `x`, `y` and `z`. */
  const difficultyOf = (userId: number) => (userId < idOf('x') ? String(userId) : undefined)

  test.each([
    [1, 1],
    [2, 1],
    [3, 1],
    [4, 2],
    [8, 4],
  ])('with %i workers are %i at most', async (workers, most) => {
    const { scheduler, send, started, end } = openScheduler({ workers, difficultyOf })
    send('a1 b1 c1 d1 e1 f1')
    await ticks(8)
    expect([started().length, scheduler.inFlight]).toEqual([most, most])
    for (let n = 0; n < 6; n++) await end(n)
    expect([scheduler.queued, scheduler.inFlight]).toEqual([0, 0])
  })

  test('leave the other half to the other commands', async () => {
    const { send, started } = openScheduler({ workers: 4, batchSize: 1, difficultyOf })
    send('a1 b1 c1 x1 y1 z1')
    await ticks(10)
    expect(started().sort()).toEqual(['isolated: a1', 'isolated: b1', 'x1', 'y1'])
  })

  test('start in their order, each as soon as a worker of their half is free', async () => {
    const { send, started, end } = openScheduler({ workers: 4, difficultyOf })
    send('a1 b1 c1 d1')
    await ticks(4)
    expect(started()).toEqual(['isolated: a1', 'isolated: b1'])
    await end(1)
    expect(started()).toEqual(['isolated: c1'])
    await end(0)
    expect(started()).toEqual(['isolated: d1'])
  })

  test('do not count as running ones, and start before them', async () => {
    const { send, started, end } = openScheduler({ workers: 8, concurrency: 1, difficultyOf })
    send('x1')
    await tick()
    send('y1 a1')
    await tick()
    // The one slot is taken, so neither is taken from the queue.
    expect(started()).toEqual(['x1'])
    await end(0)
    expect(started()).toEqual(['y1', 'isolated: a1'])
    send('z1 b1')
    await end(1)
    expect(started()).toEqual(['z1', 'isolated: b1'])
  })

  test('of one worker leave it to the other commands again', async () => {
    const { send, started, end } = openScheduler({ workers: 1, difficultyOf })
    send('a1 x1')
    await ticks(3)
    expect(started()).toEqual(['x1'])
    await end(0)
    expect(started()).toEqual(['isolated: a1'])
    send('y1')
    await tick()
    await end(1)
    expect(started()).toEqual(['y1'])
  })
})
