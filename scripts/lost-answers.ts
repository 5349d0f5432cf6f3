/**
 * Sends messages through a network that loses answers, seed after seed, until the time is over or what is charged is not what was sent
 * (test/process/lost-answers.long.test.ts).
 *
 *     npm run lost-answers -- --minutes 60 --seed 1 --python /path/to/python3
 */
import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(randomInt(1_000_000_000)) },
    // Zero: this seed alone.
    minutes: { type: 'string', default: '0' },
    messages: { type: 'string', default: '1000' },
    // An interpreter that has the requirements of the package in python/.
    python: { type: 'string' },
  },
})
const numbers = [values.seed, values.minutes, values.messages].map(text =>
  /^\d{1,9}(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN,
)
const [seed = 0, minutes = 0, messages = 0] = numbers
if (numbers.some(Number.isNaN) || !Number.isInteger(seed) || !Number.isInteger(messages)) {
  process.stderr.write(
    'usage: npm run lost-answers -- [--seed WHOLE NUMBER] [--minutes NUMBER] [--messages WHOLE NUMBER] [--python PATH]\n',
  )
  process.exit(2)
}

const folder = resolve(import.meta.dirname, '..')
// A name without a slash is looked for in PATH.
const python = values.python?.includes('/') ? resolve(values.python) : values.python
if (python === undefined) process.stdout.write('Python senders: none; give --python PATH\n')
else {
  const code = 'import sys, httpx; assert sys.version_info >= (3, 11); print(sys.version.split()[0], httpx.__version__)'
  const { status, stdout, stderr, error } = spawnSync(python, ['-c', code], { encoding: 'utf8' })
  if (status !== 0) {
    const why = error?.message ?? stderr.trim().split('\n').at(-1)
    process.stderr.write(
      `--python ${python}: ${why}\nIt needs Python 3.11 or later with HTTPX: python3 -m venv DIR && DIR/bin/pip install -e python, then --python DIR/bin/python\n`,
    )
    process.exit(2)
  }
  const [version, httpx] = stdout.trim().split(' ')
  process.stdout.write(`Python senders: 4, with Python ${version} and HTTPX ${httpx}\n`)
}

const vitest = resolve(folder, 'node_modules/vitest/vitest.mjs')
const end = performance.now() + minutes * 60_000
const temporary = mkdtempSync(join(tmpdir(), 'lost-answers-result-'))
const result = join(temporary, 'result.json')
const totals = new Map<string, Map<string, number>>()
let seeds = 0
for (let next = seed; ; next += 1) {
  const { status } = spawnSync(process.execPath, [vitest, 'run', 'test/process/lost-answers.long.test.ts'], {
    cwd: folder,
    stdio: 'inherit',
    env: {
      ...process.env,
      LOST_ANSWERS_SEED: String(next),
      LOST_ANSWERS_MESSAGES: String(messages),
      LOST_ANSWERS_RESULT: result,
      ...(python === undefined ? {} : { LOST_ANSWERS_PYTHON: python }),
    },
  })
  if (status !== 0) {
    process.exitCode = 1
    break
  }
  addResult(JSON.parse(readFileSync(result, 'utf8')))
  seeds += 1
  if (performance.now() >= end) break
}
rmSync(temporary, { recursive: true })
process.stdout.write(`${seeds} seeds without a fault, from ${seed} on:\n`)
console.table(Object.fromEntries([...totals].map(([kind, counts]) => [kind, Object.fromEntries(counts)])))

/** Of one seed, by the kind of sender. */
function addResult(kinds: Record<string, Record<string, number>>): void {
  for (const [kind, counts] of Object.entries(kinds)) {
    const total = totals.get(kind) ?? new Map<string, number>()
    totals.set(kind, total)
    for (const [what, count] of Object.entries(counts)) total.set(what, (total.get(what) ?? 0) + count)
  }
}
