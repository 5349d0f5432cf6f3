/**
 * Prints the compressed size of the files that a browser loads for each start page of the console, in the language that needs
 * most. Exits with code 1 if one exceeds the budget.
 */
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { DIST, filesOfPage, LANGUAGES, START_PAGES } from './console-files.ts'

/** As sent: every current browser accepts brotli. */
const BUDGET_BYTES = 150_000

/** Bytes sent to a browser that accepts brotli; files without a .br file are sent uncompressed. */
async function sentBytes(file: string): Promise<number> {
  const path = join(DIST, file)
  return (await stat(`${path}.br`).catch(() => stat(path))).size
}

async function gzipBytes(file: string): Promise<number> {
  return gzipSync(await readFile(join(DIST, file)), { level: 9 }).length
}

async function sum(files: readonly string[], bytesOf: (file: string) => Promise<number>): Promise<number> {
  return (await Promise.all(files.map(bytesOf))).reduce((one, other) => one + other)
}

const kilobytes = (bytes: number) => `${(bytes / 1_000).toFixed(1)} kB`.padStart(10)

let isOver = false
process.stdout.write('start page              brotli      gzip  files\n')
for (const [name, modules] of Object.entries(START_PAGES)) {
  const languages = await Promise.all(
    LANGUAGES.map(async language => {
      const files = await filesOfPage(modules, language)
      return { files: files.length, sent: await sum(files, sentBytes), zipped: await sum(files, gzipBytes) }
    }),
  )
  const { files, sent, zipped } = languages.reduce((one, other) => (one.sent > other.sent ? one : other))
  isOver ||= sent > BUDGET_BYTES
  process.stdout.write(`${name.padEnd(18)}  ${kilobytes(sent)}${kilobytes(zipped)}${String(files).padStart(7)}\n`)
}
if (isOver) {
  process.stderr.write(`more than ${BUDGET_BYTES / 1_000} kB\n`)
  process.exitCode = 1
}
