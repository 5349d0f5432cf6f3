/**
 * The feed's cursor: the number of the last event read, for each shard, so that it never skips an event that commits
 * late; and a fingerprint of these events, because a fail-over or a restore can lose events and use their numbers again.
 * Its text is base64url of a version, the fingerprint and 64 numbers with seven bits in a byte: about a hundred
 * characters as long as the numbers are small.
 */
import type { OutboxView, Positions } from '../db/outbox.ts'
import { SHARD_COUNT } from '../domain/shard.ts'

export interface Cursor {
  positions: Positions
  /** Of the events at the positions; null if there are none, or if it is not known. */
  fingerprint: string | null
}

const VERSION = 2

/** Without a fingerprint, as in version 0.1.0 of the service. */
const PLAIN_VERSION = 1

const FINGERPRINT_BYTES = 8

export const BEGINNING: Cursor = { positions: new Array<number>(SHARD_COUNT).fill(0), fingerprint: null }

/**
 * Whether the outbox still holds what a reader has read. Within a shard the order of numbers is the order of commits:
 * where the event at the cursor is the same, so are all before it.
 */
export function isIntact(
  { positions, fingerprint }: Cursor,
  found: Pick<OutboxView, 'present' | 'fingerprint'>,
): boolean {
  if (fingerprint !== null) return fingerprint === found.fingerprint
  return found.present === positions.filter(position => position > 0).length
}

export function writeCursor({ positions, fingerprint }: Cursor): string {
  const bytes = [fingerprint === null ? PLAIN_VERSION : VERSION, ...Buffer.from(fingerprint ?? '', 'hex')]
  for (const position of positions) {
    let rest = position
    for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128)
    bytes.push(rest)
  }
  return Buffer.from(bytes).toString('base64url')
}

/** The content of a cursor; undefined if `writeCursor` cannot have written it. */
export function readCursor(text: string): Cursor | undefined {
  const bytes = Buffer.from(text, 'base64url')
  const begin = bytes[0] === VERSION ? 1 + FINGERPRINT_BYTES : 1
  const positions: number[] = []
  let [value, weight] = [0, 1]
  for (const byte of bytes.subarray(begin)) {
    value += (byte % 128) * weight
    weight *= 128
    if (byte >= 128) continue
    positions.push(value)
    value = 0
    weight = 1
  }
  const cursor = { positions, fingerprint: begin === 1 ? null : bytes.toString('hex', 1, begin) }
  const isComplete = positions.length === SHARD_COUNT && positions.every(Number.isSafeInteger)
  // The same content always has the same text.
  return isComplete && writeCursor(cursor) === text ? cursor : undefined
}
