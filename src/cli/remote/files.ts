/** Files that commands read: their text, in any encoding. */
import { type FileHandle, open, stat } from 'node:fs/promises'
import { CsvError, type CsvRow, createCsvReader, parseCsv } from '../../domain/basics/csv-rows.ts'
import {
  createFileText,
  type FileText,
  isEncoding,
  isUnreadable,
  LongLine,
  MAX_LINE_BYTES,
  unreadableLine,
} from '../../domain/basics/file-text.ts'
import { type Arguments, type Options, UsageError } from '../arguments.ts'
import { NotRegular, openRegular } from '../regular-file.ts'

export const ENCODING_OPTION: Options = {
  encoding: {
    value: 'NAME',
    means: 'the encoding of the file, such as windows-1252; default UTF-8, or UTF-16 if the file says so',
  },
}

/** @throws UsageError */
export function encodingIn(args: Arguments): string | undefined {
  const name = args.one('encoding')
  if (name !== undefined && !isEncoding(name))
    throw new UsageError(`--encoding is a name such as utf-8, windows-1252 or iso-8859-15, not "${name}"`)
  return name
}

/** What is wrong with bytes that are no text. */
export function unreadableIn({ encoding }: FileText): string {
  return encoding === 'utf-8'
    ? 'has bytes that are not UTF-8: save the file as "CSV UTF-8", or name its encoding, such as --encoding windows-1252'
    : `has bytes that are not ${encoding.toUpperCase()}`
}

const FOREIGN = [
  { begins: [0x50, 0x4b, 0x03, 0x04], is: 'is a spreadsheet or another archive: save it as "CSV UTF-8"' },
  { begins: [0xd0, 0xcf, 0x11, 0xe0], is: 'is a spreadsheet: save it as "CSV UTF-8"' },
  { begins: [0x1f, 0x8b], is: 'is compressed: pass it on with zcat, and give - as the file' },
]

/** What a file is that is no text, by its first bytes. */
export function foreignIn(bytes: Uint8Array): string | null {
  return FOREIGN.find(({ begins }) => begins.every((byte, index) => bytes[index] === byte))?.is ?? null
}

/** The lines of a stream, in groups with their line breaks. @throws LongLine after the lines before it */
export async function* linesIn(stream: AsyncIterable<Uint8Array>, file: FileText): AsyncGenerator<string, void> {
  for await (const bytes of stream) yield* file.read(bytes)
  const last = file.end()
  if (last !== '') yield last
}

/**
 * The text of a whole file; `-` is stdin.
 *
 * @param shown how the command line names the file
 * @throws UsageError
 */
export async function contentOf(path: string, shown: string, encoding: string | undefined): Promise<string> {
  const file = createFileText(encoding)
  const parts: string[] = []
  try {
    const stream = path === '-' ? process.stdin : (await openRegular(path)).createReadStream()
    for await (const part of linesIn(refusingForeign(stream, shown), file)) parts.push(part)
  } catch (error) {
    throw unreadableFile(error, shown, path, '; - reads stdin')
  }
  const text = parts.join('')
  const unreadable = unreadableLine(text)
  if (unreadable !== null) throw new UsageError(`${shown}: line ${unreadable} ${unreadableIn(file)}`)
  return text
}

function unreadableFile(error: unknown, shown: string, path: string, advice: string): UsageError {
  if (error instanceof UsageError) return error
  if (error instanceof LongLine) return new UsageError(`${shown} has a line of more than ${MAX_LINE_BYTES} bytes`)
  if (error instanceof CsvError) return new UsageError(`${shown}: ${error.message}`)
  if (error instanceof NotRegular) return new UsageError(`${shown}: ${error.message}${advice}`)
  const { code } = error as NodeJS.ErrnoException
  return new UsageError(`${shown}: ${path} cannot be read (${code})`)
}

/** The rows of a file of CSV, in groups as they are read: a file of any length takes the same memory. @throws UsageError */
export async function* csvRowsIn(path: string, encoding: string | undefined): AsyncGenerator<CsvRow[], void> {
  const file = createFileText(encoding)
  const reader = createCsvReader()
  const readable = (row: CsvRow) => {
    if (row.cells.some(isUnreadable)) throw new UsageError(`${path}: line ${row.line} ${unreadableIn(file)}`)
    return row
  }
  try {
    const stream = (await openRegular(path)).createReadStream()
    for await (const part of linesIn(refusingForeign(stream, path), file))
      yield [...reader.read(part, 'more')].map(readable)
    yield [...reader.read('', 'end')].map(readable)
  } catch (error) {
    throw unreadableFile(error, path, path, '')
  }
}

async function* refusingForeign(stream: AsyncIterable<Uint8Array>, shown: string): AsyncGenerator<Uint8Array, void> {
  let isBegun = false
  for await (const bytes of stream) {
    const foreign = isBegun ? null : foreignIn(bytes)
    if (foreign !== null) throw new UsageError(`${shown} ${foreign}`)
    isBegun = true
    yield bytes
  }
}

/** The rows of a file that is CSV. @param shown what names the file. @throws UsageError */
export function csvRowsOf(content: string, shown: string): CsvRow[] {
  try {
    return parseCsv(content)
  } catch (error) {
    throw error instanceof CsvError ? new UsageError(`${shown}: ${error.message}`) : error
  }
}

/** A file that gets what a command reports of the rows of another one. */
export interface Report {
  path: string
  /** What names it. */
  option: string
  /** The other one; `-` is stdin. */
  read: string
}

/**
 * @param flags `a` leaves what the file has
 * @throws UsageError if it cannot be written, or is the other one, whose rows would be lost
 */
export async function openReport({ path, option, read }: Report, flags: 'w' | 'a'): Promise<FileHandle> {
  const statOf = (file: string) => stat(file).catch(() => null)
  const [own, other] = await Promise.all([statOf(path), statOf(read === '-' ? '/dev/stdin' : read)])
  if (own?.isFile() && own.dev === other?.dev && own.ino === other.ino)
    throw new UsageError(`${option}: ${path} is the file that is read; name another one`)
  try {
    return await open(path, flags)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new UsageError(`${option}: ${path} cannot be written (${code})`)
  }
}
