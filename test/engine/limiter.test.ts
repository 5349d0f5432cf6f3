import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createLimiter, type LimiterOptions } from '../../src/engine/limiter.ts'
import { openScheduler, tick, ticks } from './scheduler-fixture.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** A limiter that counts how often it has said that there may be room. */
function openLimiter(options: Partial<LimiterOptions> = {}) {
  const room = { calls: 0 }
  const limiter = createLimiter({ workers: 8, onRoom: () => room.calls++, ...options })
  /** Whether another batch can start, and another one that runs isolated. */
  const state = (waiting = 100) => [limiter.canStart(false, waiting), limiter.canStart(true, waiting)]
  return { limiter, room, state }
}

describe('the concurrency', () => {
  test('bounds the batches that are running, and not those that run isolated', () => {
    const { limiter, state } = openLimiter({ concurrency: 2 })
    limiter.start(false, 1)
    expect(state()).toEqual([true, true])
    const end = limiter.start(false, 1)
    expect(state()).toEqual([false, true])
    limiter.start(true, 1)
    expect([limiter.inFlight, ...state()]).toEqual([3, false, true])
    end()
    expect([limiter.inFlight, ...state()]).toEqual([2, true, true])
  })

  test('is one while few commands wait', () => {
    const { limiter, state } = openLimiter({ concurrency: 2, few: 24 })
    expect(state(1)).toEqual([true, true])
    const end = limiter.start(false, 5)
    expect([limiter.commands, ...state(23)]).toEqual([5, false, true])
    expect(state(24)).toEqual([true, true])
    end()
    expect([limiter.commands, ...state(1)]).toEqual([0, true, true])
  })

  test('is as many as there are workers if it is left out', () => {
    const { limiter } = openLimiter({ workers: 3 })
    for (let n = 0; n < 3; n++) {
      expect(limiter.canStart(false, 100)).toBe(true)
      limiter.start(false, 1)
    }
    expect(limiter.canStart(false, 100)).toBe(false)
  })
})

describe('a batch that stalls', () => {
  test('makes room for another one after stallMs and a further time for each of its commands', () => {
    const { limiter, room, state } = openLimiter({ concurrency: 1, stallMs: 3, stallMsPerCommand: 0.5 })
    limiter.start(false, 100)
    vi.advanceTimersByTime(52)
    expect([room.calls, ...state()]).toEqual([0, false, true])
    vi.advanceTimersByTime(1)
    expect([room.calls, ...state()]).toEqual([1, true, true])
    limiter.start(false, 4)
    vi.advanceTimersByTime(4)
    expect(state()).toEqual([false, true])
    vi.advanceTimersByTime(1)
    expect([room.calls, limiter.inFlight, ...state()]).toEqual([2, 2, true, true])
  })

  test('frees no second slot when it ends', () => {
    const { limiter, room, state } = openLimiter({ concurrency: 1, stallMs: 3 })
    const end = limiter.start(false, 1)
    vi.advanceTimersByTime(3)
    limiter.start(false, 1)
    end()
    expect([room.calls, limiter.inFlight, ...state()]).toEqual([2, 1, false, true])
  })

  test('does not count as stalled once it has ended', () => {
    const { limiter, room, state } = openLimiter({ concurrency: 1, stallMs: 3 })
    const end = limiter.start(false, 1)
    vi.advanceTimersByTime(2)
    end()
    expect([room.calls, limiter.inFlight]).toEqual([1, 0])
    limiter.start(false, 1)
    vi.advanceTimersByTime(2)
    expect([room.calls, ...state()]).toEqual([1, false, true])
  })

  test('keeps its worker: there are never more batches in flight than workers', () => {
    const { limiter, state } = openLimiter({ workers: 3, concurrency: 1, stallMs: 3 })
    for (let n = 1; n < 3; n++) {
      limiter.start(false, 1)
      vi.advanceTimersByTime(3)
      expect(state()).toEqual([true, true])
    }
    limiter.start(true, 1)
    expect([limiter.inFlight, ...state()]).toEqual([3, false, false])
  })

  test('lets the next one start, which has gathered meanwhile', async () => {
    const { send, started } = openScheduler({ workers: 3, concurrency: 1, stallMs: 100, stallMsPerCommand: 1 })
    send('a1 b1')
    await tick()
    send('c1')
    vi.advanceTimersByTime(101)
    await ticks(2)
    send('d1')
    await ticks(2)
    expect(started()).toEqual(['a1 b1'])
    vi.advanceTimersByTime(1)
    await tick()
    expect(started()).toEqual(['c1 d1'])
    send('e1')
    vi.advanceTimersByTime(102)
    await tick()
    expect(started()).toEqual(['e1'])
    send('f1')
    vi.advanceTimersByTime(1_000)
    await ticks(2)
    expect(started()).toEqual([])
  })
})

describe('batches that run isolated', () => {
  test('have half of the workers, rounded down, but at least one', () => {
    for (const [workers, most] of [
      [1, 1],
      [2, 1],
      [3, 1],
      [4, 2],
      [5, 2],
      [8, 4],
    ] as const) {
      const { limiter } = openLimiter({ workers })
      let count = 0
      for (; limiter.canStart(true, 100); count++) limiter.start(true, 1)
      expect([workers, count]).toEqual([workers, most])
    }
  })

  test('never stall, and count until they end', () => {
    const { limiter, room, state } = openLimiter({ workers: 4, concurrency: 1, stallMs: 3 })
    const ends = [limiter.start(true, 1), limiter.start(true, 1)]
    vi.advanceTimersByTime(1_000)
    expect([room.calls, ...state()]).toEqual([0, true, false])
    ends[0]?.()
    expect([room.calls, ...state()]).toEqual([1, true, true])
  })

  test('have no worker while the others have all of them', () => {
    const { limiter, state } = openLimiter({ workers: 2 })
    limiter.start(false, 1)
    limiter.start(false, 1)
    expect(state()).toEqual([false, false])
  })
})
