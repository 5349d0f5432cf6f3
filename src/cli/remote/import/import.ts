/** The command `import`: checks a whole file, and then sends it piece by piece. */
import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { MAX_LISTED_FAILURES } from '../../../domain/basics/bounds.ts'
import { createRepeatedRows } from '../../../domain/quotas/repeated-rows.ts'
import { NotRegular } from '../../regular-file.ts'
import { safeLines } from '../../safe.ts'
import { CallFailed } from '../failures.ts'
import type { Address } from '../profiles.ts'
import { type FaultReport, openFaultReport } from './faults.ts'
import { type Row, rowsOf } from './rows.ts'
import { type Counts, createSender, type Piece, type SenderOptions } from './sender.ts'

/** Rows and bytes of a call: the service lists as many refused ones, and proxies let bodies of this size through. */
const PIECE = { rows: MAX_LISTED_FAILURES, bytes: 512 * 1024 }

export interface ImportRequest {
  /** A file, or `-` for stdin. */
  file: string
  /** Of the file; found out if undefined. */
  encoding?: string | undefined
  /** Gets all that is wrong, as CSV. */
  errorsFile?: string | undefined
  service: Address
  dryRun: boolean
  patience?: SenderOptions['patience']
}

/** Where the command writes. */
export interface Output {
  print(text: string): unknown
  complain(line: string): void
  /** Shows a line in place of the one before; undefined without a terminal. */
  progress?: ((text: string) => void) | undefined
}

/** @returns the exit code: 0 if the service has all rows, 1 if some are bad, otherwise that of the failure */
export async function importFile(request: ImportRequest, output: Output): Promise<number> {
  if (request.file !== '-') return importPath(request.file, request, output)
  // Two passes need a file.
  const folder = await mkdtemp(join(tmpdir(), 'sms-quota-import-'))
  try {
    const path = join(folder, 'rows')
    await pipeline(process.stdin, createWriteStream(path, { mode: 0o600 }))
    return await importPath(path, request, output)
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function importPath(path: string, request: ImportRequest, output: Output): Promise<number> {
  const faults = await openFaultReport(request.errorsFile, request.file)
  try {
    const rows = await checkRows(path, request, output, faults)
    if (faults.rows > 0) {
      output.progress?.('')
      faults.print(output.complain)
      output.complain(`sms-quota: ${rowsIn(faults.rows)} of ${shownName(request)} cannot be imported; nothing was sent`)
      return 1
    }
    return await sendRows(path, rows, request, output, faults)
  } catch (error) {
    if (error instanceof NotRegular) {
      output.complain(`sms-quota: ${error.message}; - reads stdin`)
      return 1
    }
    const { code } = error as NodeJS.ErrnoException
    if (!['ENOENT', 'EACCES', 'EPERM'].includes(code ?? '')) throw error
    output.complain(`sms-quota: ${request.file} cannot be read (${code})`)
    return 1
  } finally {
    output.progress?.('')
    await faults.flush()
    await faults.close()
  }
}

const shownName = ({ file }: ImportRequest) => (file === '-' ? 'stdin' : file)
const inWords = (count: number) => count.toLocaleString('en')
const rowsIn = (count: number) => (count === 1 ? '1 row' : `${inWords(count)} rows`)

const SAME = { id: 'id', reference: 'user_id and external_ref', plan: 'user, and a plan,' }

/** The first pass: finds the rows that are wrong, and those for the same quota. @returns how many rows there are */
async function checkRows(path: string, request: ImportRequest, output: Output, faults: FaultReport): Promise<number> {
  const repeated = createRepeatedRows()
  let rows = 0
  for await (const group of rowsOf(path, request.encoding)) {
    rows += group.length
    for (const { line, issues, value } of group) {
      const earlier = repeated.add(value, line)
      const repetition =
        earlier === undefined ? [] : [{ path: '', message: `has the same ${SAME[earlier.by]} as line ${earlier.line}` }]
      if (issues !== null || earlier !== undefined) faults.add(line, [...(issues ?? []), ...repetition])
    }
    await faults.flush()
    output.progress?.(`checked ${inWords(rows)} rows`)
  }
  return rows
}

/** The second pass. */
async function sendRows(
  path: string,
  total: number,
  request: ImportRequest,
  output: Output,
  faults: FaultReport,
): Promise<number> {
  const { encoding, service, dryRun, patience } = request
  const requestId = `import-${randomUUID()}`
  const sender = createSender(service, { dryRun, requestId, ...(patience === undefined ? {} : { patience }) })
  const counts: Counts = { created: 0, updated: 0, unchanged: 0, failed: 0 }
  const startedAt = performance.now()
  let done = 0
  let lastLine = 0
  try {
    for await (const piece of piecesOf(rowsOf(path, encoding))) {
      const result = await sender.send(piece)
      for (const name of Object.keys(counts) as (keyof Counts)[]) counts[name] += result.counts[name]
      for (const { line, issues } of result.refused) faults.add(line, issues)
      await faults.flush()
      done += piece.lines.length
      lastLine = piece.lines.at(-1) ?? lastLine
      output.progress?.(progressOf(done, total, performance.now() - startedAt))
    }
  } catch (error) {
    if (!(error instanceof CallFailed)) throw error
    output.progress?.('')
    faults.print(output.complain)
    output.complain(`sms-quota: ${error.message}`)
    if (!dryRun && lastLine > 0)
      output.complain(`All rows up to line ${lastLine} took effect. Run the command again for the rest.`)
    return error.exitCode
  }
  output.progress?.('')
  faults.print(output.complain)
  await output.print(safeLines(reportOf(counts, dryRun)))
  if (!dryRun && counts.created + counts.updated > 0)
    output.complain(`The audit shows the changes under the request ${requestId}.`)
  return counts.failed === 0 ? 0 : 1
}

/** Rows as bodies of calls. */
async function* piecesOf(groups: AsyncIterable<Row[]>): AsyncGenerator<Piece, void> {
  let piece = { body: '', lines: [] as number[] }
  for await (const group of groups) {
    for (const { json, line } of group) {
      const isFull = piece.lines.length >= PIECE.rows || piece.body.length + json.length > PIECE.bytes
      if (isFull && piece.lines.length > 0) {
        yield piece
        piece = { body: '', lines: [] }
      }
      piece.body += `${json}\n`
      piece.lines.push(line)
    }
  }
  if (piece.lines.length > 0) yield piece
}

function progressOf(done: number, total: number, ms: number): string {
  const perSecond = done / (ms / 1_000)
  const secondsLeft = Math.ceil((total - done) / perSecond)
  const left = secondsLeft < 100 ? `${secondsLeft} s` : `${Math.ceil(secondsLeft / 60)} min`
  const bar = '█'.repeat(Math.floor((done / total) * 20)).padEnd(20, '░')
  return `${bar} ${inWords(done)} of ${inWords(total)} rows, ${inWords(Math.round(perSecond))} rows/s, ${left} left`
}

function reportOf({ created, updated, unchanged, failed }: Counts, dryRun: boolean): string {
  const counts = `created ${inWords(created)}, updated ${inWords(updated)}, unchanged ${inWords(unchanged)}, refused ${inWords(failed)}`
  return dryRun ? `${counts} (dry run: nothing was changed)\n` : `${counts}\n`
}
