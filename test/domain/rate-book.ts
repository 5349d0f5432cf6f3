import { NO_RATES, type RateBook } from '../../src/domain/rates/rate-book.ts'
import { findIn, ONE_A_SEGMENT, type RateLine } from '../../src/domain/rates/rate-line.ts'
import type { EpochMs } from '../../src/domain/time/time.ts'

/** A line; what is left out is as in the one for all. */
export const line = (fields: Partial<RateLine>): RateLine => ({ ...ONE_A_SEGMENT, ...fields })

/** What processes know of a default card with the id 1, whose lists hold from their times on. */
export function bookOf(lists: readonly (readonly [valid_from: EpochMs, lines: readonly RateLine[]])[]): RateBook {
  const prepared = lists.map(([valid_from, lines], index) => ({ version: index + 1, valid_from, find: findIn(lines) }))
  return { ...NO_RATES, cards: new Map([[1, prepared]]), defaultId: 1 }
}
