import { expect, test } from 'vitest'
import { createStepPacer } from '../../src/http/changes/step-pacer.ts'

const LIMITS = { minRows: 10, maxRows: 100, targetMs: 50 }

test('a step that takes too long makes the next one smaller, and a fast one lets it grow', async () => {
  let now = 0
  const turns = createStepPacer({ ...LIMITS, now: () => now })
  const sizes: number[] = []
  for (const ms of [25, 100, 100, 100, 100, 100, 5, 5, 5, 5]) {
    await turns.run(Array.from({ length: turns.rows }), async () => {
      now += ms
      return []
    })
    sizes.push(turns.rows)
  }
  expect(sizes).toEqual([100, 50, 25, 13, 10, 10, 20, 40, 80, 100])
})

test('one step runs at a time, in the order of the calls, also after one has failed, which is not divided', async () => {
  const turns = createStepPacer(LIMITS)
  const order: string[] = []
  const step = (name: string) =>
    turns.run([1, 2], async () => {
      order.push(`${name} begins`)
      await Promise.resolve()
      order.push(`${name} ends`)
      if (name === 'a') throw new Error('a fails')
      return []
    })
  const results = await Promise.allSettled([step('a'), step('b')])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
  expect(order).toEqual(['a begins', 'a ends', 'b begins', 'b ends'])
})
