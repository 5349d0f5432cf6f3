/** Answers that are not the service's, such as a page of a proxy: they are silence, for each operation. */
import { afterAll, describe, expect, test } from 'vitest'
import { type BatchResult, type OperationId, ROUTES } from '../../client/src/api.ts'
import { createClientOn } from '../../client/src/client.ts'
import { type Client, type ClientOptions, createClient } from '../../client/src/main.ts'
import { SENDER_OPERATIONS, type SenderOperation } from '../../client/src/route.ts'
import { FOREIGN_ANSWERS, SOME_FOREIGN_ANSWERS } from '../support/foreign-answers.ts'
import { startService } from '../support/service.ts'
import { FAST } from '../support/timers.ts'

const service = await startService()
const url = await service.app.listen({ port: 0, host: '127.0.0.1' })
afterAll(() => service.app.close())
const admin = createClient({ url, token: service.adminToken })

let users = 0
async function user(): Promise<number> {
  users += 1
  const userId = users
  await admin.createQuota({ userId, limit: 100 })
  return userId
}

const unavailable = { name: 'UnavailableError', mayHaveTakenEffect: true, isOutage: true }
const never = () => expect.unreachable()

const answeredBy = (answer: () => Response, timeoutMs?: number) =>
  createClient({
    url: 'http://service',
    token: 't',
    ...(timeoutMs !== undefined && { senderTimeoutMs: timeoutMs, timeoutMs }),
    fetch: async () => answer(),
  })
/** Each call is one attempt: a retry would come too late. */
const lone = (answer: () => Response) => answeredBy(answer, 20)

const NAMED = { id: 'm', userId: 1, denialId: 'd', delivery: 'd' }
const BATCH = { operations: [{ op: 'release', userId: 1, id: 'm' } as const] }

/** What a proxy answers can be an answer of the service, too: no content, a text, or an object without members of its own. */
function isOwn(operation: OperationId, { status, headers }: Response): boolean {
  const { answers, isLines } = ROUTES[operation]
  const type = headers.get('content-type') ?? ''
  if (answers === undefined) return status === 204 && isLines !== true
  if (status !== 200 || answers.member !== undefined) return false
  return answers.type === 'object' ? type.includes('json') : type.startsWith('text/plain')
}

test.each(Object.entries(FOREIGN_ANSWERS))('no operation takes it for an answer: %s', async (_, answer) => {
  const wrong: unknown[] = []
  for (const operation of Object.keys(ROUTES) as OperationId[]) {
    if (isOwn(operation, answer())) continue
    const call = lone(answer)[operation] as (input: object) => Promise<unknown>
    const got = await call(operation === 'batch' ? BATCH : NAMED).catch((error: unknown) => error)
    if (!(got instanceof Error && Object.entries(unavailable).every(([name, value]) => Object(got)[name] === value)))
      wrong.push([operation, got])
  }
  expect(wrong).toEqual([])
})

const DRAWING: readonly SenderOperation[] = ['check', 'reserve', 'consume']
const bodyOf = (op: SenderOperation) => (DRAWING.includes(op) ? { granted: true } : { state: 'committed' })

test.each([
  ['nothing', []],
  ['too few', [{ status: 200, body: { granted: true } }]],
  ['null', [null, null]],
  ['texts', ['a', 'b']],
  ['other JSON', [{ hello: 1 }, { hello: 1 }]],
  ['no body', [{ status: 200 }, { status: 200 }]],
  ['other bodies', [200, 200].map(status => ({ status, body: { hello: 1 } }))],
  ['the body of another operation', [200, 200].map(status => ({ status, body: { state: 'committed' } }))],
  ['refusals of another service', [404, 404].map(status => ({ status, body: { message: 'Not Found' } }))],
])('a batch takes no results that are not those of its operations: %s', async (_, results) => {
  const client = lone(() => Response.json({ results }))
  const both = await Promise.allSettled([1, 2].map(userId => client.check({ userId, units: 1 })))
  const failed = { status: 'rejected', reason: unavailable }
  expect(both).toMatchObject([failed, failed])
  const operations = [1, 2].map(userId => ({ op: 'check', userId, units: 1 }) as const)
  await expect(client.batch({ operations })).rejects.toMatchObject(unavailable)
})

test('members that a newer service adds are let through', async () => {
  for (const op of SENDER_OPERATIONS) {
    const answer = { ...bodyOf(op), added: [1], newerState: { a: null } }
    const call = answeredBy(() => Response.json(answer))[op] as (input: object) => Promise<unknown>
    expect(await call(NAMED), op).toEqual(answer)
    const together = answeredBy(() => Response.json({ added: 1, results: [{ status: 200, body: answer, added: 1 }] }))
    const batch = together.batch as (input: object) => Promise<BatchResult>
    const { results } = await batch({ operations: [{ ...NAMED, op }] })
    expect(results, op).toMatchObject([{ body: answer }])
  }
})

/** A client whose answers a proxy replaces, for these operations. The calls take effect. */
function clientBehind(answer: () => Response, options: Partial<ClientOptions> = {}) {
  const portal = { replaces: [] as readonly string[], replaced: 0 }
  const client = createClientOn(FAST, {
    url,
    token: service.senderToken,
    senderTimeoutMs: 4_000,
    async fetch(input, init) {
      const took = await fetch(String(input).replace('http://portal', url), init)
      if (!portal.replaces.some(end => String(input).startsWith(end) || String(input).endsWith(`/${end}`))) return took
      await took.arrayBuffer()
      portal.replaced += 1
      return answer()
    },
    ...options,
  })
  return { client, portal }
}

async function closed(client: Client): Promise<void> {
  await expect.poll(() => client.close().then(() => 'closed', String), { timeout: 10_000 }).toBe('closed')
}

describe.each(SOME_FOREIGN_ANSWERS)('behind a proxy that answers %s', (_, answer) => {
  const unsent = [{ userId: expect.any(Number), id: 'm', outcome: 'not-sent' }]

  test('units of a message whose commit took effect are given back', async () => {
    const { client, portal } = clientBehind(answer)
    const userId = await user()
    portal.replaces = ['commit', 'release', 'batch']
    await expect(client.withReservation({ userId, id: 'm', units: 2 }, never)).rejects.toMatchObject(unavailable)
    expect(client.unsettled()).toMatchObject(unsent)
    await expect(client.close()).rejects.toMatchObject({ name: 'UnavailableError' })
    portal.replaces = []
    await closed(client)
    expect(await admin.summarizeQuotasOfUser({ userId })).toMatchObject({ used: 0, reserved: 0 })
  })

  test('units of a message whose send failed are given back', async () => {
    const { client, portal } = clientBehind(answer)
    const userId = await user()
    const fail = () => {
      portal.replaces = ['refund', 'release', 'm', 'batch']
      throw new Error('no route')
    }
    await expect(client.withReservation({ userId, id: 'm', units: 2 }, fail)).rejects.toThrow('no route')
    expect(client.unsettled()).toMatchObject(unsent)
    await expect(client.close()).rejects.toMatchObject({ name: 'UnavailableError' })
    expect(client.unsettled()).toMatchObject(unsent)
    portal.replaces = []
    await closed(client)
    expect(await admin.summarizeQuotasOfUser({ userId })).toMatchObject({ used: 0, reserved: 0 })
  })

  test('calls go to the other URL, alone and together', async () => {
    const { client, portal } = clientBehind(answer, { url: ['http://portal', url], senderTimeoutMs: 20_000 })
    portal.replaces = ['http://portal']
    const owners = await Promise.all(Array.from({ length: 8 }, user))
    for (const userId of owners)
      expect(await client.consume({ userId, id: 'first', units: 1 })).toMatchObject({ granted: true })
    const together = await Promise.all(owners.map(userId => client.reserve({ userId, id: 'm', units: 1 })))
    expect(together.map(({ granted }) => granted)).toEqual(owners.map(() => true))
    expect(portal.replaced).toBeGreaterThan(0)
  })
})
