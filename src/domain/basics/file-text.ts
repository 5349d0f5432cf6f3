/**
 * The text of files: UTF-8, UTF-16 as spreadsheets write "Unicode text", or another encoding that the user names. Bytes that are
 * no text in it are never replaced in silence: two names could become one.
 */

/** Stands for bytes that are no text. A lone surrogate, which no decoder yields, and which the API takes nowhere. */
const NO_TEXT = '\uDFFF'

/** Whether a part of a text was no text in its file. */
export const isUnreadable = (text: string): boolean => !text.isWellFormed()

/** Ctrl-Z, with which programs of DOS end a file. */
const END_OF_FILE = '\x1A'

const LF = 0x0a
const CR = 0x0d

export const MAX_LINE_BYTES = 256 * 1024

/** A line is longer than any row may be. */
export class LongLine extends Error {}

/** Whether an encoding is known by this name, such as `windows-1252`. */
export function isEncoding(name: string): boolean {
  try {
    return new TextDecoder(name, { fatal: true }).fatal
  } catch {
    return false
  }
}

/** Decodes a file part by part. */
export interface FileText {
  /** The encoding of the file: once its beginning is known, what its byte order mark says. */
  readonly encoding: string
  /** @returns the lines that are complete, with their line breaks. @throws LongLine after them */
  read(part: Uint8Array): Iterable<string>
  /** @returns what comes after the last line break */
  end(): string
}

/** @param encoding of a file without a byte order mark */
export const createFileText = (encoding = 'utf-8'): FileText => new Decoder(encoding)

/** The text of a whole file. */
export const textOfFile = (bytes: Uint8Array, encoding = 'utf-8'): string => new Decoder(encoding).whole(bytes)

class Decoder implements FileText {
  encoding: string
  private isBegun = false
  private rest: Uint8Array = new Uint8Array()

  constructor(encoding: string) {
    this.encoding = encoding
  }

  *read(part: Uint8Array): Generator<string, void> {
    const bytes = concat(this.rest, part)
    this.rest = bytes
    if (!this.isBegun && bytes.length < 4) return
    const start = this.begin(bytes)
    const end = this.endOfLines(bytes, start)
    this.rest = bytes.slice(end)
    if (end > start) yield this.decoded(bytes.subarray(start, end))
    if (this.rest.length > MAX_LINE_BYTES) throw new LongLine()
  }

  end(): string {
    return this.whole(this.rest)
  }

  /** @returns the text of a file that is in memory */
  whole(bytes: Uint8Array): string {
    const text = this.decoded(bytes.subarray(this.begin(bytes)))
    return text.endsWith(END_OF_FILE) ? text.slice(0, -1) : text
  }

  /** Finds the encoding. @returns the length of the byte order mark */
  private begin(bytes: Uint8Array): number {
    if (this.isBegun) return 0
    this.isBegun = true
    const [first, second, third] = bytes
    if (first === 0xef && second === 0xbb && third === 0xbf) return this.is('utf-8', 3)
    if (first === 0xff && second === 0xfe) return this.is('utf-16le', 2)
    if (first === 0xfe && second === 0xff) return this.is('utf-16be', 2)
    // No text has a NUL, but each Latin letter of UTF-16 has.
    if (first !== 0 && second === 0) return this.is('utf-16le', 0)
    if (first === 0 && second !== 0 && second !== undefined) return this.is('utf-16be', 0)
    return 0
  }

  private is(encoding: string, mark: number): number {
    this.encoding = encoding
    return mark
  }

  /** Where the last complete line ends. A carriage return at the very end may be the first half of a line break. */
  private endOfLines(bytes: Uint8Array, start: number): number {
    const [unit, at] = this.unit()
    const size = (bytes.length - start) % unit
    for (const code of [LF, CR]) {
      const last = bytes.length - size - (code === CR ? 2 * unit : unit)
      for (let place = last; place >= start; place -= unit) {
        if (bytes[place + at] === code && (unit === 1 || bytes[place + 1 - at] === 0)) return place + unit
      }
    }
    return start
  }

  /** The bytes of a unit, and which of them is the lower one. */
  private unit(): readonly [1 | 2, 0 | 1] {
    const name = new TextDecoder(this.encoding).encoding
    return name === 'utf-16le' ? [2, 0] : name === 'utf-16be' ? [2, 1] : [1, 0]
  }

  private decoded(bytes: Uint8Array): string {
    try {
      return this.strictly(bytes)
    } catch {
      return [...this.linesIn(bytes)].map(line => this.marked(line)).join('')
    }
  }

  private strictly(bytes: Uint8Array): string {
    return new TextDecoder(this.encoding, { fatal: true, ignoreBOM: true }).decode(bytes)
  }

  private *linesIn(bytes: Uint8Array): Generator<Uint8Array, void> {
    const [unit, at] = this.unit()
    let start = 0
    for (let place = 0; place < bytes.length; place += unit) {
      if (bytes[place + at] !== LF || (unit === 2 && bytes[place + 1 - at] !== 0)) continue
      yield bytes.subarray(start, place + unit)
      start = place + unit
    }
    yield bytes.subarray(start)
  }

  /** A line, with a mark in place of each character that is none. */
  private marked(line: Uint8Array): string {
    try {
      return this.strictly(line)
    } catch {
      return new TextDecoder(this.encoding, { ignoreBOM: true }).decode(line).replaceAll('\uFFFD', NO_TEXT)
    }
  }
}

function concat(one: Uint8Array, other: Uint8Array): Uint8Array {
  if (one.length === 0) return other
  const both = new Uint8Array(one.length + other.length)
  both.set(one)
  both.set(other, one.length)
  return both
}

/** The line of the first bytes that are no text, from 1; null if there are none. */
export function unreadableLine(text: string): number | null {
  if (!isUnreadable(text)) return null
  return text.split(/\r\n|\r|\n/).findIndex(isUnreadable) + 1
}
