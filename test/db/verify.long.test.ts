import { test } from 'vitest'
import { createBench } from '../support/engine.ts'
import { judgeOf } from './verify-fixture.ts'

const { expectRightInHistories } = judgeOf(await createBench())

test('finds nothing wrong in random histories of sends, changes, revivals, retention and clocks that lag', () =>
  expectRightInHistories(Array.from({ length: 24 }, (_, n) => n + 1)))
