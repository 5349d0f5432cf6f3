/** A histogram of latencies with buckets of 2 %: it needs constant memory and counts every latency. */
export interface Histogram {
  add(milliseconds: number): void
  quantile(q: number): number
  readonly count: number
}

const SMALLEST = 0.001
const STEP = Math.log(1.02)
const BUCKETS = Math.ceil(Math.log(100_000 / SMALLEST) / STEP)

export function createHistogram(): Histogram {
  const buckets = new Uint32Array(BUCKETS + 1)
  let count = 0
  return {
    add(milliseconds) {
      const bucket = milliseconds <= SMALLEST ? 0 : Math.ceil(Math.log(milliseconds / SMALLEST) / STEP)
      const index = Math.min(BUCKETS, bucket)
      buckets[index] = (buckets[index] ?? 0) + 1
      count += 1
    },
    quantile(q) {
      let rest = q * count
      for (let bucket = 0; bucket <= BUCKETS; bucket++) {
        rest -= buckets[bucket] ?? 0
        if (rest <= 0) return SMALLEST * Math.exp(STEP * bucket)
      }
      return Number.NaN
    },
    get count() {
      return count
    },
  }
}
