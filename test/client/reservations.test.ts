/**
 * withReservation when answers are lost or late, and when it is called again: what is charged in the end is what was sent, and
 * nothing is sent twice.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { createClientOn } from '../../client/src/client.ts'
import { type Client, type ClientOptions, createClient, UnknownIfSent } from '../../client/src/main.ts'
import { openJournal } from '../../client/src/node/journal.ts'
import { startService } from '../support/service.ts'
import { FAST } from '../support/timers.ts'

const service = await startService()
const url = await service.app.listen({ port: 0, host: '127.0.0.1' })
const folder = await mkdtemp(join(tmpdir(), 'reservations-'))
afterAll(async () => {
  await service.app.close()
  await rm(folder, { recursive: true, force: true })
})
const admin = createClient({ url, token: service.adminToken })
const sender = createClient({ url, token: service.senderToken })

let users = 100
async function user(limit = 10): Promise<number> {
  users += 1
  await admin.createQuota({ userId: users, limit })
  return users
}

/** What is charged when all reservations have expired, also of calls that the service carries out after their deadline. */
async function charged(userId: number): Promise<number> {
  let used = 0
  const reserved = async () => {
    service.clock.now += 3_600_000
    for await (const { id } of admin.each('listReservations', { userId })) await sender.getReservation({ userId, id })
    const summary = await admin.summarizeQuotasOfUser({ userId })
    used = summary.used
    return summary.reserved
  }
  await expect.poll(reserved).toBe(0)
  return used
}

/** Operations whose answers are lost (`deaf`), or that do not arrive (`away`). */
type Network = { deaf?: readonly string[]; away?: readonly string[] }

function clientOn(network: Network, options: Partial<ClientOptions> = {}): Client {
  return createClientOn(FAST, {
    url,
    token: service.senderToken,
    senderTimeoutMs: 4_000,
    async fetch(input, init) {
      const operation = String(input).replace(/^.*\//, '')
      if (network.away?.includes(operation)) throw new TypeError('no route')
      const answer = await fetch(input, init)
      if (!network.deaf?.includes(operation)) return answer
      await answer.arrayBuffer()
      throw new TypeError('cut off')
    },
    ...options,
  })
}

async function closed(client: Client): Promise<void> {
  await expect.poll(() => client.close().then(() => 'closed', String), { timeout: 10_000 }).toBe('closed')
  expect(client.unsettled()).toEqual([])
}

const fail = () => Promise.reject(new Error('no route'))
const never = () => expect.unreachable()
const unavailable = { name: 'UnavailableError' }

describe('what is not sent is not charged', () => {
  test.each(['reserve', 'commit'])('if the answer to the %s is lost', async operation => {
    const network: Network = { deaf: [operation] }
    const client = clientOn(network)
    const userId = await user()
    await expect(client.withReservation({ userId, id: 'm', units: 2 }, never)).rejects.toMatchObject(unavailable)
    network.deaf = []
    await closed(client)
    expect(await charged(userId)).toBe(0)
  })

  test('if the send fails, and its refund is not answered', async () => {
    const network: Network = { away: ['refund'] }
    const client = clientOn(network)
    const userId = await user()
    await expect(client.withReservation({ userId, id: 'm', units: 2 }, fail)).rejects.toThrow('no route')
    expect(client.unsettled()).toMatchObject([{ userId, id: 'm', outcome: 'not-sent' }])
    await expect(client.close()).rejects.toMatchObject(unavailable)
    const again = client.withReservation({ userId, id: 'm', units: 2 }, never)
    await expect(again).rejects.toMatchObject({ ...unavailable, isOutage: false })
    network.away = []
    await closed(client)
    expect(await charged(userId)).toBe(0)
  })

  test.each(['allow-with-debt', 'lease'] as const)('if the send fails while the service is away (%s)', async policy => {
    const journal = await openJournal(join(folder, policy), { onUnknown: () => 'charge' })
    const network: Network = {}
    const client = clientOn(network, { journal, onUnavailable: policy, outageLease: { units: 5 } })
    const userId = await user()
    await client.withReservation({ userId, id: 'first', units: 1 }, () => 'sent')
    if (policy === 'lease') {
      await expect.poll(async () => (await admin.summarizeQuotasOfUser({ userId })).reserved).toBe(5)
    }
    network.deaf = ['commit']
    await expect(client.withReservation({ userId, id: 'm', units: 2 }, fail)).rejects.toThrow('no route')
    network.deaf = []
    await expect.poll(() => journal.debts(), { timeout: 10_000 }).toEqual([])
    await closed(client)
    expect(await charged(userId)).toBe(1)
    await journal.close()
  })

  test('if its reservation was committed by its expiry in an outage', async () => {
    const userId = await user()
    const journal = await openJournal(join(folder, 'expired'), { onUnknown: () => 'charge' })
    const request = { userId, id: 'm', units: 2, onExpiry: 'commit', ttlSeconds: 1 } as const
    const end = await journal.begin(request)
    await end('not-sent')
    await sender.reserve(request)
    service.clock.now += 2_000
    expect(await sender.getReservation({ userId, id: 'm' })).toMatchObject({ committed: 2 })
    clientOn({}, { journal })
    await expect.poll(() => journal.debts()).toEqual([])
    expect(await charged(userId)).toBe(0)
    await journal.close()
  })
})

describe('what is sent is charged once', () => {
  const ask = (userId: number) => ({ userId, id: 'm', units: 2 })

  test.each(['commit', 'release'] as const)(
    'if another process sends it during a send that fails (onExpiry: %s of the other)',
    async onExpiry => {
      const userId = await user()
      const client = clientOn({})
      const failing = client.withReservation({ ...ask(userId), onExpiry: 'release' }, async () => {
        const other = clientOn({}).withReservation({ ...ask(userId), onExpiry }, () => 'sent', { onRepeated: 'send' })
        expect(await other).toMatchObject({ sent: true })
        return fail()
      })
      await expect(failing).rejects.toThrow('no route')
      await closed(client)
      expect(await charged(userId)).toBe(2)
    },
  )

  test('if another process sends it as a debt while its units are given back', async () => {
    const userId = await user()
    const network: Network = { away: ['commit', 'release'] }
    const client = clientOn(network)
    await expect(client.withReservation(ask(userId), never)).rejects.toMatchObject(unavailable)
    expect(client.unsettled()).toMatchObject([{ userId, id: 'm', outcome: 'not-sent' }])
    const journal = await openJournal(join(folder, 'other'), { onUnknown: () => 'charge' })
    const away: Network = { away: ['reserve'] }
    const other = clientOn(away, { journal, onUnavailable: 'allow-with-debt' })
    expect(await other.withReservation(ask(userId), () => 'sent')).toMatchObject({ sent: true, isDebt: true })
    await expect.poll(() => journal.debts(), { timeout: 5_000 }).toEqual([])
    network.away = []
    await closed(client)
    expect(await charged(userId)).toBe(2)
    await journal.close()
  })

  test('if another sender commits what this one could not', async () => {
    const userId = await user()
    const network: Network = { away: ['commit', 'release'] }
    const client = clientOn(network)
    await expect(client.withReservation(ask(userId), never)).rejects.toMatchObject(unavailable)
    expect(client.unsettled()).toMatchObject([{ userId, id: 'm', outcome: 'not-sent' }])
    const token = await service.token({ sub: 'another', roles: ['sms-quota:sender'] })
    const other = clientOn({}, { token }).withReservation(ask(userId), () => 'sent', { onRepeated: 'send' })
    expect(await other).toMatchObject({ sent: true, settled: { committed: 2 } })
    network.away = []
    await closed(client)
    expect(await charged(userId)).toBe(2)
  })

  test('if another process has booked it as a debt, and this one has not sent it', async () => {
    const userId = await user()
    const journal = await openJournal(join(folder, 'unsent'), { onUnknown: () => 'charge' })
    const end = await journal.begin({ ...ask(userId), onExpiry: 'commit' })
    await end('not-sent')
    await sender.consume({ ...ask(userId), force: true })
    clientOn({}, { journal })
    await expect.poll(() => journal.debts()).toEqual([])
    expect(await charged(userId)).toBe(2)
    await journal.close()
  })

  test('if this process sends it twice at a time, and one send fails', async () => {
    const userId = await user()
    const input = { ...ask(userId), onExpiry: 'release' } as const
    const network: Network = { away: ['commit', 'release'] }
    const client = clientOn(network)
    const failing = client.withReservation(input, async () => {
      const other = client.withReservation(input, () => 'sent', { onRepeated: 'send' })
      expect(await other).toMatchObject({ sent: true, settled: null })
      return fail()
    })
    await expect(failing).rejects.toThrow('no route')
    expect(client.unsettled()).toMatchObject([{ outcome: 'sent' }])
    network.away = []
    await closed(client)
    expect(await charged(userId)).toBe(2)
  })

  test.each(['allow-with-debt', 'lease'] as const)('if the commit is not answered (%s)', async policy => {
    const journal = await openJournal(join(folder, `${policy}-sent`), { onUnknown: () => 'charge' })
    const network: Network = {}
    const client = clientOn(network, { journal, onUnavailable: policy, outageLease: { units: 5 } })
    const userId = await user()
    await client.withReservation({ userId, id: 'first', units: 1 }, () => 'sent')
    if (policy === 'lease') {
      await expect.poll(async () => (await admin.summarizeQuotasOfUser({ userId })).reserved).toBe(5)
    }
    network.deaf = ['commit']
    const sent = await client.withReservation({ userId, id: 'm', units: 2 }, () => 'sent')
    expect(sent).toMatchObject({ sent: true, isDebt: policy === 'allow-with-debt', isLeased: policy === 'lease' })
    // It is not sent again.
    const again = client.withReservation({ userId, id: 'm', units: 2 }, never)
    expect(await again).toEqual({ granted: true, sent: 'before', reservation: null })
    network.deaf = []
    await expect.poll(() => journal.debts(), { timeout: 10_000 }).toEqual([])
    await closed(client)
    expect(await charged(userId)).toBe(3)
    await journal.close()
  })

  test('if its reservation expires before the commit arrives', async () => {
    const network: Network = { away: ['commit'] }
    const client = clientOn(network)
    const userId = await user(2)
    const ask = { userId, id: 'm', units: 2, ttlSeconds: 1, onExpiry: 'release' } as const
    const sent = await client.withReservation(ask, () => 'sent')
    expect(sent).toMatchObject({ sent: true, settled: null, isDebt: false, error: unavailable })
    expect(client.unsettled()).toMatchObject([{ userId, id: 'm', outcome: 'sent' }])
    expect(await client.withReservation(ask, never)).toMatchObject({ sent: 'before' })
    service.clock.now += 2_000
    expect(await sender.getReservation({ userId, id: 'm' })).toMatchObject({ state: 'expired' })
    network.away = []
    await closed(client)
    expect(await charged(userId)).toBe(2)
  })
})

describe('called again', () => {
  const ask = (userId: number, id: string) => ({ userId, id, units: 1 })

  test.each(['commit', 'release'] as const)('it does not send what is committed (onExpiry: %s)', async onExpiry => {
    const userId = await user()
    const input = { ...ask(userId, 'm'), onExpiry }
    await clientOn({}).withReservation(input, () => 'sent')
    const again = await clientOn({}).withReservation(input, never, { onRepeated: 'send' })
    expect(again).toMatchObject({ granted: true, sent: 'before', reservation: { committed: 1 } })
    expect(await charged(userId)).toBe(1)
  })

  test('it sends what is open only if the caller says so', async () => {
    const userId = await user()
    await sender.reserve(ask(userId, 'm'))
    const unknown = await clientOn({}).withReservation(ask(userId, 'm'), never)
    expect(unknown).toMatchObject({ sent: 'unknown', error: { name: 'UnknownIfSent' }, reservation: { id: 'm' } })
    const sent = await clientOn({}).withReservation(ask(userId, 'm'), () => 'sent', { onRepeated: 'send' })
    expect(sent).toMatchObject({ sent: true, settled: { committed: 1 } })
    expect(await charged(userId)).toBe(1)
  })

  test('at the same time in several processes, one sends', async () => {
    const userId = await user()
    let sends = 0
    const call = () => clientOn({}).withReservation(ask(userId, 'm'), () => sends++, { onRepeated: 'send' })
    const results = await Promise.all(Array.from({ length: 8 }, call))
    expect(results.filter(result => result.granted && result.sent === true)).toHaveLength(1)
    // One whose commit comes second cannot tell another call's from its own, which the network has repeated.
    const others = results.flatMap(result => (result.granted && result.sent !== true ? [result.sent] : []))
    expect(others).toHaveLength(7)
    expect(['before', 'unknown']).toEqual(expect.arrayContaining(others))
    expect([sends, await charged(userId)]).toEqual([1, 1])
  })

  test.each(['away', 'deaf'] as const)('it sends what this client could not ask for (%s)', async how => {
    const network: Network = { [how]: ['reserve'] }
    const client = clientOn(network)
    const userId = await user()
    await expect(client.withReservation(ask(userId, 'm'), never)).rejects.toMatchObject(unavailable)
    network[how] = []
    expect(await client.withReservation(ask(userId, 'm'), () => 'sent')).toMatchObject({ sent: true })
    expect(await client.withReservation(ask(userId, 'm'), never)).toMatchObject({ sent: 'before' })
    expect(await charged(userId)).toBe(1)
  })

  test.each([
    ['allow-with-debt', 'commit'],
    ['allow-with-debt', 'release'],
    ['lease', 'commit'],
  ] as const)(
    'in an outage, it does not send what this client has sent (%s, onExpiry: %s)',
    async (policy, onExpiry) => {
      const userId = await user(100)
      const journal = await openJournal(join(folder, `again-${policy}-${onExpiry}`), { onUnknown: () => 'charge' })
      const network: Network = {}
      const client = clientOn(network, { journal, outageLease: { units: 5 }, onUnavailable: policy })
      const send = (id: string, how: () => unknown) => client.withReservation({ ...ask(userId, id), onExpiry }, how)
      await send('sent', () => 'sent')
      await send('unknown', () => Promise.reject(new UnknownIfSent()))
      await expect(send('failed', () => Promise.reject(new Error('no route')))).rejects.toThrow('no route')
      const held = async () => (await admin.summarizeQuotasOfUser({ userId })).reserved
      if (policy === 'lease') await expect.poll(held).toBeGreaterThanOrEqual(5)
      network.away = ['reserve', 'batch', 'commit', 'release', 'refund']
      expect(await send('sent', never)).toMatchObject({ granted: true, sent: 'before', reservation: null })
      const unknown = onExpiry === 'commit' ? 'before' : 'unknown'
      expect(await send('unknown', never)).toMatchObject({ granted: true, sent: unknown, reservation: null })
      // Its units were given back, so that nothing can be charged to its id.
      await expect(send('failed', never)).rejects.toMatchObject(unavailable)
      network.away = []
      await expect.poll(() => journal.debts(), { timeout: 5_000 }).toEqual([])
      await closed(client)
      expect(await charged(userId)).toBe(onExpiry === 'commit' ? 2 : 1)
      await journal.close()
    },
  )

  test.each([
    [429, 'text/html'],
    [500, 'application/problem+json'],
  ])('in vain (%i), it does not send then what may have been sent', async (status, type) => {
    const userId = await user()
    let isPassing = true
    const body = JSON.stringify({ code: 'internal', status, detail: 'It failed.' })
    const failed = () => new Response(body, { status, headers: { 'content-type': type } })
    const client = clientOn({}, { fetch: async (input, init) => (isPassing ? fetch(input, init) : failed()) })
    const request = { ...ask(userId, 'm'), onExpiry: 'release' } as const
    const unknown = () => Promise.reject(new UnknownIfSent())
    expect(await client.withReservation(request, unknown)).toMatchObject({ sent: 'unknown' })
    isPassing = false
    await expect(client.withReservation(request, never)).rejects.toMatchObject({ mayHaveTakenEffect: true })
    isPassing = true
    expect(await client.withReservation(request, never)).toMatchObject({ sent: 'unknown' })
  })

  test('whose commit arrives twice, and is answered as the second, it says that it does not know', async () => {
    const userId = await user()
    const client = clientOn(
      {},
      {
        async fetch(input, init) {
          if (String(input).endsWith('/commit')) await (await fetch(input, init)).arrayBuffer()
          return fetch(input, init)
        },
      },
    )
    const repeated = await client.withReservation(ask(userId, 'm'), never)
    expect(repeated).toMatchObject({ sent: 'unknown', error: { name: 'UnknownIfSent' }, reservation: { committed: 1 } })
    expect(await charged(userId)).toBe(1)

    // Also if another call has reserved it: one of this client in vain, or one of another process.
    await sender.reserve(ask(userId, 'open'))
    const open = await client.withReservation(ask(userId, 'open'), never, { onRepeated: 'send' })
    expect(open).toMatchObject({ sent: 'unknown', error: { name: 'UnknownIfSent' }, reservation: { committed: 1 } })
    expect(await charged(userId)).toBe(2)
  })

  test('whose reserve was made in vain before, and whose commit arrives twice, it says that it does not know', async () => {
    const userId = await user()
    let isDeaf = true
    const client = clientOn(
      {},
      {
        async fetch(input, init) {
          if (isDeaf || String(input).endsWith('/commit')) await (await fetch(input, init)).arrayBuffer()
          if (isDeaf) throw new TypeError('cut off')
          return fetch(input, init)
        },
      },
    )
    await expect(client.withReservation(ask(userId, 'm'), never)).rejects.toMatchObject(unavailable)
    isDeaf = false
    const repeated = await client.withReservation(ask(userId, 'm'), never)
    expect(repeated).toMatchObject({ sent: 'unknown', error: { name: 'UnknownIfSent' }, reservation: { committed: 1 } })
    expect(await charged(userId)).toBe(1)
  })

  test('with a token that may not force, it does not send what is charged as a debt', async () => {
    const userId = await user(0)
    const journal = await openJournal(join(folder, 'charged'), { onUnknown: () => 'charge' })
    const network: Network = { away: ['reserve'] }
    const client = clientOn(network, { journal, onUnavailable: 'allow-with-debt' })
    expect(await client.withReservation(ask(userId, 'm'), () => 'sent')).toMatchObject({ sent: true, isDebt: true })
    await expect.poll(() => journal.debts(), { timeout: 5_000 }).toEqual([])
    await journal.close()
    const token = await service.token({ sub: 'another', roles: ['sms-quota:sender'] })
    const again = await clientOn({}, { token }).withReservation(ask(userId, 'm'), never)
    expect(again).toMatchObject({ granted: true, sent: 'before', reservation: { committed: 1 } })
    const other = clientOn({}, { token }).withReservation({ ...ask(userId, 'm'), units: 2 }, never)
    await expect(other).rejects.toMatchObject({ code: 'idempotency_mismatch' })
    expect(await charged(userId)).toBe(1)
  })

  test('it leaves a debt of an earlier process as it is', async () => {
    const userId = await user()
    const path = join(folder, 'unknown')
    const journal = await openJournal(path, { onUnknown: () => Promise.reject(new Error('ask later')) })
    const network: Network = { away: ['reserve'] }
    const client = clientOn(network, { journal, onUnavailable: 'allow-with-debt' })
    const first = client.withReservation(ask(userId, 'm'), () => Promise.reject(new UnknownIfSent()))
    expect(await first).toMatchObject({ sent: 'unknown' })
    expect(await client.withReservation(ask(userId, 'm'), never)).toMatchObject({ sent: 'unknown', reservation: null })
    await client.withReservation(ask(userId, 'm'), () => 'sent', { onRepeated: 'send' })
    network.away = []
    await expect.poll(() => journal.debts(), { timeout: 5_000 }).toEqual([])
    expect(await charged(userId)).toBe(1)
    await journal.close()
  })
})

describe('a code that was entered is counted once', () => {
  async function verified(userId: number): Promise<number> {
    const period = { from: '2026-01-01T00:00:00Z', to: '2028-01-01T00:00:00Z', interval: 'month' } as const
    return (await admin.reportUsage({ userId, ...period })).total.verifiedMessages
  }

  test('by its reservation or its name, if answers are lost and if the service is away', async () => {
    const network: Network = { deaf: ['feedback', 'batch'] }
    const client = clientOn(network)
    const userId = await user()
    const reservation = await sender.consume({ userId, id: 'm', units: 1 })
    if (!reservation.granted) expect.unreachable()
    await client.verified(reservation)
    expect(client.unsettled()).toMatchObject([{ userId, id: 'm', outcome: 'verified' }])
    // Feedback that is open keeps no message from being sent, and closes no id.
    network.deaf = []
    expect(await client.withReservation({ userId, id: 'n', units: 1 }, () => 'sent')).toMatchObject({ sent: true })
    network.away = ['feedback', 'batch']
    await client.verified({ userId, id: 'n' })
    await expect(client.close()).rejects.toMatchObject(unavailable)
    network.away = []
    await Promise.all([client.verified({ userId, id: 'm' }), client.verified({ userId, id: 'n' })])
    await closed(client)
    expect(await client.feedback({ userId, id: 'n', verified: true })).toMatchObject({ verified: true, replayed: true })
    expect(await verified(userId)).toBe(2)
    await expect(client.verified({ userId, id: 'nowhere' })).rejects.toMatchObject({ code: 'not_found' })
    expect(client.unsettled()).toEqual([])
  })

  test('of a debt, which makes its reservation later', async () => {
    const journal = await openJournal(join(folder, 'entered'), { onUnknown: () => 'charge' })
    const network: Network = { away: ['reserve', 'consume'] }
    const client = clientOn(network, { journal, onUnavailable: 'allow-with-debt' })
    const userId = await user()
    expect(await client.withReservation({ userId, id: 'm', units: 1 }, () => 'sent')).toMatchObject({ isDebt: true })
    await client.verified({ userId, id: 'm' })
    network.away = []
    await expect.poll(() => journal.debts(), { timeout: 5_000 }).toEqual([])
    await closed(client)
    expect(await verified(userId)).toBe(1)
    await journal.close()
  })
})
