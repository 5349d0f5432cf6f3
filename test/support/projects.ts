/** What each test file needs before it runs, found from what it imports: a pure one starts at once. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { PROJECT } from './paths.ts'

/**
 * `pure`: nothing; `transformed`: nothing, but Node.js cannot load its modules itself; `database`: a server; `console`: also the built
 * console; `process`: both, and they take longest; `long`: both, too, and only `npm run test:long` runs them.
 */
export type Need = 'pure' | 'transformed' | 'database' | 'console' | 'process' | 'long'

/** The test files of each need, as paths from the project's root. */
export function filesByNeed(): Record<Need, string[]> {
  const files: Record<Need, string[]> = { pure: [], transformed: [], database: [], console: [], process: [], long: [] }
  for (const path of readdirSync(join(PROJECT, 'test'), { recursive: true, encoding: 'utf8' }).sort()) {
    if (path.endsWith('.test.ts')) files[needOf(join(PROJECT, 'test', path))].push(`test/${path}`)
  }
  return files
}

function needOf(file: string): Need {
  if (file.endsWith('.long.test.ts')) return 'long'
  const reached = reachedFrom(file)
  if (reached.has(join(PROJECT, 'test/support/process.ts'))) return 'process'
  if (reached.has(join(PROJECT, 'scripts/console-files.ts'))) return 'console'
  const usesServer = [...reached].some(path => isOfTests(path) && /\binject\('/.test(textOf(path)))
  if (!usesServer) return /\bvi\.mock\(|console\/src\/texts/.test(textOf(file)) ? 'transformed' : 'pure'
  return relative(PROJECT, file).startsWith('test/console/') ? 'console' : 'database'
}

/** The files that a test file imports, directly or through others below `test/`, and itself. */
function reachedFrom(file: string): Set<string> {
  const reached = new Set([file])
  // A Set iterates over the entries that are added while it is iterated.
  for (const path of reached) {
    if (!isOfTests(path)) continue
    for (const [, target = ''] of textOf(path).matchAll(/^(?:import|export|\}) .*?from '(\.[^']+\.ts)'$/gm)) {
      reached.add(resolve(dirname(path), target))
    }
  }
  return reached
}

const isOfTests = (path: string) => path.startsWith(join(PROJECT, 'test/'))

const texts = new Map<string, string>()

function textOf(path: string): string {
  const text = texts.get(path) ?? readFileSync(path, 'utf8')
  texts.set(path, text)
  return text
}
