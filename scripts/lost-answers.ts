/**
 * Sends messages through a network that loses answers, seed after seed, until the time is over or what is charged is not what was sent
 * (test/process/lost-answers.test.ts).
 *
 *     npm run lost-answers -- --minutes 60 --seed 1
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
    messages: { type: 'string', default: '1000' },
  },
})
const numbers = [values.seed, values.minutes, values.messages].map(text =>
  /^\d{1,9}(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN,
)
const [seed = 0, minutes = 0, messages = 0] = numbers
if (numbers.some(Number.isNaN) || !Number.isInteger(seed) || !Number.isInteger(messages)) {
  process.stderr.write(
    'usage: npm run lost-answers -- [--seed WHOLE NUMBER] [--minutes NUMBER] [--messages WHOLE NUMBER]\n',
  )
  process.exit(2)
}

const folder = resolve(import.meta.dirname, '..')
const vitest = resolve(folder, 'node_modules/vitest/vitest.mjs')
const end = performance.now() + minutes * 60_000
for (let next = seed; ; next += 1) {
  const { status } = spawnSync(process.execPath, [vitest, 'run', 'test/process/lost-answers.test.ts'], {
    cwd: folder,
    stdio: 'inherit',
    env: { ...process.env, LOST_ANSWERS_SEED: String(next), LOST_ANSWERS_MESSAGES: String(messages) },
  })
  if (status !== 0) {
    process.exitCode = 1
    break
  }
  if (performance.now() >= end) break
}
