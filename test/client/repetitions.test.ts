/** `replayed` says whether the caller has asked before: lost answers, which the client asks for again, do not count. */
import { afterAll, describe, expect, test } from 'vitest'
import { createClient } from '../../client/src/main.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const url = await service.app.listen({ port: 0, host: '127.0.0.1' })
afterAll(() => service.app.close())
const sender = createClient({ url, token: service.senderToken })

let users = 100
async function user(): Promise<number> {
  users += 1
  await service.call('POST', '/api/sms/admin/quota', { body: { user_id: users, limit: 10 } })
  return users
}

/** A client that gets no answer to its next calls, which the service carries out. */
function forgetful() {
  const network = { losses: 0 }
  const client = createClient({
    url,
    token: service.senderToken,
    senderTimeoutMs: 10_000,
    async fetch(input, init) {
      const answer = await fetch(input, init)
      if (network.losses-- <= 0) return answer
      await answer.arrayBuffer()
      throw new TypeError('cut off')
    },
  })
  return { client, network }
}

describe('a call whose answer was lost is no repetition', () => {
  test.each(['reserve', 'consume'] as const)('%s', async op => {
    const { client, network } = forgetful()
    const userId = await user()
    network.losses = 2
    expect(await client[op]({ userId, id: 'm', units: 1 })).toMatchObject({ granted: true, replayed: false })
    // The caller asks again.
    expect(await client[op]({ userId, id: 'm', units: 1 })).toMatchObject({ granted: true, replayed: true })
    network.losses = 1
    expect(await client[op]({ userId, id: 'm', units: 1 })).toMatchObject({ granted: true, replayed: true })
  })

  test('settlements', async () => {
    const { client, network } = forgetful()
    const userId = await user()
    await client.reserve({ userId, id: 'm', units: 3 })
    for (const op of ['commit', 'refund'] as const) {
      network.losses = 1
      expect(await client[op]({ userId, id: 'm', totalUnits: 2 })).toMatchObject({ replayed: false })
      expect(await client[op]({ userId, id: 'm', totalUnits: 2 })).toMatchObject({ replayed: true })
    }
    network.losses = 1
    expect(await client.release({ userId, id: 'm' })).toMatchObject({ replayed: false })
  })

  test('in a batch of the client, and in one of the caller', async () => {
    const { client, network } = forgetful()
    const userId = await user()
    network.losses = 1
    const answers = ['a', 'b'].map(id => client.reserve({ userId, id, units: 1 }))
    expect(await Promise.all(answers)).toMatchObject([{ replayed: false }, { replayed: false }])
    network.losses = 1
    const operations = ['b', 'c'].map(id => ({ op: 'reserve', userId, id, units: 1 }) as const)
    const { results } = await client.batch({ operations })
    expect(results.map(({ body }) => body)).toMatchObject([{ replayed: true }, { replayed: false }])
  })

  test('if the service did not do it the first time, in a batch of the caller either', async () => {
    const { client, network } = forgetful()
    const userId = await user()
    const operations = [
      { op: 'reserve', userId, id: 'denied', units: 11 },
      { op: 'commit', userId, id: 'refused' },
    ] as const
    const first = await client.batch({ operations: [...operations] })
    expect(first.results).toMatchObject([{ body: { granted: false } }, { status: 404 }])
    await sender.reserve({ userId, id: 'refused', units: 1 })
    network.losses = 1
    const again = [{ ...operations[0], units: 2 }, operations[1]]
    const { results } = await client.batch({ operations: again })
    expect(results.map(({ body }) => body)).toMatchObject([{ replayed: false }, { replayed: false }])
  })

  test('nor is one of a batch that certainly had no effect', async () => {
    const userId = await user()
    const network: ('busy' | 'lost')[] = ['busy']
    const client = createClient({
      url,
      token: service.senderToken,
      senderTimeoutMs: 2_000,
      async fetch(input, init) {
        const fault = network.shift()
        if (fault === 'busy') {
          const headers = { 'content-type': 'application/problem+json', 'retry-after': '60' }
          return Response.json({ status: 429, code: 'rate_limited', detail: 'later' }, { status: 429, headers })
        }
        const answer = await fetch(input, init)
        if (fault === undefined) return answer
        await answer.arrayBuffer()
        throw new TypeError('cut off')
      },
    })
    const batch = { operations: [{ op: 'reserve', userId, id: 'm', units: 1 } as const] }
    await expect(client.batch(batch)).rejects.toMatchObject({ mayHaveTakenEffect: false })
    network.push('lost')
    expect((await client.batch(batch)).results).toMatchObject([{ body: { replayed: false } }])
  })
})

describe('a message that was asked for by an earlier process is a repetition', () => {
  test('if the first answer says so, or its units are committed', async () => {
    const userId = await user()
    for (const id of ['open', 'done', 'free']) await sender.reserve({ userId, id, units: 2 })
    await sender.commit({ userId, id: 'done' })
    await sender.release({ userId, id: 'free', totalUnits: 1 })
    const { client, network } = forgetful()
    expect(await client.reserve({ userId, id: 'open', units: 2 })).toMatchObject({ replayed: true })
    for (const id of ['done', 'free']) {
      network.losses = 1
      expect(await client.reserve({ userId, id, units: 2 })).toMatchObject({ replayed: true })
    }
  })

  test('not if an answer was lost and it is as if this process had asked first', async () => {
    const userId = await user()
    await sender.reserve({ userId, id: 'open', units: 2 })
    const { client, network } = forgetful()
    network.losses = 1
    expect(await client.reserve({ userId, id: 'open', units: 2 })).toMatchObject({ replayed: false })
  })
})
