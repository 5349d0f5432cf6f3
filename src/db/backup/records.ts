/**
 * The format of a backup: zstd, in one frame or several, of records. A record is a letter, the length of its payload in four bytes
 * (big-endian), and the payload.
 *
 *   H  the header: JSON
 *   T  a table begins: JSON
 *   D  rows of the table, as COPY writes them as text; a record may begin and end within a row
 *   E  the table ends: JSON
 *   Z  the backup ends: the SHA-256 of everything before this record, in hexadecimal
 */
import { createHash } from 'node:crypto'
import { pipeline } from 'node:stream'
import { constants, createZstdDecompress } from 'node:zlib'
import Type, { type Static, type TSchema } from 'typebox'
import { Value } from 'typebox/value'

/** Grows when a reader of the version before cannot read the records any more. */
export const FORMAT_VERSION = 1

const Header = Type.Object({
  format: Type.Literal('sms-quota backup'),
  format_version: Type.Integer(),
  /** For the eye only: an ISO 8601 time, and PostgreSQL's version. The time is shown on terminals, which obey some characters. */
  made_at: Type.String({ pattern: '^[0-9TZ:.-]{1,40}$' }),
  postgresql: Type.String(),
  migrations: Type.Array(Type.Object({ name: Type.String({ pattern: '^[\\w.-]+$' }), checksum: Type.String() }), {
    minItems: 1,
  }),
  sequences: Type.Array(Type.Object({ name: Type.String(), last_value: Type.Integer(), is_called: Type.Boolean() })),
})
export type Header = Static<typeof Header>

/** A table begins. Its columns are in the order of the rows. */
const TableBegin = Type.Object({ table: Type.String(), columns: Type.Array(Type.String(), { minItems: 1 }) })
export type TableBegin = Static<typeof TableBegin>

const TableEnd = Type.Object({ rows: Type.Integer({ minimum: 0 }) })
type TableEnd = Static<typeof TableEnd>

/** The entries of a backup, in this order: a header, then per table a beginning, rows and an end. */
export type Entry =
  | { kind: 'header'; header: Header }
  | { kind: 'table'; table: TableBegin }
  | { kind: 'rows'; bytes: Uint8Array }
  | { kind: 'end'; rows: number }

/** Rows are gathered to records of this size, in bytes. */
const BLOCK_BYTES = 65_536
/** A longer record is damage: rows come in blocks, and the header lists some dozens of migrations and sequences. */
const MAX_RECORD_BYTES = 16_777_216
const PREFIX_BYTES = 5

/** The file is no backup, or not what was written. The message says what is wrong with it. */
export class BackupDamaged extends Error {}

/** Writes entries as the bytes of a stream, still uncompressed. */
export async function* encode(entries: AsyncIterable<Entry>): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  const hashed = (letter: string, payload: Uint8Array): Buffer => {
    const bytes = record(letter, payload)
    hash.update(bytes)
    return bytes
  }
  let rows: Uint8Array[] = []
  let size = 0
  for await (const entry of entries) {
    if (entry.kind === 'rows') {
      rows.push(entry.bytes)
      size += entry.bytes.length
      if (size < BLOCK_BYTES) continue
    }
    if (size > 0) yield hashed('D', Buffer.concat(rows))
    ;[rows, size] = [[], 0]
    if (entry.kind === 'header') yield hashed('H', json(entry.header))
    if (entry.kind === 'table') yield hashed('T', json(entry.table))
    if (entry.kind === 'end') yield hashed('E', json({ rows: entry.rows } satisfies TableEnd))
  }
  yield record('Z', Buffer.from(hash.digest('hex')))
}

const json = (value: object) => Buffer.from(JSON.stringify(value))

function record(letter: string, payload: Uint8Array): Buffer {
  const prefix = Buffer.alloc(PREFIX_BYTES)
  prefix.write(letter, 'latin1')
  prefix.writeUInt32BE(payload.length, 1)
  return Buffer.concat([prefix, payload])
}

/**
 * Reads the entries of a compressed stream. Only when it has ended without an error are they known to be what was
 * written. @throws BackupDamaged
 */
export async function* decode(compressed: NodeJS.ReadableStream): AsyncGenerator<Entry> {
  const hash = createHash('sha256')
  let expected = 'H'
  for await (const { letter, payload, bytes } of recordsOf(decompress(compressed))) {
    if (expected === '') throw new BackupDamaged('it goes on after its end')
    if (!expected.includes(letter)) throw new BackupDamaged('its parts are not in order')
    if (letter === 'Z') {
      if (payload.toString() !== hash.digest('hex')) throw new BackupDamaged('its checksum is wrong')
      expected = ''
      continue
    }
    hash.update(bytes)
    if (letter === 'H') yield { kind: 'header', header: parseHeader(payload) }
    if (letter === 'T') yield { kind: 'table', table: parse(TableBegin, payload) }
    if (letter === 'D') yield { kind: 'rows', bytes: payload }
    if (letter === 'E') yield { kind: 'end', ...parse(TableEnd, payload) }
    expected = letter === 'T' || letter === 'D' ? 'DE' : 'TZ'
  }
  if (expected !== '') throw new BackupDamaged('it ends too early')
}

function parseHeader(payload: Buffer): Header {
  const { format_version: version } = parse(Type.Object({ format_version: Type.Integer() }), payload)
  if (version > FORMAT_VERSION)
    throw new BackupDamaged(`its format is ${version}, and this version reads up to ${FORMAT_VERSION}: use a newer one`)
  return parse(Header, payload)
}

function parse<T extends TSchema>(schema: T, payload: Buffer): Static<T> {
  try {
    return Value.Parse(schema, JSON.parse(payload.toString()))
  } catch {
    throw new BackupDamaged('a description in it cannot be read')
  }
}

async function* recordsOf(chunks: AsyncIterable<Buffer>) {
  let buffered: Buffer[] = []
  let size = 0
  let needed = PREFIX_BYTES
  for await (const chunk of chunks) {
    buffered.push(chunk)
    size += chunk.length
    if (size < needed) continue
    let bytes = Buffer.concat(buffered)
    for (;;) {
      needed = PREFIX_BYTES
      if (bytes.length < needed) break
      const length = bytes.readUInt32BE(1)
      if (length > MAX_RECORD_BYTES) throw new BackupDamaged('a part of it is longer than any that is written')
      needed += length
      if (bytes.length < needed) break
      const letter = bytes.toString('latin1', 0, 1)
      yield { letter, payload: bytes.subarray(PREFIX_BYTES, needed), bytes: bytes.subarray(0, needed) }
      bytes = bytes.subarray(needed)
    }
    ;[buffered, size] = [[bytes], bytes.length]
  }
  if (size > 0) throw new BackupDamaged('it ends too early')
}

/** Compression with a checksum of its own, which finds damage before the data is used. */
export const ZSTD = { params: { [constants.ZSTD_c_checksumFlag]: 1 } }

async function* decompress(compressed: NodeJS.ReadableStream): AsyncGenerator<Buffer> {
  const chunks = compressed[Symbol.asyncIterator]()
  const readChunk = async (): Promise<Buffer | null> => {
    const { done, value } = await chunks.next()
    return done === true ? null : Buffer.from(value)
  }
  let isBegun = false
  try {
    for (let rest = await readChunk(); rest !== null; ) {
      const frames = readFrames(rest, readChunk)
      for await (const bytes of frames.decompressed) {
        isBegun = true
        yield Buffer.from(bytes)
      }
      rest = frames.rest()
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (code === 'ZSTD_error_prefix_unknown')
      throw new BackupDamaged(isBegun ? 'it has bytes that are not of zstd' : 'it is no backup of sms-quota')
    if (code === 'Z_BUF_ERROR') throw new BackupDamaged('it ends too early')
    if (/^ZSTD_|^Z_/.test(code)) throw new BackupDamaged(`its compressed data is wrong (${code})`)
    throw error
  } finally {
    await chunks.return?.()
  }
}

/** With room for a single chunk of input: when the next one is asked for, this one has been decompressed. */
const ONE_CHUNK = { chunkSize: 131_072, writableHighWaterMark: 1 }

/** Node.js ends after a frame that ends within a chunk, and ignores the rest. Here the rest can be read, as what follows. */
function readFrames(first: Buffer, readChunk: () => Promise<Buffer | null>) {
  const stream = createZstdDecompress(ONE_CHUNK)
  let [last, given] = [first, 0]
  async function* read(): AsyncGenerator<Buffer> {
    for (let chunk: Buffer | null = first; chunk !== null; chunk = await readChunk()) {
      last = chunk
      given += chunk.length
      yield chunk
      if (stream.bytesWritten < given) return
    }
  }
  return {
    // An error of the file arrives at the reader, too.
    decompressed: pipeline(read(), stream, () => {}),
    /** Null if there is no more. */
    rest: () => (stream.bytesWritten < given ? last.subarray(stream.bytesWritten - given) : null),
  }
}
