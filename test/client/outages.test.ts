/** What counts as an outage: only then calls fail at once, and messages become debts or are paid by leases. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { createClient } from '../../client/src/main.ts'
import { openJournal } from '../../client/src/node/journal.ts'
import { createSettler } from '../../client/src/settler.ts'
import { createTimers } from '../support/timers.ts'

const folder = await mkdtemp(join(tmpdir(), 'outages-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

type Answer = () => Promise<Response>

const silence: Answer = () => Promise.reject(new TypeError('no route'))
const problem = (status: number, code: string, headers: Record<string, string> = {}) =>
  Response.json(
    { type: 'about:blank', title: '', status, code, detail: 'not now', request_id: 'r' },
    { status, headers: { 'content-type': 'application/problem+json', ...headers } },
  )
const answered =
  (status: number, code: string, headers?: Record<string, string>): Answer =>
  async () =>
    problem(status, code, headers)

/** A client whose calls are answered so, and what counts its calls. Each call is one attempt: a retry would come too late. */
function clientWith(answer: Answer, options: Partial<Parameters<typeof createClient>[0]> = {}) {
  const network = { answer, calls: 0 }
  const client = createClient({
    url: 'http://service',
    token: 't',
    senderTimeoutMs: 20,
    fetch() {
      network.calls += 1
      return network.answer()
    },
    ...options,
  })
  const check = () => client.check({ userId: 1, units: 1 }).catch((error: Error) => error)
  return { client, network, check }
}

describe('the circuit', () => {
  test.each([
    ['a 401', answered(401, 'unauthenticated')],
    ['a 422', answered(422, 'exceeds_reservation')],
    ['a 500', answered(500, 'internal')],
    ['rate_limited', answered(429, 'rate_limited', { 'retry-after': '60' })],
    ['overloaded', answered(503, 'overloaded', { 'retry-after': '60' })],
  ])('opens after ten failures in a row, which %s interrupts', async (_, answer) => {
    const { network, check } = clientWith(silence)
    for (let n = 0; n < 9; n++) await check()
    network.answer = answer
    await check()
    network.answer = silence
    await check()
    await check()
    expect(network.calls).toBe(12)
    for (let n = 0; n < 8; n++) await check()
    expect(network.calls).toBe(20)
    expect(await check()).toMatchObject({ message: expect.stringContaining('10 times in a row'), isOutage: true })
  })

  test('is closed by a service that answers 401: its messages are no debts', async () => {
    const journal = await openJournal(join(folder, 'refused'), { onUnknown: () => 'charge' })
    const { client, network, check } = clientWith(silence, { journal, onUnavailable: 'allow-with-debt' })
    let sends = 0
    const ask = (id: string) =>
      client.withReservation({ userId: 1, id, units: 1 }, () => sends++).catch((error: Error) => error)
    for (let n = 0; n < 10; n++) await check()
    await ask('away')
    expect(sends).toBe(1)
    network.answer = answered(401, 'unauthenticated')
    // One call a second looks.
    await expect.poll(check, { timeout: 5_000 }).toMatchObject({ code: 'unauthenticated' })
    for (let n = 0; n < 20; n++) expect(await ask(`m${n}`)).toMatchObject({ code: 'unauthenticated' })
    expect(sends).toBe(1)
    await journal.close()
  })
})

describe('what this process cannot do is no outage', () => {
  test('10,000 messages that are not settled', async () => {
    const { userId, id } = { userId: 1, id: 'm' }
    const settler = createSettler(
      createClient({ url: 'http://service', token: 't', fetch: silence }),
      createTimers(),
      () => false,
    )
    for (let n = 0; n < 10_000; n++) settler.giveBack({ userId, id: `${id}${n}`, mayBeCommitted: true })
    const refused = { name: 'UnavailableError', isOutage: false, mayHaveTakenEffect: false }
    expect(() => settler.assertRoom()).toThrow(expect.objectContaining(refused))
  })

  test('nor is an answer that is too long', async () => {
    const { client, network } = clientWith(silence, { senderTimeoutMs: 10_000 })
    network.answer = async () => new Response(' '.repeat(64 * 1024 * 1024 + 1))
    const both = await Promise.allSettled([1, 2].map(n => client.check({ userId: n, units: 1 })))
    const failed = { status: 'rejected', reason: { name: 'UnavailableError', isOutage: false } }
    expect(both).toMatchObject([failed, failed])
  })

  test.each([
    ['a token that no header can hold', { token: 'a\nb' }],
    ['such a token of a function', { token: () => 'schl\u00fcssel' }],
    ['an address that is none', { url: 'service' }],
    ['an address without https', { url: 'localhost:8080' }],
  ])('%s fails at once, and names no secret', async (_, options) => {
    const journal = await openJournal(join(folder, crypto.randomUUID()), { onUnknown: () => 'charge' })
    let calls = 0
    const ask = async () => {
      const client = createClient({
        url: 'http://service',
        token: 't',
        journal,
        onUnavailable: 'allow-with-debt',
        ...options,
      })
      await client.withReservation({ userId: 1, id: 'm', units: 1 }, () => calls++)
    }
    const error: Error = await ask().then(
      () => expect.unreachable(),
      error => error,
    )
    expect([error.name, calls, journal.debts()]).toEqual(['TypeError', 0, []])
    expect(error.message).not.toMatch(/a\nb|schl/)
    await journal.close()
  })
})

describe('an answer that asks to try later is no outage', () => {
  test.each(['rate_limited', 'overloaded'])('%s: nothing is sent as a debt or from a lease', async code => {
    const journal = await openJournal(join(folder, code), { onUnknown: () => 'charge' })
    const outageLease = { units: 5 }
    const { client, network } = clientWith(silence, { journal, outageLease })
    const granted = (body: object) => {
      const { operations } = body as { operations?: { id: string }[] }
      const answer = (id: string) => ({ granted: true, id, user_id: 1, state: 'reserved', units: 5, committed: 0 })
      if (operations === undefined) return Response.json(answer('m'))
      return Response.json({ results: operations.map(({ id }) => ({ status: 200, body: answer(id) })) })
    }
    network.answer = async () => granted({})
    await client.withReservation({ userId: 1, id: 'before', units: 1 }, () => 'sent', { onUnavailable: 'lease' })
    network.answer = answered(code === 'overloaded' ? 503 : 429, code, { 'retry-after': '60' })
    for (const onUnavailable of ['allow-with-debt', 'lease'] as const) {
      const denied = client.withReservation({ userId: 1, id: 'm', units: 1 }, () => expect.unreachable(), {
        onUnavailable,
      })
      await expect(denied).rejects.toMatchObject({ name: 'UnavailableError', isOutage: false })
    }
    expect(journal.debts()).toEqual([])
    await journal.close()
  })

  test('nor is a 429 that a proxy answers with a page of its own', async () => {
    const { client, network } = clientWith(silence)
    network.answer = async () =>
      new Response('<h1>Too Many Requests</h1>', { status: 429, headers: { 'retry-after': '60' } })
    const denied = client.check({ userId: 1, units: 1 })
    await expect(denied).rejects.toMatchObject({ name: 'UnavailableError', isOutage: false, mayHaveTakenEffect: true })
  })

  test('nor is one at the deadline, while the next attempt is awaited', async () => {
    const { client, network } = clientWith(silence)
    let calls = 0
    network.answer = () => {
      calls += 1
      return calls === 1 ? answered(429, 'rate_limited')() : new Promise(() => {})
    }
    const waiting = client.check({ userId: 1, units: 1 }, { timeoutMs: 200 })
    await expect(waiting).rejects.toMatchObject({ name: 'UnavailableError', isOutage: false })
    expect(calls).toBe(2)
  })
})
