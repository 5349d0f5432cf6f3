/**
 * The feed's cursor: a number for each shard, so that it never passes over an event that commits late. Written as
 * base64url of a version and 64 numbers of seven bits a byte: some ninety characters while the service is young.
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

/** The positions of a cursor; undefined if it is none that this service wrote. */
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
  const isOurs = positions.length === SHARD_COUNT && positions.every(Number.isSafeInteger)
  // Each cursor has one spelling.
  return isOurs && writeCursor(positions) === text ? positions : undefined
}
