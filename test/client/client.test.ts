import { afterAll, describe, expect, test } from 'vitest'
import { createClient, QuotaError, UnavailableError, UnknownIfSent } from '../../client/src/main.ts'
import { startService } from '../support/service.ts'

const service = await startService({ env: { SECRETS_KEY: Buffer.alloc(32, 7).toString('base64') } })
const url = await service.app.listen({ port: 0, host: '127.0.0.1' })
const calls: string[] = []
const counted: typeof fetch = (input, init) => {
  calls.push(new URL(String(input)).pathname.replace(/^.*\//, ''))
  return fetch(input, init)
}
const admin = createClient({ url, token: service.adminToken })
const sender = createClient({ url, token: async () => service.senderToken, fetch: counted })
afterAll(() => service.app.close())

let users = 100
async function user(limit: number): Promise<number> {
  users += 1
  await admin.createQuota({ userId: users, limit })
  return users
}
const used = async (userId: number) => (await admin.summarizeQuotasOfUser({ userId })).used
const reserved = async (userId: number) => (await admin.summarizeQuotasOfUser({ userId })).reserved

test('a sender that was away settles its own accounts', async () => {
  const owner = await user(10)
  for (const id of ['a', 'b', 'c', 'd', 'e']) await sender.reserve({ userId: owner, id, units: 1 })
  await sender.commit({ userId: owner, id: 'c' })
  service.clock.now += 60_000
  const settled: string[] = []
  // What is settled leaves the list, and none of the others is missed.
  for await (const { userId, id } of sender.each('listReservationsOfSender', { olderThan: 59, pageSize: 1 })) {
    if (userId !== owner) continue
    settled.push(id)
    await (id === 'a' ? sender.release({ userId, id }) : sender.commit({ userId, id }))
  }
  expect(settled).toEqual(['a', 'b', 'd', 'e'])
  expect([await used(owner), await reserved(owner)]).toEqual([4, 0])
  const { items } = await sender.listReservationsOfSender({ userId: owner })
  expect(items).toEqual([])
})

describe('the API', () => {
  test('has camelCase names, and leaves the keys of metadata alone', async () => {
    const metadata = { cost_center: 'a_b', CamelCase: '1' }
    const { id } = await admin.createQuota({ userId: 1, limit: 10, externalRef: 'order-1', metadata })
    const quota = await admin.getQuota({ id })
    expect(quota).toMatchObject({ userId: 1, externalRef: 'order-1', metadata, windowEnd: null })
    expect(await admin.updateQuota({ id, limit: 20 }, { ifMatch: quota.version })).toMatchObject({ limit: 20 })
    await expect(admin.updateQuota({ id, limit: 30 }, { ifMatch: quota.version })).rejects.toMatchObject({
      code: 'version_mismatch',
      status: 412,
    })
    expect(await admin.deleteQuota({ id })).toBeUndefined()
  })

  test('a list in a query is a repeated parameter', async () => {
    const urls: string[] = []
    const watched: typeof fetch = (input, init) => {
      urls.push(String(input))
      return fetch(input, init)
    }
    const client = createClient({ url, token: service.adminToken, fetch: watched })
    expect(await client.listNames({ subject: ['a,b', 'c'] })).toEqual({ items: [] })
    expect(urls).toEqual([`${url}/api/sms/admin/names?subject=a%2Cb&subject=c`])
  })

  test('names what was wrong', async () => {
    const error = await admin.createQuota({ userId: 1, limit: -1 }).catch(reason => reason)
    expect(error).toBeInstanceOf(QuotaError)
    expect(error).toMatchObject({ code: 'invalid_request', requestId: expect.any(String) })
    expect(error.message).toContain('/limit')
    await expect(admin.getQuota({} as { id: number })).rejects.toThrow('id is missing')
  })

  test('an error that is final is not tried again', async () => {
    const attempts: unknown[] = []
    const isFinal = (error: unknown) => attempts.push(error) > 0
    const client = createClient({ url: 'http://127.0.0.1:1', token: 'x', isFinal })
    await expect(client.whoAmI({})).rejects.toThrow(UnavailableError)
    await expect(client.check({ userId: 1, units: 1 })).rejects.toThrow(UnavailableError)
    expect(attempts).toHaveLength(2)
  })

  test('iterates over all pages', async () => {
    const owner = await user(1)
    for (let n = 0; n < 4; n++) await admin.createQuota({ userId: owner, limit: n, name: `pack ${n}` })
    const names: (string | null)[] = []
    for await (const { name } of admin.each('listQuotas', { userId: owner, pageSize: 2, sort: 'id' })) names.push(name)
    expect(names).toEqual([null, 'pack 0', 'pack 1', 'pack 2', 'pack 3'])
  })

  test('follows events until it is stopped', async () => {
    const { next } = await admin.listEvents({ last: 1 })
    const owner = await user(5)
    const stop = new AbortController()
    for await (const page of admin.follow({ after: next, userId: owner }, { signal: stop.signal })) {
      expect(page.items).toMatchObject([{ type: 'quota.created', userId: owner }])
      expect(page.next).not.toBe(next)
      break
    }
  })
})

test('following from latest, there is a cursor before the first event', async () => {
  const owner = await user(5)
  let cursor = ''
  for await (const page of admin.follow({ after: 'latest', userId: owner })) {
    expect(page.items).toEqual([])
    cursor = page.next
    break
  }
  await admin.createQuota({ userId: owner, limit: 1 })
  expect((await admin.listEvents({ after: cursor, userId: owner })).items).toMatchObject([{ type: 'quota.created' }])
})

describe('operations of senders', () => {
  test('a denial is a value', async () => {
    const owner = await user(1)
    const denied = await sender.reserve({ userId: owner, id: 'm', units: 2 })
    expect(denied).toMatchObject({ granted: false, reason: 'quota_exhausted', retryAt: null })
  })

  test('a lone one is a single call; those of a tick are one batch', async () => {
    const owner = await user(100)
    calls.length = 0
    await sender.reserve({ userId: owner, id: 'lone', units: 1 })
    expect(calls).toEqual(['reserve'])
    calls.length = 0
    const ids = Array.from({ length: 50 }, (_, n) => `m${n}`)
    const answers = await Promise.all(ids.map(id => sender.reserve({ userId: owner, id, units: 1 })))
    expect(answers.map(answer => answer.granted && answer.id)).toEqual(ids)
    expect(calls).toEqual(['batch'])
  })

  test('those of a user take effect in their order, while those of others go on', async () => {
    const [one, other] = [await user(10), await user(10)]
    const first = sender.reserve({ userId: one, id: 'm', units: 3 })
    await Promise.resolve()
    const rest = [
      sender.commit({ userId: one, id: 'm', totalUnits: 2 }),
      sender.release({ userId: one, id: 'm' }),
      sender.reserve({ userId: other, id: 'm', units: 1 }),
    ]
    expect(await first).toMatchObject({ granted: true })
    expect(await Promise.all(rest)).toMatchObject([{ committed: 2 }, { committed: 2, released: 1 }, { granted: true }])
  })

  test('each names its recipient, tag and messages, which caps of the user count by themselves', async () => {
    const userId = await user(100)
    await admin.createQuota({ userId, kind: 'cap', per: 'recipient', period: 'year', limit: 2 })
    await admin.createQuota({ userId, kind: 'cap', per: 'tag', period: 'year', limit: 3 })
    const [one, other] = ['+4915112345678', '+4915112345679']
    calls.length = 0
    const answers = await Promise.all([
      sender.consume({ userId, id: 'a', units: 1, recipient: one }),
      sender.consume({ userId, id: 'b', units: 5, messages: 3, recipient: other }),
      sender.reserve({ userId, id: 'c', units: 2, messages: 2, tag: 'sales' }),
      sender.reserve({ userId, id: 'd', units: 2, messages: 2, tag: 'sales' }),
      sender.consume({ userId, id: 'e', message: { to: one, text: 'Hello' } }),
      sender.check({ userId, units: 1, recipient: one }),
    ])
    expect(answers.map(({ granted }) => granted)).toEqual([true, false, true, false, true, false])
    expect(calls).toEqual(['batch'])
  })

  test('one that is refused in a batch fails alone, by its code', async () => {
    const owner = await user(10)
    const outcomes = await Promise.allSettled([
      sender.reserve({ userId: owner, id: 'a', units: 1 }),
      sender.commit({ userId: owner, id: 'unknown' }),
      sender.reserve({ userId: owner, id: 'not valid', units: 1 }),
    ])
    expect(outcomes).toMatchObject([
      { value: { granted: true } },
      { reason: { code: 'not_found' } },
      { reason: { code: 'invalid_request' } },
    ])
  })
})

test('an operation that a batch answers with "try later" is sent again, before what its user called later', async () => {
  const [one, other] = [await user(10), await user(10)]
  let left = 1
  const client = createClient({
    url,
    token: service.senderToken,
    async fetch(input, init) {
      const answer = await fetch(input, init)
      if (!String(input).endsWith('/batch') || left === 0) return answer
      left -= 1
      const { results } = (await answer.json()) as { results: object[] }
      const problem = { code: 'unavailable', status: 503, detail: 'later', title: '', type: '', request_id: '' }
      return Response.json({ results: results.with(0, { status: 503, body: problem }) })
    },
  })
  const both = [
    client.reserve({ userId: one, id: 'm', units: 3 }),
    client.reserve({ userId: other, id: 'm', units: 1 }),
  ]
  await Promise.resolve()
  const later = client.commit({ userId: one, id: 'm' })
  expect(await Promise.all(both)).toMatchObject([{ replayed: false }, { replayed: false }])
  expect(await later).toMatchObject({ committed: 3 })
})

describe('withReservation', () => {
  const ask = (userId: number, id: string) => ({ userId, id, message: { to: '+4915112345678', text: 'Hello' } })

  test('commits what was sent', async () => {
    const owner = await user(5)
    const result = await sender.withReservation(ask(owner, 'm'), reservation => `sent ${reservation?.units}`)
    expect(result).toMatchObject({ granted: true, sent: true, value: 'sent 1', settled: { committed: 1 } })
    expect(await used(owner)).toBe(1)
  })

  test('sends nothing without quota', async () => {
    const result = await sender.withReservation(ask(999, 'm'), () => expect.unreachable())
    expect(result).toMatchObject({ granted: false, reason: 'no_quota' })
  })

  test('gives the units back when the send fails, and throws its error', async () => {
    const owner = await user(5)
    const failing = sender.withReservation(ask(owner, 'm'), () => Promise.reject(new Error('no route')))
    await expect(failing).rejects.toThrow('no route')
    expect([await used(owner), await reserved(owner)]).toEqual([0, 0])
  })

  test('keeps the units when it is not known whether the message left', async () => {
    const owner = await user(5)
    const result = await sender.withReservation(ask(owner, 'm'), () => {
      throw new UnknownIfSent('the provider timed out')
    })
    expect(result).toMatchObject({ sent: 'unknown', reservation: { id: 'm', state: 'committed' } })
    // A message that may have left is not free.
    expect([await used(owner), await reserved(owner)]).toEqual([1, 0])
  })
})

test('a token that is empty is an error at once', async () => {
  expect(() => createClient({ url, token: '' })).toThrow('token is empty')
  await expect(createClient({ url, token: () => '' }).whoAmI({})).rejects.toThrow('token is empty')
})

test('a service that is away is an error of its own, within the time limit', async () => {
  const away = createClient({ url: 'http://127.0.0.1:9', token: 'x', senderTimeoutMs: 300 })
  const error = await away.reserve({ userId: 1, id: 'm', units: 1 }).catch(reason => reason)
  expect(error).toBeInstanceOf(UnavailableError)
  expect(error.mayHaveTakenEffect).toBe(true)
})
