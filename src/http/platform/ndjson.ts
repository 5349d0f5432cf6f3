/** Splits a stream into lines, in bounded memory. */

/** A line of a stream. */
export interface Line {
  /** From 1. */
  number: number
  /** Without the line break; null if the line is longer than the maximum, or not UTF-8. */
  text: string | null
}

/** Lines of a group: a chunk may have tens of thousands of empty ones. */
const MAX_GROUP = 1_000

const NEWLINE = 0x0a
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

/**
 * The lines of a stream, in groups as they arrive. A line break at the very end begins no further line.
 *
 * @param maxBytes of a line; the rest of a longer one is skipped
 */
export async function* linesOf(stream: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Line[], void> {
  let number = 0
  /** The beginning of a line whose end has not arrived; null once it is too long. */
  let begun: Uint8Array[] | null = []
  let begunBytes = 0

  function extend(bytes: Uint8Array): void {
    begunBytes += bytes.length
    if (begunBytes > maxBytes) begun = null
    else begun?.push(bytes)
  }

  function end(): Line {
    const text = begun === null ? null : decoded(Buffer.concat(begun))
    begun = []
    begunBytes = 0
    number += 1
    return { number, text }
  }

  for await (const chunk of stream) {
    let lines: Line[] = []
    let start = 0
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, start)) {
      extend(chunk.subarray(start, at))
      lines.push(end())
      start = at + 1
      if (lines.length < MAX_GROUP) continue
      yield lines
      lines = []
    }
    if (start < chunk.length) extend(chunk.subarray(start))
    if (lines.length > 0) yield lines
  }
  if (begunBytes > 0) yield [end()]
}

/** Also removes a byte order mark, and the carriage return of Windows. */
function decoded(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes).replace(/\r$/, '')
  } catch {
    return null
  }
}
