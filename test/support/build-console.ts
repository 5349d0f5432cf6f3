import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { PROJECT } from './paths.ts'

const STAMP = join(PROJECT, 'node_modules/.cache/console.stamp')
const PAGE = join(PROJECT, 'console/dist/index.html')

/** All that a build is made of: the console takes parts of `src/`. */
const SOURCES = ['console', 'src', 'package-lock.json', 'tsconfig.json']

/** Builds the console before tests that show it, unless its files are those of a build from the current sources. */
export default async function setup(): Promise<void> {
  const stamp = await readFile(STAMP, 'utf8').catch(() => null)
  if (stamp === (await stampOf())) return
  if (stamp !== null || !(await isNewerThanSources())) {
    // With the NODE_ENV of Vitest the build would contain the development version of React.
    const env = { ...process.env, NODE_ENV: 'production' }
    await promisify(execFile)('npm', ['run', '--silent', 'console'], { cwd: PROJECT, env })
  }
  await mkdir(dirname(STAMP), { recursive: true })
  await writeFile(STAMP, await stampOf())
}

/** Whether the console was built since a source changed, as `npm ci` does, which removes the stamp. A folder changes with its files. */
async function isNewerThanSources(): Promise<boolean> {
  const built = await stat(PAGE).catch(() => null)
  if (built === null) return false
  const files = (await Promise.all(SOURCES.map(source => filesBelow(join(PROJECT, source))))).flat()
  const paths = new Set(files.flatMap(path => (dirname(path) === PROJECT ? [path] : [path, dirname(path)])))
  const changed = await Promise.all(Array.from(paths, async path => (await stat(path)).mtimeMs))
  return Math.max(...changed) <= built.mtimeMs
}

/** The sources, and the time of the build: another build from other sources may have followed. */
async function stampOf(): Promise<string> {
  const hash = createHash('sha256')
  for (const source of SOURCES) {
    for (const path of await filesBelow(join(PROJECT, source))) hash.update(path).update(await readFile(path))
  }
  const built = await stat(PAGE).catch(() => undefined)
  return `${hash.digest('hex')} ${built?.mtimeMs}`
}

async function filesBelow(path: string): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) return [path]
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  return entries
    .filter(entry => entry.isFile() && !/\/console\/dist(?:\/|$)/.test(entry.parentPath))
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort()
}
