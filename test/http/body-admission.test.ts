import { describe, expect, test } from 'vitest'
import { createBodyAdmission } from '../../src/http/platform/body-admission.ts'

describe('bytes in progress', () => {
  test('are limited, and a released call makes room', () => {
    const calls = createBodyAdmission({ maxBytes: 100, bytesPerTick: 10 })
    expect([calls.tryAcquire(60), calls.tryAcquire(41), calls.tryAcquire(40)]).toEqual([true, false, true])
    calls.release(60)
    expect([calls.tryAcquire(61), calls.tryAcquire(60)]).toEqual([false, true])
  })

  test('a single call is admitted at any size', () => {
    const calls = createBodyAdmission({ maxBytes: 100, bytesPerTick: 10 })
    expect([calls.tryAcquire(1_000), calls.tryAcquire(1)]).toEqual([true, false])
    calls.release(1_000)
    expect(calls.tryAcquire(1)).toBe(true)
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
