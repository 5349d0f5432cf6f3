/**
 * Which of the 64 buckets a user's data lives in, and how a quota's id carries it.
 *
 * Every table of a user's data starts its key with the shard, so that the tables can be distributed over a cluster
 * unchanged. The function is fixed for ever: changing it would orphan every row. `test/domain/shard.test.ts` holds
 * stored vectors.
 */
export const SHARD_COUNT = 64

/** The bucket (0…63) of a user id (an integer from 0 to 2^53−1): the finalizer of MurmurHash3 over both halves. */
export function shardOf(userId: number): number {
  const low = userId % 0x1_0000_0000
  const high = Math.floor(userId / 0x1_0000_0000)
  return mix(mix(high) ^ low) & (SHARD_COUNT - 1)
}

/** The id of the `sequence`-th quota (from 1): it tells its shard to whoever holds only the id. */
export function quotaIdOf(sequence: number, shard: number): number {
  return sequence * SHARD_COUNT + shard
}

export function shardOfQuota(quotaId: number): number {
  return quotaId % SHARD_COUNT
}

/** Spreads the bits of a 32-bit integer so that neighbours end up far apart. */
function mix(value: number): number {
  let h = value | 0
  h ^= h >>> 16
  h = Math.imul(h, 0x85ebca6b)
  h ^= h >>> 13
  h = Math.imul(h, 0xc2b2ae35)
  h ^= h >>> 16
  return h
}
