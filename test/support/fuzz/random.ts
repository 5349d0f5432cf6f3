/** The choices of a fuzz: the same for the same seed. */
import { seededRandom } from '../ledger.ts'

export interface Random {
  /** From 0 up to, but without, `below`. */
  integer(below: number): number
  /** True in this many cases out of a hundred. */
  percent(percent: number): boolean
  /** One of a list that is not empty. */
  pick<T>(from: readonly T[]): T
}

export function randomOf(seed: number): Random {
  const next = seededRandom(seed)
  const integer = (below: number) => Math.floor(next() * below)
  return {
    integer,
    percent: percent => integer(100) < percent,
    pick<T>(from: readonly T[]): T {
      const [one] = from.slice(integer(from.length))
      if (one === undefined) throw new Error('there is nothing to pick from')
      return one
    },
  }
}
