/**
 * The feed's cursor: the number of the last event read, for each shard, so that it never skips an event that commits
 * late; and a fingerprint of these events, because a fail-over or a restore can lose events and use their numbers again.
 * Its text is base64url of a version, the fingerprint and 64 numbers with seven bits in a byte: about a hundred
 * characters as long as the numbers are small.
 */
import { createHash } from 'node:crypto'
import type { Positions } from '../db/outbox/outbox.ts'
import type { OutboxHead } from '../db/outbox/pages.ts'
import { SHARD_COUNT } from '../domain/basics/shard.ts'
import type { EpochMs } from '../domain/time/time.ts'

export interface Cursor {
  positions: Positions
  /** Of the events at the positions; null if there are none, or if it is not known. */
  fingerprint: string | null
}

const VERSION = 3

/** With a fingerprint of more than the times, which is not compared any more. */
const FORMER_VERSION = 2

/** Without a fingerprint, as in version 0.1.0 of the service. */
const PLAIN_VERSION = 1

const FINGERPRINT_BYTES = 8

/**
 * The fingerprint of the events at these positions, given the time of each; null where there is no event. Cursors keep it:
 * it must not change. It covers what never changes of an event while it is kept. An event that has the number of a lost
 * one has another time.
 */
export function fingerprintOf(positions: Positions, times: readonly (EpochMs | null | undefined)[]): string | null {
  const events = positions.flatMap((number, shard) => {
    const at = times[shard] ?? null
    return at === null ? [] : [`${shard} ${number} ${at}`]
  })
  if (events.length === 0) return null
  return createHash('sha256')
    .update(events.join(', '))
    .digest('hex')
    .slice(0, 2 * FINGERPRINT_BYTES)
}

/**
 * Whether the outbox still holds what a reader has read, and all that it has not. `lost`: it has ended before, or holds
 * other events. `pruned`: retention has removed events that the reader has not read.
 *
 * Within a shard the order of numbers is the order of commits: where the event at the cursor is the same, so are all before
 * it. If retention has removed just the event at the cursor, there is no proof any more; the reader is older than the
 * retention time then, and is treated as one that has missed events.
 */
export function judgeCursor(
  { positions, fingerprint }: Cursor,
  heads: readonly OutboxHead[],
): 'intact' | 'lost' | 'pruned' {
  const isAny = (holds: (position: number, head: OutboxHead) => boolean) =>
    heads.some(head => holds(positions[head.shard] ?? 0, head))
  if (isAny((position, { end }) => position > end)) return 'lost'
  if (isAny((position, { pruned }) => position < pruned)) return 'pruned'
  const times = heads.map(({ passed_at }) => passed_at)
  if (fingerprint === null || fingerprint === fingerprintOf(positions, times)) return 'intact'
  return isAny((position, { pruned }) => position > 0 && position === pruned) ? 'pruned' : 'lost'
}

export function writeCursor({ positions, fingerprint }: Cursor): string {
  return fingerprint === null ? encode(PLAIN_VERSION, '', positions) : encode(VERSION, fingerprint, positions)
}

function encode(version: number, fingerprint: string, positions: Positions): string {
  const bytes = [version, ...Buffer.from(fingerprint, 'hex')]
  for (const position of positions) {
    let rest = position
    for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128)
    bytes.push(rest)
  }
  return Buffer.from(bytes).toString('base64url')
}

/** The content of a cursor; undefined if no version of `writeCursor` can have written it. */
export function readCursor(text: string): Cursor | undefined {
  const bytes = Buffer.from(text, 'base64url')
  const version = bytes[0]
  if (version !== VERSION && version !== FORMER_VERSION && version !== PLAIN_VERSION) return undefined
  const begin = version === PLAIN_VERSION ? 1 : 1 + FINGERPRINT_BYTES
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
  const fingerprint = bytes.toString('hex', 1, begin)
  const isComplete = positions.length === SHARD_COUNT && positions.every(Number.isSafeInteger)
  // The same content always has the same text.
  if (!isComplete || encode(version, fingerprint, positions) !== text) return undefined
  return { positions, fingerprint: version === VERSION ? fingerprint : null }
}
