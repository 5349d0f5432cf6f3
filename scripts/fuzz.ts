/**
 * Calls all routes with any input, on one service per seed, until the time is over or a rule is broken (docs/decisions/verify.md).
 *
 *     npm run fuzz -- --minutes 30 --seed 1
 */
import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(randomInt(1_000_000_000)) },
    // Zero: this seed alone.
    minutes: { type: 'string', default: '0' },
    calls: { type: 'string', default: '5000' },
  },
})
const numbers = [values.seed, values.minutes, values.calls].map(text =>
  /^\d{1,9}(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN,
)
const [seed = 0, minutes = 0, calls = 0] = numbers
if (numbers.some(Number.isNaN) || !Number.isInteger(seed) || !Number.isInteger(calls)) {
  process.stderr.write('usage: npm run fuzz -- [--seed WHOLE NUMBER] [--minutes NUMBER] [--calls WHOLE NUMBER]\n')
  process.exit(2)
}

const folder = resolve(import.meta.dirname, '..')
const vitest = resolve(folder, 'node_modules/vitest/vitest.mjs')
const end = performance.now() + minutes * 60_000
for (let next = seed; ; next += 1) {
  const { status } = spawnSync(process.execPath, [vitest, 'run', 'test/http/fuzz.long.test.ts'], {
    cwd: folder,
    stdio: 'inherit',
    env: { ...process.env, FUZZ_SEED: String(next), FUZZ_CALLS: String(calls) },
  })
  if (status !== 0) {
    process.exitCode = 1
    break
  }
  if (performance.now() >= end) break
}
