/**
 * The feed's cursor: the number of the last event read, for each shard, so that it never skips an event that commits
 * late. Its text is base64url of a version and 64 numbers with seven bits in a byte: about ninety characters as long as
 * the numbers are small.
 */
import type { Positions } from '../db/outbox.ts'
import { SHARD_COUNT } from '../domain/shard.ts'

const VERSION = 1

export const BEGINNING: Positions = new Array<number>(SHARD_COUNT).fill(0)

export function writeCursor(positions: Positions): string {
  const bytes = [VERSION]
  for (const position of positions) {
    let rest = position
    for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128)
    bytes.push(rest)
  }
  return Buffer.from(bytes).toString('base64url')
}

/** The positions of a cursor; undefined if `writeCursor` cannot have written it. */
export function readCursor(text: string): Positions | undefined {
  const [version, ...bytes] = Buffer.from(text, 'base64url')
  if (version !== VERSION) return undefined
  const positions: number[] = []
  let [value, weight] = [0, 1]
  for (const byte of bytes) {
    value += (byte % 128) * weight
    weight *= 128
    if (byte >= 128) continue
    positions.push(value)
    value = 0
    weight = 1
  }
  const isComplete = positions.length === SHARD_COUNT && positions.every(Number.isSafeInteger)
  // The same positions always have the same text.
  return isComplete && writeCursor(positions) === text ? positions : undefined
}
