import { expect, test } from 'vitest'
import { createCoalescing } from '../../client/src/coalescing.ts'
import { createRepetitions } from '../../client/src/repetitions.ts'
import { createRetries } from '../../client/src/retries.ts'

/** Two operations whose batches are answered for the first one with these codes in turn. A pause takes no time. */
function callTwice(codes: string[], { batchTakesMs }: { batchTakesMs: number }) {
  let now = 0
  const sent: number[] = []
  const sleep = async (ms: number) => {
    now += ms
  }
  const retries = createRetries({ now: () => now, random: () => 1, sleep })
  const answer = (code: string | undefined) =>
    code === undefined ? { status: 200, body: 'done' } : { status: 503, body: { code, detail: 'later' } }
  const coalesced = createCoalescing({
    transport: {
      async call(_operation, input) {
        now += batchTakesMs
        const { operations } = input as { operations: { userId: number }[] }
        sent.push(operations.length)
        return { results: operations.map(({ userId }) => answer(userId === 1 ? codes.shift() : undefined)) }
      },
    },
    retries,
    repetitions: createRepetitions(),
    timeoutMs: 10_000,
    maxWaiting: 10,
    now: () => now,
    sleep,
  })
  const calls = [1, 1, 2].map(userId => coalesced('reserve', { userId }, {}))
  return { outcomes: Promise.allSettled(calls), sent }
}

test('operations of a batch are repeated until they have an answer', async () => {
  const { outcomes, sent } = callTwice(['overloaded', 'unavailable', 'overloaded', 'overloaded'], { batchTakesMs: 1 })
  expect(await outcomes).toMatchObject([{ value: 'done' }, { value: 'done' }, { value: 'done' }])
  expect(sent).toEqual([3, 2, 2])
})

test('they fail when the deadline is too near, and say whether any attempt may have taken effect', async () => {
  const first = callTwice(['overloaded', 'unavailable', 'overloaded', 'overloaded'], { batchTakesMs: 4_990 })
  expect(await first.outcomes).toMatchObject([
    { reason: { name: 'UnavailableError', mayHaveTakenEffect: false } },
    { reason: { name: 'UnavailableError', mayHaveTakenEffect: true } },
    { value: 'done' },
  ])
  expect(first.sent).toEqual([3, 2])
})
