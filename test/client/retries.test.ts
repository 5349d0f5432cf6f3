import { describe, expect, test } from 'vitest'
import { UnavailableError } from '../../client/src/errors.ts'
import { type Attempt, createRetries } from '../../client/src/retries.ts'

/** Retries with a clock that moves only while they sleep. */
function harness() {
  let now = 0
  const sleeps: number[] = []
  const sleep = async (ms: number) => {
    sleeps.push(ms)
    now += ms
  }
  const move = (ms: number) => {
    now += ms
  }
  return { retries: createRetries({ now: () => now, random: () => 1, sleep }), sleeps, move, now: () => now }
}

const failed = (isSilent: boolean, fields: { mayHaveTakenEffect?: boolean; retryAfterMs?: number } = {}) => {
  const { mayHaveTakenEffect = isSilent, retryAfterMs = 0 } = fields
  return { failure: { error: new UnavailableError('away', { mayHaveTakenEffect }), isSilent, retryAfterMs } }
}

/** Attempts that have these results in turn, and then the last one for ever. */
function attempts(...results: Attempt<string>[]) {
  let count = 0
  const attempt = async () => results[Math.min(count++, results.length - 1)] ?? failed(true)
  return { attempt, count: () => count }
}

describe('retries', () => {
  test('wait twice as long each time, up to two seconds, and at least as long as the service says', async () => {
    const { retries, sleeps } = harness()
    const results = [...Array.from({ length: 7 }, () => failed(false)), failed(false, { retryAfterMs: 5_000 })]
    expect(
      await retries.run({ deadline: 60_000, mayRepeat: true }, attempts(...results, { value: 'done' }).attempt),
    ).toBe('done')
    expect(sleeps).toEqual([50, 100, 200, 400, 800, 1_600, 2_000, 5_000])
  })

  test('end when the next one would come after the deadline', async () => {
    const { retries, sleeps } = harness()
    await expect(retries.run({ deadline: 1_000, mayRepeat: true }, attempts(failed(false)).attempt)).rejects.toThrow(
      'away',
    )
    expect(sleeps).toEqual([50, 100, 200, 400])
  })

  test('of what cannot be repeated follow only an answer that nothing was done', async () => {
    const { retries } = harness()
    const refused = attempts(failed(false, { mayHaveTakenEffect: false }), { value: 'done' })
    expect(await retries.run({ deadline: 1_000, mayRepeat: false }, refused.attempt)).toBe('done')
    const unknown = attempts(failed(true))
    await expect(retries.run({ deadline: 1_000, mayRepeat: false }, unknown.attempt)).rejects.toMatchObject({
      mayHaveTakenEffect: true,
    })
    expect(unknown.count()).toBe(1)
  })

  test('remember that an earlier attempt may have taken effect', async () => {
    const { retries } = harness()
    const results = attempts(failed(true), failed(false, { mayHaveTakenEffect: false, retryAfterMs: 9_000 }))
    await expect(retries.run({ deadline: 1_000, mayRepeat: true }, results.attempt)).rejects.toMatchObject({
      mayHaveTakenEffect: true,
    })
  })

  test('share a budget, which successes refill by a tenth', async () => {
    const { retries, sleeps, now } = harness()
    const fail = () =>
      retries.run({ deadline: now() + 60, mayRepeat: true }, attempts(failed(false)).attempt).catch(() => {})
    for (let n = 0; n < 60; n++) await fail()
    expect(sleeps).toHaveLength(50)
    for (let n = 0; n < 10; n++)
      await retries.run({ deadline: now() + 60, mayRepeat: true }, attempts({ value: 'done' }).attempt)
    await fail()
    expect(sleeps).toHaveLength(51)
  })
})

test('after ten failures in a row calls fail at once, but for one a second, until one succeeds', async () => {
  const { retries, move } = harness()
  const silent = attempts(failed(true))
  const call = () => retries.run({ deadline: 0, mayRepeat: true }, silent.attempt)
  for (let n = 0; n < 10; n++) await expect(call()).rejects.toThrow('away')
  for (let n = 0; n < 5; n++) await expect(call()).rejects.toThrow('has not answered 10 times in a row')
  expect(silent.count()).toBe(10)
  move(1_000)
  await expect(call()).rejects.toThrow('away')
  await expect(call()).rejects.toThrow('in a row')
  move(1_000)
  expect(await retries.run({ deadline: 0, mayRepeat: true }, attempts({ value: 'done' }).attempt)).toBe('done')
  await expect(call()).rejects.toThrow('away')
})
