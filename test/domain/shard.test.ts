import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  quotaIdOf,
  SHARD_COUNT,
  SHARDS,
  shardFrom,
  shardOf,
  shardOfQuota,
  shardOfReference,
} from '../../src/domain/basics/shard.ts'
import { runs } from '../support/runs.ts'

describe('shardOf', () => {
  // Stored vectors, computed independently of this code. Rows are stored by them, so they never change.
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
  ])('user %i belongs to shard %i', (userId, shard) => {
    expect(shardOf(userId)).toBe(shard)
  })

  test('is an integer from 0 to 63', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), userId => {
        const shard = shardOf(userId)
        expect(Number.isInteger(shard) && shard >= 0 && shard < SHARD_COUNT).toBe(true)
      }),
      { numRuns: runs(2000) },
    )
  })

  // User ids are usually consecutive, or multiples of another system's step.
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

describe('shardOfReference', () => {
  // Stored vectors, computed independently of this code. Rows are stored by them, so they never change.
  test.each([
    ['a', 51],
    ['42', 61],
    ['customer-1', 40],
    ['7d3c2a52-6f6b-4f0e-9b7a-0c1f2e3d4b5a', 27],
    ['Übergröße', 27],
    ['😀', 38],
  ])('the reference %s belongs to shard %i', (ref, shard) => {
    expect(shardOfReference(ref)).toBe(shard)
  })

  test.each([['customer-'], [''], ['0000-']])('spreads references evenly that begin with "%s"', prefix => {
    const references = new Array<number>(SHARD_COUNT).fill(0)
    for (let number = 0; number < 100_000; number += 1) {
      const shard = shardOfReference(`${prefix}${number}`)
      references[shard] = (references[shard] ?? 0) + 1
    }
    const share = 100_000 / SHARD_COUNT
    expect(Math.min(...references)).toBeGreaterThan(share * 0.8)
    expect(Math.max(...references)).toBeLessThan(share * 1.2)
  })
})

describe('shardFrom', () => {
  test('accepts the 64 shard numbers', () => {
    expect(SHARDS).toHaveLength(SHARD_COUNT)
    expect(SHARDS.map(shardFrom)).toEqual([...SHARDS])
  })

  test.each([-1, 64, 0.5, Number.NaN, Number.POSITIVE_INFINITY])('rejects %d', value => {
    expect(() => shardFrom(value)).toThrow(RangeError)
  })
})

describe('the id of a quota', () => {
  test.each([
    [1, 0, 64],
    [1, 63, 127],
    [2, 0, 128],
    [15_625, 42, 1_000_042],
  ])('number %i of shard %i is %i', (sequence, shard, id) => {
    expect(quotaIdOf(sequence, shardFrom(shard))).toBe(id)
  })

  test('is refused beyond what a number can hold', () => {
    expect(() => quotaIdOf(2 ** 48, shardOf(1))).toThrow(RangeError)
  })

  test('holds its shard and is unique', () => {
    const place = fc.tuple(fc.integer({ min: 1, max: 2 ** 47 - 1 }), fc.constantFrom(...SHARDS))
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
