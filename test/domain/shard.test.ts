import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { quotaIdOf, SHARD_COUNT, shardOf, shardOfQuota } from '../../src/domain/shard.ts'

describe('shardOf', () => {
  // Stored vectors, worked out apart from this code: rows live where these say, so they may never change.
  test.each([
    [0, 0],
    [1, 55],
    [2, 6],
    [7, 4],
    [42, 28],
    [63, 8],
    [64, 8],
    [99_999, 3],
    [1_000_000_007, 31],
    [2 ** 31, 32],
    [2 ** 32 - 1, 57],
    [2 ** 32, 15],
    [2 ** 32 + 1, 47],
    [2 ** 40 + 7, 28],
    [4_915_112_345_678, 42],
    [2 ** 53 - 2, 17],
    [2 ** 53 - 1, 37],
  ])('user %i lives in shard %i', (userId, shard) => {
    expect(shardOf(userId)).toBe(shard)
  })

  test('is an integer from 0 to 63', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), userId => {
        const shard = shardOf(userId)
        expect(Number.isInteger(shard) && shard >= 0 && shard < SHARD_COUNT).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })

  // Ids come in rows: counted up, or in steps of another system's own.
  test.each([[1], [2], [10], [64], [1000], [2 ** 32]])(
    'spreads 100,000 users evenly, numbered in steps of %i',
    step => {
      const users = new Array<number>(SHARD_COUNT).fill(0)
      for (let number = 0; number < 100_000; number += 1) {
        const shard = shardOf(number * step)
        users[shard] = (users[shard] ?? 0) + 1
      }
      const share = 100_000 / SHARD_COUNT
      expect(Math.min(...users)).toBeGreaterThan(share * 0.85)
      expect(Math.max(...users)).toBeLessThan(share * 1.15)
    },
  )
})

describe('the id of a quota', () => {
  test.each([
    [1, 0, 64],
    [1, 63, 127],
    [2, 0, 128],
    [15_625, 42, 1_000_042],
  ])('number %i of shard %i is %i', (sequence, shard, id) => {
    expect(quotaIdOf(sequence, shard)).toBe(id)
  })

  test('tells its shard and is no other one’s', () => {
    const place = fc.tuple(fc.integer({ min: 1, max: 2 ** 47 - 1 }), fc.integer({ min: 0, max: SHARD_COUNT - 1 }))
    fc.assert(
      fc.property(place, place, ([sequence, shard], [otherSequence, otherShard]) => {
        const id = quotaIdOf(sequence, shard)
        expect(Number.isSafeInteger(id)).toBe(true)
        expect(shardOfQuota(id)).toBe(shard)
        const same = sequence === otherSequence && shard === otherShard
        expect(id === quotaIdOf(otherSequence, otherShard)).toBe(same)
      }),
    )
  })
})
