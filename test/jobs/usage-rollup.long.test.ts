import { expect, test } from 'vitest'
import { createBench } from '../support/engine.ts'
import { usageOn } from './usage-fixture.ts'

const { expectRightInHistories } = usageOn(await createBench())

test('in random histories usage equals the ledger and the windows, and verify finds no difference, in any zone and at any age', async () => {
  const closed = await expectRightInHistories(Array.from({ length: 30 }, (_, n) => n + 1))
  expect(closed).toBeGreaterThan(10)
})
