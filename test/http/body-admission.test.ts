import { describe, expect, test } from 'vitest'
import { createBodyAdmission } from '../../src/http/platform/body-admission.ts'

describe('bytes in progress', () => {
  test('are limited, and a released call makes room', () => {
    const calls = createBodyAdmission({ maxBytes: 100, bytesPerTick: 10 })
    const acquire = (bytes: number) => calls.tryAcquire('one', bytes)
    expect([acquire(50), calls.tryAcquire('other', 51), calls.tryAcquire('other', 50)]).toEqual([true, false, true])
    calls.release('one', 50)
    expect([acquire(51), acquire(50)]).toEqual([false, true])
  })

  test('of one principal are limited by the room left, so that another one finds some', () => {
    const calls = createBodyAdmission({ maxBytes: 100, bytesPerTick: 10 })
    const acquire = (principal: string) => calls.tryAcquire(principal, 10)
    const admitted = (principal: string) => Array.from({ length: 10 }, () => acquire(principal)).filter(Boolean).length
    expect([admitted('greedy'), admitted('greedier'), admitted('polite')]).toEqual([5, 3, 1])
    expect([calls.hasRoom('greedy', 10), calls.hasRoom('newcomer', 10)]).toEqual([false, true])
    for (let n = 0; n < 5; n++) calls.release('greedy', 10)
    expect(admitted('greedy')).toBe(3)
  })

  test('a single call is admitted at any size', () => {
    const calls = createBodyAdmission({ maxBytes: 100, bytesPerTick: 10 })
    expect([calls.tryAcquire('one', 1_000), calls.tryAcquire('other', 1)]).toEqual([true, false])
    calls.release('one', 1_000)
    expect(calls.tryAcquire('other', 1)).toBe(true)
  })
})

describe('ticks', () => {
  /** The sizes of calls that arrive at the same time, by the tick in which each runs. */
  async function ticksOf(sizes: readonly number[]): Promise<number[][]> {
    const calls = createBodyAdmission({ maxBytes: 1_000, bytesPerTick: 10 })
    const ticks: number[][] = []
    let current: number[] = []
    const done = Promise.all(sizes.map(size => calls.nextTick(size).then(() => current.push(size))))
    let isOver = false
    done.then(() => {
      isOver = true
    })
    while (!isOver) {
      await new Promise(resolve => setImmediate(resolve))
      if (current.length > 0) ticks.push(current)
      current = []
    }
    return ticks
  }

  test('run calls in the order of their arrival', async () => {
    expect(await ticksOf([10, 9, 8])).toEqual([[10], [9], [8]])
  })

  test('are shared by small calls; a large call has one of its own', async () => {
    expect(await ticksOf([3, 3, 4, 1, 50, 2, 2])).toEqual([[3, 3, 4], [1], [50], [2, 2]])
  })

  test('continue after a time without calls', async () => {
    const calls = createBodyAdmission({ maxBytes: 1_000, bytesPerTick: 10 })
    for (let n = 0; n < 3; n++) await expect(calls.nextTick(5)).resolves.toBeUndefined()
  })
})
