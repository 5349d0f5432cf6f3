import { describe, expect, test } from 'vitest'
import { HOUR_MS } from '../../src/domain/time/time.ts'
import { createDenialSampler, type DenialSampler } from '../../src/engine/denial-sampler.ts'

const NOW = Date.parse('2026-03-15T12:00:00.000Z')
const SECOND = 1_000

/** One denial, in a batch of its own: what it was answered. */
function deny(sampler: DenialSampler, user: number, now: number): number | null | false {
  const sample = sampler.begin(now)
  const room = sampler.hasRoom(user, now)
  const skipped = sample.take(user)
  expect(room).toBe(skipped !== false)
  sample.keep()
  return skipped
}

/** How many of one denial a step are logged. */
function logged(
  sampler: DenialSampler,
  users: (n: number) => number,
  times: { from: number; until: number; step: number },
) {
  const taken: number[] = []
  for (let now = times.from, n = 0; now < times.until; now += times.step, n++) {
    if (deny(sampler, users(n), now) !== false) taken.push(now)
  }
  return taken
}

describe('of one user', () => {
  test('60 an hour are logged at most, in any hour, and one at least every two minutes', () => {
    const sampler = createDenialSampler()
    const times = logged(sampler, () => 7, { from: NOW, until: NOW + 5 * HOUR_MS, step: SECOND })
    for (const start of times) {
      expect(times.filter(at => at >= start && at < start + HOUR_MS).length).toBeLessThanOrEqual(60)
    }
    expect(times.length).toBeGreaterThanOrEqual(30 + 5 * 30 - 1)
    for (const [index, at] of times.entries()) {
      if (index > 0) expect(at - (times[index - 1] ?? 0)).toBeLessThanOrEqual(120 * SECOND)
    }
  })

  test('each logged one says how many were left out before it, so that all are counted', () => {
    const sampler = createDenialSampler()
    let logged = 0
    let skipped = 0
    for (let n = 1; n <= 10_000; n++) {
      const answer = deny(sampler, 7, NOW + n * SECOND)
      if (answer === false) continue
      logged += 1
      skipped += answer ?? Number.NaN
      expect(logged + skipped).toBe(n)
    }
    expect(logged).toBeGreaterThan(30)
  })

  test('a batch that fails logs nothing and counts nothing as left out', () => {
    const sampler = createDenialSampler()
    for (let n = 0; n < 30; n++) expect(deny(sampler, 7, NOW)).toBe(0)
    const failed = sampler.begin(NOW)
    for (let n = 0; n < 5; n++) expect(failed.take(7)).toBe(false)
    expect(deny(sampler, 7, NOW)).toBe(false)
    const alsoFailed = sampler.begin(NOW + HOUR_MS)
    expect(alsoFailed.take(7)).toBe(1)
    expect(deny(sampler, 7, NOW + HOUR_MS)).toBe(1)
    expect(deny(sampler, 7, NOW + HOUR_MS)).toBe(0)
  })
})

describe('of all users', () => {
  test('1,200 at once and 20 a second are logged, whichever users they are of', () => {
    const sampler = createDenialSampler()
    const times = logged(sampler, n => n, { from: NOW, until: NOW + 60 * SECOND, step: 5 })
    expect(times.length).toBe(1_200 + 60 * 20 - 1)
  })

  test('one user is left out for the others, and counts go on', () => {
    const sampler = createDenialSampler()
    for (let user = 1; user <= 1_200; user++) expect(deny(sampler, user, NOW)).toBe(0)
    expect(deny(sampler, 1, NOW)).toBe(false)
    expect(deny(sampler, 5_000, NOW)).toBe(false)
    expect(deny(sampler, 5_000, NOW + 50)).toBe(1)
    expect(deny(sampler, 1, NOW + 100)).toBe(1)
  })

  test('batches that are decided in another order than they began in get no more', () => {
    const sampler = createDenialSampler()
    for (let user = 1; user <= 1_200; user++) deny(sampler, user, NOW)
    let more = 0
    for (let n = 1; n <= 1_000; n++) {
      for (const now of [NOW + n + 40, NOW + n]) if (deny(sampler, 10_000 + more, now) !== false) more += 1
    }
    expect(more).toBe(Math.floor(1_040 / 50))
  })

  test('a clock that is set back stops nothing', () => {
    const sampler = createDenialSampler()
    for (let user = 1; user <= 1_200; user++) deny(sampler, user, NOW + 24 * HOUR_MS)
    expect(deny(sampler, 1, NOW)).toBe(false)
    expect(deny(sampler, 1, NOW + 50)).toBe(1)
  })
})

describe('of more users than it remembers', () => {
  const USERS = 100

  test('it says that it does not know, once it had to forget counts', () => {
    const sampler = createDenialSampler(USERS)
    for (let user = 1; user <= 1_200; user++) deny(sampler, user, NOW)
    // Nothing was left out so far, so nothing was forgotten.
    expect(deny(sampler, 9_999, NOW + 50)).toBe(0)
    for (let user = 2_000; user < 2_000 + 3 * USERS; user++) expect(deny(sampler, user, NOW + 50)).toBe(false)
    expect(deny(sampler, 2_000, NOW + 100)).toBe(null)
    expect(deny(sampler, 2_000, NOW + 150)).toBe(0)
    // From there on it knows.
    expect(deny(sampler, 2_000, NOW + 150)).toBe(false)
    expect(deny(sampler, 2_000, NOW + 200)).toBe(1)
  })
})
