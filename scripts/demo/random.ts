/** Numbers that look random and are the same in each run. */
export interface Random {
  /** From 0, below 1. */
  next(): number
  /** A whole number from `min` to `max`. */
  whole(min: number, max: number): number
  /** One of the items, each as likely as its weight. */
  pick<T>(items: readonly (readonly [T, weight: number])[]): T
}

/** @param seed a whole number */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  // Mulberry32: small, and good enough to make up data.
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  return {
    next,
    whole: (min, max) => min + Math.floor(next() * (max - min + 1)),
    pick<T>(items: readonly (readonly [T, number])[]): T {
      let left = next() * items.reduce((sum, [, weight]) => sum + weight, 0)
      for (const [item, weight] of items) {
        left -= weight
        if (left < 0) return item
      }
      throw new RangeError('nothing to pick from')
    },
  }
}
