/** Newcomers, as the engine sees them: what becomes of commands when it cannot be found out who is one. */
import { expect, test } from 'vitest'
import { Unavailable } from '../../src/engine/completion.ts'
import type { Newcomers } from '../../src/engine/newcomers.ts'
import { createBench, draw, someone } from '../support/engine.ts'

const bench = await createBench()

/** As with a database so slow that what was found is forgotten before the commands are decided. */
const never: Newcomers = {
  mayBe: () => true,
  welcome: async () => {},
  look: async () => {},
  previewOf: () => undefined,
  previewOfUnmade: async () => [],
}

test.each(['reserve', 'consume'] as const)(
  'a %s of a user who may be one for ever is unavailable in the end',
  async op => {
    const engine = bench.engine({ newcomers: never, giveUpMs: 50 })
    await expect(engine.submit(draw(op, someone(), 'm', 1))).rejects.toThrow(Unavailable)
  },
)
