/**
 * Checks everything but behavior, as many parts at a time as there are cores, and prints what a part says if it fails.
 *
 *     bin/node scripts/check.ts [PART …]
 *
 * Without parts, those of `npm run check`: they take seconds, and need nothing that is built. `all`: every part that `npm test` has not.
 * Prints the counts of passed and failed parts at the end, and exits with 1 if one failed.
 */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'

const PROJECT = resolve(import.meta.dirname, '..')

interface Part {
  readonly name: string
  readonly command: string
  /** It builds something first, so it is no part of `npm run check`. */
  readonly builds?: boolean
  /** `npm test` has it, so it is no part of `all`, which runs beside that. */
  readonly tests?: boolean
}

const { scripts } = JSON.parse(readFileSync(resolve(PROJECT, 'package.json'), 'utf8')) as {
  scripts: Readonly<Record<string, string>>
}

/** What it found before is kept: a second check of the types takes a third of the time. */
const typesOf = (name: string, project = name): Part => ({
  name: `types of ${name}`,
  command: `tsc --noEmit --incremental --tsBuildInfoFile node_modules/.cache/types/${name} -p ${project}`,
})
const generated = (name: string): Part => ({ name: `generated ${name}`, command: `${scripts[name]} --check` })
const named = (name: string, builds = false): Part => ({ name, command: `${scripts[name]}`, builds })

/** The longest ones first: one that begins last would keep a single core busy. */
const PARTS: readonly Part[] = [
  typesOf('service', '.'),
  named('dead-code'),
  { ...named('architecture'), tests: true },
  typesOf('console'),
  named('lint'),
  generated('reference'),
  generated('openapi'),
  typesOf('client'),
  typesOf('client-package', 'client/tsconfig.build.json'),
  typesOf('examples'),
  generated('client'),
  generated('styles'),
  named('licenses'),
  named('client:package', true),
  named('console:size', true),
]

/** @returns whether it passed */
async function run({ name, command, builds = false }: Part): Promise<boolean> {
  const began = performance.now()
  const env = { ...process.env, PATH: `${resolve(PROJECT, 'node_modules/.bin')}:${process.env.PATH ?? ''}` }
  const child = spawn('sh', ['-c', `${command} 2>&1`], { cwd: PROJECT, env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise<number | null>(done => child.on('close', done))
  const said = await text(child.stdout)
  const passes = (await ended) === 0
  const seconds = ((performance.now() - began) / 1_000).toFixed(1)
  console.log(`== ${name}: ${passes ? 'passed' : 'FAILED'} after ${seconds} s`)
  if (!passes || builds) console.log(said.trim())
  return passes
}

/** The parts that words of the command line name: a name, or the beginning of several. */
function chosen(words: readonly string[]): readonly Part[] {
  if (words.length === 0) return PARTS.filter(({ builds = false }) => !builds)
  if (words.includes('all')) return PARTS.filter(({ tests = false }) => !tests)
  for (const word of words) {
    if (PARTS.some(({ name }) => name.startsWith(word))) continue
    console.error(`There is no part "${word}". Parts: all, ${PARTS.map(({ name }) => name).join(', ')}`)
    process.exit(2)
  }
  return PARTS.filter(({ name }) => words.some(word => name.startsWith(word)))
}

const waiting = [...chosen(process.argv.slice(2))]
const results: boolean[] = []
async function work(): Promise<void> {
  for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) results.push(await run(part))
}
await Promise.all(Array.from({ length: availableParallelism() }, work))

const failed = results.filter(passes => !passes).length
console.log(`\n${results.length - failed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
