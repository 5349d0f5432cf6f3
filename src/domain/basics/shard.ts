/**
 * Which of the 64 shards holds a user's data, and how a quota's id carries its shard.
 *
 * Every table of a user's data starts its key with the shard, so that the tables can be distributed over a cluster
 * unchanged. The function is fixed for ever: a change would orphan every row. `test/domain/shard.test.ts` holds
 * stored vectors.
 */
export const SHARD_COUNT = 64

declare const brand: unique symbol

/** A shard number: an integer from 0 to 63. The brand keeps user ids, quota ids and counts from being taken for one. */
export type Shard = number & { readonly [brand]: 'shard' }

export function isShard(value: number): value is Shard {
  return Number.isInteger(value) && value >= 0 && value < SHARD_COUNT
}

/** Checks a shard number that was read, from a row or an event's id. Throws RangeError if it is none. */
export function shardFrom(value: number): Shard {
  if (!isShard(value)) throw new RangeError(`${value} is no shard: it must be an integer from 0 to ${SHARD_COUNT - 1}`)
  return value
}

/** The shard of what belongs to no user, such as plans, pauses and the breaker. */
export const COMMON_SHARD = shardFrom(0)

/** Every shard, in ascending order. */
export const SHARDS: readonly Shard[] = Array.from({ length: SHARD_COUNT }, (_, index) => shardFrom(index))

/** The shard of a user id (an integer from 0 to 2^53−1): the finalizer of MurmurHash3 over both halves. */
export function shardOf(userId: number): Shard {
  const low = userId % 0x1_0000_0000
  const high = Math.floor(userId / 0x1_0000_0000)
  return shardFrom(mix(mix(high) ^ low) & (SHARD_COUNT - 1))
}

/**
 * The shard of a user's reference: FNV-1a over its UTF-16 code units, and the finalizer. It says where the reference is stored, not the
 * data of the user that it names.
 */
export function shardOfReference(ref: string): Shard {
  let h = 0x811c9dc5
  for (let index = 0; index < ref.length; index += 1) h = Math.imul(h ^ ref.charCodeAt(index), 0x01000193)
  return shardFrom(mix(h) & (SHARD_COUNT - 1))
}

/** The id of the `sequence`-th quota (from 1). It holds the shard, so that the id alone is enough to find the row. */
export function quotaIdOf(sequence: number, shard: Shard): number {
  const id = sequence * SHARD_COUNT + shard
  // A sequence on a worker of a cluster begins at 2^48.
  if (!Number.isSafeInteger(id)) throw new RangeError(`the number ${sequence} is too large for an id`)
  return id
}

/** The shard that a quota's id holds. */
export function shardOfQuota(quotaId: number): Shard {
  return shardFrom(quotaId % SHARD_COUNT)
}

/** Spreads the bits of a 32-bit integer, so that consecutive ids fall into different shards. */
function mix(value: number): number {
  let h = value | 0
  h ^= h >>> 16
  h = Math.imul(h, 0x85ebca6b)
  h ^= h >>> 13
  h = Math.imul(h, 0xc2b2ae35)
  h ^= h >>> 16
  return h
}
