/** A client with the URLs of several processes, by a network of the test: where calls go, and when they move on and back. */
import { describe, expect, test } from 'vitest'
import { type ClientOptions, createClientOn } from '../../client/src/client.ts'
import { createProcesses } from '../../client/src/processes.ts'
import { PLATFORM, type Timers } from '../../client/src/timers.ts'
import { createTimers } from '../support/timers.ts'

const [A, B, C] = ['http://quota-a', 'http://quota-b', 'http://quota-c']
const BOTH = [A, B]

const ofHome = (url: string, count: number, urls = BOTH) => {
  const { of } = createProcesses(urls, () => 0)
  return Array.from({ length: 1_000 }, (_, user) => user)
    .filter(user => of(user).base === url)
    .slice(0, count)
}
const [ofA = 0, otherOfA = 0] = ofHome(A, 2)
const [ofB = 0, otherOfB = 0] = ofHome(B, 2)

interface Sent {
  readonly to: string
  readonly user: string | null
  readonly key: string | null
  readonly path: string
  readonly body: ReturnType<typeof JSON.parse>
}

type Answer = (sent: Sent, init: RequestInit) => Response | Promise<Response>

const refused: Answer = () => {
  throw new TypeError('connection refused')
}
const problem =
  (status: number, code: string): Answer =>
  () =>
    Response.json(
      { type: 'about:blank', title: '', status, code, detail: 'not now', request_id: 'r' },
      { status, headers: { 'content-type': 'application/problem+json' } },
    )
const hangs: Answer = (_, { signal }) =>
  new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
/** Has what each operation answers. */
const granted: Answer = ({ body }) => {
  const answer = { granted: true, state: 'committed', subject: 's', items: [], user_id: 1 }
  if (body?.operations === undefined) return Response.json({ ...answer, id: body?.id ?? 1 })
  const results = body.operations.map(({ id }: { id: string }) => ({ status: 200, body: { ...answer, id } }))
  return Response.json({ results })
}

/** A client whose pauses take no time, on a clock that moves with them, unless it has the platform's. */
function network(options: Partial<ClientOptions> = {}, platform?: Timers) {
  const timers = createTimers()
  const sent: Sent[] = []
  const answers = new Map<string, Answer>()
  const later = (ms: number, run: () => void) => {
    queueMicrotask(() => {
      timers.pass(ms)
      run()
    })
    return () => {}
  }
  const client = createClientOn(platform ?? { now: timers.now, later }, {
    url: BOTH,
    token: 't',
    async fetch(input, init = {}) {
      const { origin, pathname } = new URL(String(input))
      const headers = new Headers(init.headers)
      const body = init.body === undefined ? undefined : JSON.parse(String(init.body))
      const [user, key] = [headers.get('sms-quota-user'), headers.get('idempotency-key')]
      const one = { to: origin, path: pathname.replace(/^.*\//, ''), user, key, body }
      sent.push(one)
      return (answers.get(origin) ?? granted)(one, init)
    },
    ...options,
  })
  let ids = 0
  return {
    client,
    timers,
    sent,
    answers,
    to: () => sent.splice(0).map(({ to }) => to),
    reserve: (userId: number) => client.reserve({ userId, id: `m${ids++}`, units: 1 }),
  }
}

describe('a call goes', () => {
  test('to the process of its user, which a header names', async () => {
    const { client, sent, reserve } = network()
    await reserve(ofA)
    await reserve(ofB)
    await client.getReservation({ userId: ofA, id: 'a' })
    await client.summarizeQuotasOfUser({ userId: ofB })
    await client.createQuota({ userId: ofA, limit: 1 })
    // A reference may be personal: the header holds a few bits of its hash.
    await client.getReservation({ userRef: 'Kunde/7ä', id: 'a' })
    expect(sent.map(({ to, user }) => [to, user])).toEqual([
      [A, `${ofA}`],
      [B, `${ofB}`],
      [A, `${ofA}`],
      [B, `${ofB}`],
      [A, `${ofA}`],
      [B, 'ref-2c06'],
    ])
  })

  test('to the first one that answers, if it names no user', async () => {
    const { client, answers, sent } = network({ url: [B, A] })
    await client.getQuota({ id: 1 })
    answers.set(B, refused)
    await client.getQuota({ id: 1 })
    await client.getQuota({ id: 1 })
    expect(sent.map(({ to, user }) => [to, user])).toEqual([B, B, A, A].map(to => [to, null]))
  })

  test('at the same time as others in a batch for each process, whose header names a user if it is about one only', async () => {
    const { sent, reserve } = network()
    await Promise.all([ofA, ofB, otherOfA, otherOfB, ofA].map(reserve))
    await Promise.all([ofA, ofB, ofA, otherOfB].map(reserve))
    const users = sent.map(({ to, user, body }) => [
      to,
      user,
      body.operations.map(({ user_id }: { user_id: number }) => user_id),
    ])
    expect(users).toEqual([
      [A, null, [ofA, ofA, otherOfA]],
      [B, null, [ofB, otherOfB]],
      [A, `${ofA}`, [ofA, ofA]],
      [B, null, [ofB, otherOfB]],
    ])
  })

  test('to the process of its first user, if it is a batch of the caller', async () => {
    const { client, sent } = network()
    const operations = [ofB, ofA].map(userId => ({ op: 'check' as const, userId, units: 1 }))
    await client.batch({ operations })
    expect(sent).toMatchObject([{ to: B, user: null }])
  })
})

describe('when a process fails, a call goes on to the next one', () => {
  test.each([
    ['no connection', refused],
    ['502', problem(502, 'unavailable')],
    ['503 unavailable', problem(503, 'unavailable')],
    ['504', problem(504, 'unavailable')],
  ])('at once after %s, with the same key and body', async (_, answer) => {
    const { client, answers, sent, timers } = network()
    answers.set(A, answer)
    await client.createQuota({ userId: ofA, limit: 1 })
    expect(sent.map(({ to }) => to)).toEqual([A, B])
    const [first, second] = sent
    expect(first?.key).toMatch(/./)
    expect(second).toEqual({ ...first, to: B })
    expect(timers.now()).toBe(0)
  })

  test.each([
    ['overloaded', problem(503, 'overloaded')],
    ['rate_limited', problem(429, 'rate_limited')],
  ])('but not after %s', async (code, answer) => {
    const { answers, sent, reserve } = network()
    answers.set(A, answer)
    await expect(reserve(ofA)).rejects.toThrow(code)
    expect(new Set(sent.map(({ to }) => to))).toEqual(new Set([A]))
  })

  test('in the order of its user, each of three', async () => {
    const urls = [A, B, C]
    const { answers, to, client } = network({ url: urls })
    const { of, note } = createProcesses(urls, () => 0)
    const order = urls.map(() => {
      const process = of(ofA)
      note(process, 'away', 0)
      return process.base
    })
    for (const url of order.slice(0, 2)) answers.set(url, refused)
    await client.getReservation({ userId: ofA, id: 'a' })
    expect(to()).toEqual(order)
  })

  test('a thousand at the same time need no budget, and open no circuit', async () => {
    const { client, answers } = network()
    answers.set(A, refused)
    const calls = Array.from({ length: 1_000 }, (_, n) => client.getReservation({ userId: ofA, id: `${n}` }))
    expect((await Promise.allSettled(calls)).filter(({ status }) => status === 'rejected')).toEqual([])
  })

  test('after half of its time, if a call of a sender is not answered', async () => {
    const { client, answers, sent } = network({ senderTimeoutMs: 2_000 }, PLATFORM)
    answers.set(A, hangs)
    for (let n = 0; n < 4; n++) await client.getReservation({ userId: ofA, id: 'a' })
    // After three, it is avoided.
    expect(sent.map(({ to }) => to)).toEqual([A, B, A, B, A, B, B])
  })

  test('the operations of a user stay in their order', async () => {
    const { answers, sent, reserve } = network()
    answers.set(A, refused)
    await Promise.all([reserve(ofA), reserve(ofB), reserve(ofA), reserve(otherOfA)])
    answers.delete(A)
    await Promise.all([reserve(ofA), reserve(ofA)])
    const ids = sent.flatMap(({ to, body }) => {
      const operations: { id: string; user_id: number }[] = body.operations ?? [body]
      return to === A ? [] : operations.flatMap(({ id, user_id }) => (user_id === ofA ? id : []))
    })
    expect(ids).toEqual(['m0', 'm2', 'm4', 'm5'])
  })
})

describe('a process that failed', () => {
  test('is avoided for up to a second, then for twice as long each time, up to ten; one call looks; an answer brings it back', async () => {
    const { client, answers, to, timers } = network()
    const ask = () => client.getReservation({ userId: ofA, id: 'a' })
    answers.set(A, refused)
    await ask()
    expect(to()).toEqual([A, B])
    for (const seconds of [1, 2, 4, 8, 10, 10]) {
      // The jitter is up to a half.
      timers.pass(seconds * 500 - 1)
      await ask()
      expect(to(), `after ${seconds} s`).toEqual([B])
      timers.pass(seconds * 500 + 1)
      await ask()
      await ask()
      expect(to(), `after ${seconds} s`).toEqual([A, B, B])
    }
    answers.delete(A)
    timers.pass(10_000)
    await ask()
    await ask()
    expect(to()).toEqual([A, A])
  })

  test.each([
    [0, 500],
    [0.5, 750],
    [0.999, 1_000],
  ])('is looked at by clients at different times, with a jitter of %d after %i ms', (jitter, ms) => {
    let now = 0
    const processes = createProcesses(
      BOTH,
      () => now,
      () => jitter,
    )
    processes.note(processes.of(ofA), 'away', now)
    while (processes.of(ofA).base === B) now += 1
    expect(now).toBe(ms)
  })

  test('has failed once, if many calls fail together', async () => {
    const { client, answers, to, timers } = network()
    const ask = () => client.getReservation({ userId: ofA, id: 'a' })
    const end = Promise.withResolvers<Response>()
    answers.set(A, () => end.promise)
    const calls = Array.from({ length: 20 }, ask)
    await expect.poll(to).toHaveLength(20)
    timers.pass(1)
    end.reject(new TypeError('reset'))
    await Promise.all(calls)
    to()
    timers.pass(1_000)
    answers.delete(A)
    await ask()
    expect(to()).toEqual([A])
  })

  test('is looked at by one call only, while that is not answered', async () => {
    const { client, answers, to, timers } = network()
    const ask = () => client.getReservation({ userId: ofA, id: 'a' })
    answers.set(A, refused)
    await ask()
    timers.pass(1_000)
    const answer = Promise.withResolvers<Response>()
    answers.set(A, () => answer.promise)
    const look = ask()
    await Promise.all([ask(), ask()])
    expect(to()).toEqual([A, B, A, B, B])
    answer.resolve(Response.json({ state: 'committed' }))
    await look
    answers.delete(A)
    await ask()
    expect(to()).toEqual([A])
  })

  test('is not brought back by an answer that it began before', async () => {
    const { client, answers, to, timers } = network()
    const ask = () => client.getReservation({ userId: ofA, id: 'a' })
    const old = Promise.withResolvers<Response>()
    answers.set(A, () => old.promise)
    const first = ask()
    await expect.poll(to).toEqual([A])
    timers.pass(1)
    answers.set(A, refused)
    await ask()
    old.resolve(Response.json({ state: 'committed' }))
    await first
    await ask()
    expect(to()).toEqual([A, B, B])
  })
})

describe('when all processes fail', () => {
  test('it is an outage as with one URL: as many attempts, then ten failures open the circuit', async () => {
    const tries = async (url: string | string[]) => {
      const { answers, client, sent } = network({ url })
      for (const each of BOTH) answers.set(each, refused)
      const errors = []
      for (let n = 0; n < 4; n++)
        errors.push(await client.getReservation({ userId: ofA, id: 'a' }).catch((error: Error) => error))
      return { errors: errors.map(error => String(error).replace(/in a row.*/, '')), sent: sent.length }
    }
    const one = await tries(A)
    const two = await tries(BOTH)
    expect(two.errors).toEqual(one.errors)
    // The first failure of each goes on to the other without a pause.
    expect(two.sent - one.sent).toBeGreaterThanOrEqual(0)
    expect(two.sent - one.sent).toBeLessThanOrEqual(3)
  })

  test('the first answer brings all back, since what they had in common is', async () => {
    const { client, answers, to, timers } = network()
    const ask = (userId: number) => client.getReservation({ userId, id: 'a' }, { timeoutMs: 1_000 })
    for (const each of BOTH) answers.set(each, problem(503, 'unavailable'))
    for (let n = 0; n < 5; n++) await expect(ask(ofA)).rejects.toMatchObject({ isOutage: true })
    to()
    answers.clear()
    timers.pass(1_000)
    await ask(ofA)
    to()
    await ask(ofA)
    await ask(ofB)
    expect(to()).toEqual([A, B])
  })
})
