import { describe, expect, test } from 'vitest'
import { createBodyAdmission } from '../../src/http/platform/body-admission.ts'

describe('bytes under way', () => {
  test('are bounded, and what has left makes room', () => {
    const calls = createBodyAdmission({ bytes: 100, bytesATurn: 10 })
    expect([calls.enter(60), calls.enter(41), calls.enter(40)]).toEqual([true, false, true])
    calls.leave(60)
    expect([calls.enter(61), calls.enter(60)]).toEqual([false, true])
  })

  test('a call that comes alone is taken in however large it is', () => {
    const calls = createBodyAdmission({ bytes: 100, bytesATurn: 10 })
    expect([calls.enter(1_000), calls.enter(1)]).toEqual([true, false])
    calls.leave(1_000)
    expect(calls.enter(1)).toBe(true)
  })
})

describe('turns', () => {
  /** Calls that ask for a turn at once, and the turns of the event loop in which they got theirs. */
  async function served(sizes: readonly number[]): Promise<number[][]> {
    const calls = createBodyAdmission({ bytes: 1_000, bytesATurn: 10 })
    const turns: number[][] = []
    let now: number[] = []
    const done = Promise.all(sizes.map(size => calls.turn(size).then(() => now.push(size))))
    let isOver = false
    done.then(() => {
      isOver = true
    })
    while (!isOver) {
      await new Promise(resolve => setImmediate(resolve))
      if (now.length > 0) turns.push(now)
      now = []
    }
    return turns
  }

  test('are taken in the order in which the calls came', async () => {
    expect(await served([10, 9, 8])).toEqual([[10], [9], [8]])
  })

  test('are shared by small calls, and a large one has its own', async () => {
    expect(await served([3, 3, 4, 1, 50, 2, 2])).toEqual([[3, 3, 4], [1], [50], [2, 2]])
  })

  test('come again after a while without any', async () => {
    const calls = createBodyAdmission({ bytes: 1_000, bytesATurn: 10 })
    for (let n = 0; n < 3; n++) await expect(calls.turn(5)).resolves.toBeUndefined()
  })
})
