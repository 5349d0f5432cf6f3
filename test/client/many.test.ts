/** Imports and bulk changes of the client, also over connections that break. */
import { afterAll, expect, test } from 'vitest'
import { createClientOn } from '../../client/src/client.ts'
import { createClient, QuotaError, UnavailableError } from '../../client/src/main.ts'
import { startService } from '../support/service.ts'
import { FAST } from '../support/timers.ts'

const service = await startService()
const url = await service.app.listen({ port: 0, host: '127.0.0.1' })
const admin = createClient({ url, token: service.adminToken })
afterAll(() => service.app.close())

async function listOf<Record extends { record: string }>(records: AsyncIterable<Record>): Promise<Record[]> {
  return (await Array.fromAsync(records)).filter(({ record }) => record !== 'progress')
}

/** A fetch whose first responses break off after this many bytes, by an error or as if they were complete. */
function breaking(breaks: number, bytes: number, isSilent = false) {
  let calls = 0
  const fetchBroken: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    calls += 1
    if (calls > breaks || response.body === null) return response
    let left = bytes
    const cut = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        controller.enqueue(chunk.subarray(0, left))
        left -= chunk.length
        if (left > 0) return
        if (isSilent) controller.terminate()
        else controller.error(new TypeError('the connection broke'))
      },
    })
    return new Response(response.body.pipeThrough(cut), response)
  }
  return { client: createClientOn(FAST, { url, token: service.adminToken, fetch: fetchBroken }), calls: () => calls }
}

async function* rowsOf(first: number, count: number) {
  for (let n = 0; n < count; n++)
    yield { userId: first + n, externalRef: 'A', limit: n % 5, metadata: { cost_center: 'x' } }
}
const limitsOf = async (userId: number) =>
  (await admin.listQuotas({ userId, sort: 'id' })).items.map(({ limit }) => limit)

test('imports rows in several calls, and names the refused ones by their number', async () => {
  async function* rows() {
    yield* rowsOf(1_000, 2_001)
    yield { userId: 1_000, externalRef: 'A', limit: 1, kind: 'cap' as const }
  }
  const counts = { record: 'end', updated: 0, unchanged: 0, failed: 1 }
  const failed = {
    record: 'failed',
    line: 2_002,
    code: 'immutable_field',
    detail: expect.any(String),
    errors: expect.any(Array),
  }
  expect(await listOf(admin.importQuotas([...(await Array.fromAsync(rowsOf(1, 3)))], { dryRun: true }))).toEqual([
    { ...counts, created: 3, failed: 0 },
  ])
  expect(await listOf(admin.importQuotas(rows(), { requestId: 'move' }))).toEqual([
    failed,
    { ...counts, created: 2_001 },
  ])
  const { items } = await admin.listAudit({ requestId: 'move', pageSize: 1 })
  expect(items[0]?.after).toMatchObject({ metadata: { cost_center: 'x' } })

  const { client, calls } = breaking(1, 20)
  expect(await listOf(client.importQuotas(rowsOf(1_000, 5)))).toEqual([
    { ...counts, created: 0, unchanged: 5, failed: 0 },
  ])
  expect(calls()).toBe(2)
})

test('a bulk change goes on after breaks, and changes each quota once', async () => {
  await listOf(admin.importQuotas(rowsOf(5_000, 300)))
  const select = { userIds: Array.from({ length: 301 }, (_, n) => 5_000 + n) }
  const change = { action: 'adjust', delta: 10, reason: 'More' } as const
  const { client, calls } = breaking(2, 90)
  const records = await listOf(client.bulk({ select, change }))
  expect(calls()).toBe(3)
  const last = records.at(-1)
  if (last?.record !== 'end') throw new Error(`the last record is ${last?.record}`)
  expect(last.changed + last.changedBefore).toBe(300)
  expect(await Promise.all([5_000, 5_299].map(limitsOf))).toEqual([[10], [14]])
  const ids = records.flatMap(record => (record.record === 'begin' ? [record.bulkId] : []))
  expect(new Set(ids).size).toBe(1)

  const [sample, end] = await listOf(admin.bulk({ select: { userId: 5_000 }, change }, { dryRun: true }))
  expect(sample).toMatchObject({ record: 'sample', before: { limit: 10 }, after: { limit: 20 } })
  expect(end).toMatchObject({ record: 'end', changed: 1 })
})

test('a gift goes on after breaks, and each user has one record', async () => {
  await listOf(admin.importQuotas(rowsOf(8_000, 300)))
  const users = Array.from({ length: 301 }, (_, n) => ({ userId: 8_000 + n }))
  const input = { users, units: 10, period: null, reason: 'More' } as const
  const { client, calls } = breaking(2, 90)
  const records = await listOf(client.give(input))
  expect(calls()).toBe(3)
  expect(records.flatMap(record => ('userId' in record ? [record.userId] : []))).toEqual(users.map(user => user.userId))
  const last = records.at(-1)
  if (last?.record !== 'end') throw new Error(`the last record is ${last?.record}`)
  expect([last.given + last.givenBefore, last.leftOut]).toEqual([300, 1])
  expect(await Promise.all([8_000, 8_299].map(limitsOf))).toEqual([
    [0, 10],
    [4, 10],
  ])
  const again = await listOf(admin.give(input, { dryRun: true }))
  expect(again[0]).toMatchObject({ record: 'left_out', reason: 'had_before', quota: { userId: 8_000 } })
})

test('a roll-out goes on after breaks, and each user has the plan', async () => {
  const plan = await admin.createPlan({
    name: 'Basic',
    slots: [{ slot: 'a', limit: 5, metadata: { cost_center: 'x' } }],
  })
  const users = Array.from({ length: 300 }, (_, n) => 20_000 + n)
  const { client, calls } = breaking(2, 90)
  const records = await listOf(client.rollOut({ id: plan.id, users }))
  expect(calls()).toBe(3)
  const last = records.at(-1)
  if (last?.record !== 'end') throw new Error(`the last record is ${last?.record}`)
  expect(last.users.changed + last.users.unchanged).toBe(300)
  expect((await admin.getPlan({ id: plan.id })).users).toEqual([{ version: 1, users: 300 }])
  const late = admin.rollOut({ id: plan.id, users: [20_300] }, { ifMatch: 2 })
  await expect(listOf(late)).rejects.toMatchObject({ code: 'version_mismatch' })
  const preview = await listOf(admin.rollOut({ id: plan.id, users: [20_300] }, { dryRun: true, ifMatch: 1 }))
  expect(preview).toMatchObject([
    { record: 'sample', userId: 20_300 },
    { record: 'end', users: { changed: 1 } },
  ])
  expect((await admin.getPlanOfUser({ userId: 20_300 })).plan).toBeNull()
})

test('a bulk change goes on after a line that was cut', async () => {
  await listOf(admin.importQuotas(rowsOf(6_000, 3)))
  const change = { action: 'adjust', delta: 10, reason: 'More' } as const
  const { client, calls } = breaking(2, 25, true)
  const records = await listOf(client.bulk({ select: { userIds: [6_000, 6_001, 6_002] }, change }))
  expect(calls()).toBe(3)
  expect(records.at(-1)).toMatchObject({ record: 'end', failed: 0 })
  expect(await Promise.all([6_000, 6_001, 6_002].map(limitsOf))).toEqual([[10], [11], [12]])
})

test('an import and a bulk change wait until calls are made again after an outage', async () => {
  let isAway = true
  const client = createClient({
    url,
    token: service.adminToken,
    fetch: (input, init) => (isAway ? Promise.reject(new TypeError('no route')) : fetch(input, init)),
  })
  const look = () => client.whoAmI({}, { timeoutMs: 20 }).catch((error: Error) => error)
  await listOf(admin.importQuotas(rowsOf(7_000, 1)))
  for (let n = 0; n < 10; n++) await look()
  expect(await look()).toMatchObject({ message: expect.stringContaining('10 times in a row') })
  isAway = false
  const change = { action: 'suspend' } as const
  const ends = await Promise.all([
    listOf(client.importQuotas(rowsOf(7_001, 1))),
    listOf(client.bulk({ select: { userIds: [7_000] }, change })),
  ])
  expect(ends.map(records => records.at(-1))).toMatchObject([{ record: 'end', created: 1 }, { changed: 1 }])
})

test('what cannot succeed is thrown', async () => {
  const change = { action: 'suspend' } as const
  await expect(listOf(admin.bulk({ select: {}, change }))).rejects.toThrow(QuotaError)
  const away = createClient({ url: 'http://127.0.0.1:1', token: 'x', isFinal: () => true })
  await expect(listOf(away.bulk({ select: { userId: 1 }, change }))).rejects.toThrow(UnavailableError)
  await expect(listOf(away.importQuotas(rowsOf(1, 1)))).rejects.toThrow(UnavailableError)
  const signal = AbortSignal.abort(new Error('no more'))
  await expect(listOf(admin.bulk({ select: { userId: 1 }, change }, { signal }))).rejects.toThrow('no more')
  const { client } = breaking(Number.POSITIVE_INFINITY, 90)
  await expect(listOf(client.bulk({ select: { userId: 1 }, change }, { timeoutMs: 600 }))).rejects.toThrow(
    UnavailableError,
  )
})
