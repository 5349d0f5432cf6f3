import { expect, test } from 'vitest'
import { createCoalescing } from '../../client/src/coalescing.ts'
import { createClient } from '../../client/src/main.ts'
import { createRepetitions } from '../../client/src/repetitions.ts'
import { createRetries } from '../../client/src/retries.ts'

const SERVICE = { base: 'http://service' }

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
    processOf: () => SERVICE,
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

test.each([
  ['ids', [{ userId: 1 }, { userId: 2 }]],
  ['references', [{ userRef: 'one' }, { userRef: 'two' }]],
] as const)(
  'what is sent again goes before what its user calls later, and holds up no other one: by their %s',
  async (_, users) => {
    const [one, two] = users
    const sent: string[][] = []
    const pause = Promise.withResolvers<void>()
    const coalesced = createCoalescing({
      transport: {
        async call(_operation, input) {
          const { operations = [input] } = input as { operations?: { id?: unknown }[] }
          const ids = operations.map(({ id }) => String(id))
          sent.push(ids)
          const isFirst = sent.length === 1
          const results = ids.map(id =>
            isFirst && id === 'a'
              ? { status: 503, body: { code: 'overloaded', detail: 'later' } }
              : { status: 200, body: id },
          )
          return 'operations' in input ? { results } : results[0]?.body
        },
      },
      processOf: () => SERVICE,
      retries: createRetries({ now: () => 0, random: () => 1, sleep: () => pause.promise }),
      repetitions: createRepetitions(),
      timeoutMs: 10_000,
      maxWaiting: 10,
      now: () => 0,
      sleep: () => pause.promise,
    })
    const reserve = (user: object, id: string) => coalesced('reserve', { ...user, id }, {})
    const first = [reserve(one, 'a'), reserve(two, 'b')]
    await first[1]
    const later = [reserve(one, 'c'), reserve(two, 'd')]
    await later[1]
    pause.resolve()
    expect(await Promise.all([...first, ...later])).toEqual(['a', 'b', 'c', 'd'])
    expect(sent).toEqual([['a', 'b'], ['d'], ['a', 'c']])
  },
)

test('they fail when the deadline is too near, and say whether any attempt may have taken effect', async () => {
  const first = callTwice(['overloaded', 'unavailable', 'overloaded', 'overloaded'], { batchTakesMs: 4_990 })
  expect(await first.outcomes).toMatchObject([
    { reason: { name: 'UnavailableError', mayHaveTakenEffect: false } },
    { reason: { name: 'UnavailableError', mayHaveTakenEffect: true } },
    { value: 'done' },
  ])
  expect(first.sent).toEqual([3, 2])
})

test('what a caller has given up is not sent again with the rest of its batch', async () => {
  const sent: string[][] = []
  const given = new AbortController()
  const client = createClient({
    url: 'http://service',
    token: 't',
    senderTimeoutMs: 60_000,
    async fetch(_input, init) {
      const { operations, ...alone } = JSON.parse(String(init?.body))
      const ids = [operations ?? alone].flat().map(({ id }: { id: string }) => id)
      sent.push(ids)
      if (sent.length === 1) {
        given.abort(new Error('given up'))
        throw new TypeError('no route')
      }
      const results = ids.map(id => ({ status: 200, body: { granted: true, id } }))
      return Response.json({ results })
    },
  })
  const { signal } = given
  const [kept, left] = [
    client.reserve({ userId: 1, id: 'kept', units: 1 }),
    client.reserve({ userId: 2, id: 'left', units: 1 }, { signal }),
  ]
  await expect(left).rejects.toThrow('given up')
  expect(await kept).toMatchObject({ granted: true, id: 'kept' })
  expect(sent).toEqual([['kept', 'left'], ['kept']])
})

test('a lone call whose caller has given up is not sent again', async () => {
  const given = new AbortController()
  const again = Promise.withResolvers<() => unknown>()
  const coalesced = createCoalescing({
    transport: {
      async call(_operation, _input, options) {
        if (options.again !== undefined) again.resolve(options.again)
        return new Promise(() => {})
      },
    },
    processOf: () => SERVICE,
    retries: createRetries({ now: () => 0, random: () => 1, sleep: async () => {} }),
    repetitions: createRepetitions(),
    timeoutMs: 10_000,
    maxWaiting: 10,
    now: () => 0,
    sleep: async () => {},
  })
  const call = coalesced('reserve', { userId: 1, id: 'left' }, { signal: given.signal })
  const sendAgain = await again.promise
  expect(sendAgain()).toEqual({ userId: 1, id: 'left' })
  given.abort(new Error('given up'))
  await expect(call).rejects.toThrow('given up')
  expect(sendAgain).toThrow('no caller waits')
})
