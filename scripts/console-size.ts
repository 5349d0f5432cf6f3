/**
 * Prints what a browser loads of the console until the first page after signing in stands there, compressed as it is
 * sent; exit code 1 if it is more than the budget.
 */
import { readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'

const BUDGET_BYTES = 250_000
const DIST = resolve(import.meta.dirname, '../console/dist')

interface Chunk {
  file: string
  css?: string[]
  /** Chunks that it needs, by their names in the manifest. */
  imports?: string[]
}

const manifest: Record<string, Chunk> = JSON.parse(await readFile(join(DIST, '.vite/manifest.json'), 'utf8'))

function filesOf(name: string): string[] {
  const chunk = manifest[name]
  if (chunk === undefined) throw new Error(`the build has no ${name}: run npm run console`)
  return [chunk.file, ...(chunk.css ?? []), ...(chunk.imports ?? []).flatMap(filesOf)]
}

/** Bytes as sent to a browser that takes brotli; what is not compressed at the build goes as it is. */
async function sentBytes(file: string): Promise<number> {
  const path = join(DIST, file)
  return (await stat(`${path}.br`).catch(() => stat(path))).size
}

async function gzipBytes(file: string): Promise<number> {
  return gzipSync(await readFile(join(DIST, file)), { level: 9 }).length
}

const firstPages = Object.keys(manifest).filter(name => /^src\/pages\/(overview|quotas|mine)\/\1\.tsx$/.test(name))
const kilobytes = (bytes: number) => `${(bytes / 1_000).toFixed(1)} kB`.padStart(10)

let isOver = false
process.stdout.write('first page              brotli      gzip\n')
for (const page of firstPages) {
  const files = [...new Set(['index.html', ...filesOf('index.html'), ...filesOf(page)])]
  const sent = (await Promise.all(files.map(sentBytes))).reduce((one, other) => one + other)
  const zipped = (await Promise.all(files.map(gzipBytes))).reduce((one, other) => one + other)
  isOver ||= zipped > BUDGET_BYTES
  const name = page.split('/')[2] ?? page
  process.stdout.write(`${name.padEnd(18)}  ${kilobytes(sent)}${kilobytes(zipped)}\n`)
}
if (isOver) {
  process.stderr.write(`more than ${BUDGET_BYTES / 1_000} kB\n`)
  process.exitCode = 1
}
