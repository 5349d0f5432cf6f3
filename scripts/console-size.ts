/**
 * Prints the compressed size of the files that a browser loads for each start page of the console. Exits with code 1 if
 * one exceeds the budget.
 */
import { readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'

/** As sent: every current browser accepts brotli. */
const BUDGET_BYTES = 200_000
const DIST = resolve(import.meta.dirname, '../console/dist')

interface Chunk {
  file: string
  css?: string[]
  /** Manifest names of the chunks that it imports. */
  imports?: string[]
}

const manifest: Record<string, Chunk> = JSON.parse(await readFile(join(DIST, '.vite/manifest.json'), 'utf8'))

function filesOf(name: string): string[] {
  const chunk = manifest[name]
  if (chunk === undefined) throw new Error(`the build has no ${name}: run npm run console`)
  return [chunk.file, ...(chunk.css ?? []), ...(chunk.imports ?? []).flatMap(filesOf)]
}

/** Bytes sent to a browser that accepts brotli; files without a .br file are sent uncompressed. */
async function sentBytes(file: string): Promise<number> {
  const path = join(DIST, file)
  return (await stat(`${path}.br`).catch(() => stat(path))).size
}

async function gzipBytes(file: string): Promise<number> {
  return gzipSync(await readFile(join(DIST, file)), { level: 9 }).length
}

/** The start pages, each with the entry points that its route loads. */
const START_PAGES = {
  overview: ['src/pages/overview/overview.tsx'],
  quotas: ['src/pages/quotas/quotas.tsx'],
  'my quotas': ['src/pages/my-quotas/my-quotas-page.tsx', 'src/components/user/overview.tsx'],
}
const kilobytes = (bytes: number) => `${(bytes / 1_000).toFixed(1)} kB`.padStart(10)

let isOver = false
process.stdout.write('start page              brotli      gzip\n')
for (const [name, entries] of Object.entries(START_PAGES)) {
  const files = [
    ...new Set(['index.html', ...filesOf('index.html'), ...filesOf('src/app.tsx'), ...entries.flatMap(filesOf)]),
  ]
  const sent = (await Promise.all(files.map(sentBytes))).reduce((one, other) => one + other)
  const zipped = (await Promise.all(files.map(gzipBytes))).reduce((one, other) => one + other)
  isOver ||= sent > BUDGET_BYTES
  process.stdout.write(`${name.padEnd(18)}  ${kilobytes(sent)}${kilobytes(zipped)}\n`)
}
if (isOver) {
  process.stderr.write(`more than ${BUDGET_BYTES / 1_000} kB\n`)
  process.exitCode = 1
}
