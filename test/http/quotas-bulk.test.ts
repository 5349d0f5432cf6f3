/** Bulk changes through the API: what they select, what they change, and what a repeated call does. */
import { expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { verify } from '../../src/db/verify/verify.ts'
import { type Answer, type Service, startService } from '../support/service.ts'

const service = await startService()
const URL = '/api/sms/admin/quota/bulk'

interface BulkCall {
  key?: string
  dryRun?: boolean
  of?: Service
}

let lastKey = 0
const newKey = () => `key-${++lastKey}`

function ask(select: unknown, change: unknown, { key = newKey(), dryRun = false, of = service }: BulkCall = {}) {
  return of.call('POST', `${URL}${dryRun ? '?dry_run=true' : ''}`, {
    body: { select, change },
    headers: { 'idempotency-key': key },
  })
}

/** The records of a bulk change, but for progress, which depends on the time that steps take. */
async function bulk(select: unknown, change: unknown, call: BulkCall = {}) {
  const answer = await ask(select, change, call)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return recordsOf(answer)
}

function recordsOf({ body }: Answer) {
  return String(body)
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
    .filter(({ record }) => record !== 'progress')
}

const end = (changed: number, { before = 0, unchanged = 0, failed = 0 } = {}) => ({
  record: 'end',
  changed,
  changed_before: before,
  unchanged,
  failed,
})
const begin = { record: 'begin', bulk_id: expect.stringMatching(/^bulk-[0-9a-f-]{36}$/) }

let lastUser = 1_000
const someone = () => ++lastUser

async function create(body: object, of = service): Promise<number> {
  const answer = await of.call('POST', '/api/sms/admin/quota', { body })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body.id
}

async function read(id: number) {
  const { body } = await service.call('GET', `/api/sms/admin/quota/${id}`)
  return body
}

test('each change does what the single call does, and the history names the bulk change', async () => {
  const user = someone()
  const expiring = { user_id: user, limit: 100, expires_at: '2026-04-30T22:00:00Z', time_zone: 'Europe/Berlin' }
  const ids = [await create(expiring), await create(expiring)]
  const steps: [change: object, expected: object][] = [
    [{ action: 'suspend' }, { status: 'suspended', enabled: false }],
    [{ action: 'resume' }, { status: 'active', enabled: true }],
    [{ action: 'adjust', delta: 500, reason: 'Goodwill' }, { limit: 600 }],
    // Midnight in Berlin stays midnight there.
    [{ action: 'extend', by: 'P6M' }, { expires_at: '2026-10-31T23:00:00.000Z' }],
    [{ action: 'extend', expires_at: '2027-01-01T00:00:00Z' }, { expires_at: '2027-01-01T00:00:00.000Z' }],
  ]
  let version = 1
  for (const [change, expected] of steps) {
    const records = await bulk({ ids }, change)
    expect(records).toEqual([begin, end(2)])
    version += 1
    for (const id of ids) expect(await read(id)).toMatchObject({ ...expected, version, updated_by: '1' })
    const audit = await service.call('GET', `/api/sms/admin/audit?request_id=${records[0].bulk_id}`)
    expect(
      audit.body.items.map(({ thing_id }: { thing_id: number }) => thing_id).toSorted((a: number, b: number) => a - b),
    ).toEqual(ids)
  }
  const { body } = await service.call('GET', `/api/sms/admin/quota/${ids[0]}/history`)
  expect(body.items[2]).toMatchObject({ reason: 'Goodwill', before: { limit: 100 }, after: { limit: 600 } })
  expect(await bulk({ ids }, { action: 'delete' })).toEqual([begin, end(2)])
  expect((await service.call('GET', `/api/sms/admin/quota/${ids[0]}`)).status).toBe(404)
  expect((await verify(service.db)).differences).toEqual([])
})

test('extended month by month, also by repeated calls, an end keeps the day of the first one', async () => {
  const id = await create({
    user_id: someone(),
    limit: 1,
    time_zone: 'Europe/Berlin',
    expires_at: '2026-12-30T23:00:00Z',
  })
  const ends: string[] = []
  for (const _ of [1, 2, 3, 4]) {
    const key = newKey()
    await bulk({ ids: [id] }, { action: 'extend', by: 'P1M' }, { key })
    await bulk({ ids: [id] }, { action: 'extend', by: 'P1M' }, { key })
    ends.push((await read(id)).expires_at)
  }
  // Midnight in Berlin, on the last days.
  expect(ends).toEqual([
    '2027-01-30T23:00:00.000Z',
    '2027-02-27T23:00:00.000Z',
    '2027-03-30T22:00:00.000Z',
    '2027-04-29T22:00:00.000Z',
  ])
  const back = { expires_at: '2027-02-27T23:00:00Z' }
  expect((await service.call('PUT', `/api/sms/admin/quota/${id}`, { body: back })).status).toBe(200)
  await bulk({ ids: [id] }, { action: 'extend', by: 'P1M' })
  expect((await read(id)).expires_at).toBe('2027-03-30T22:00:00.000Z')
})

test('a repeated call changes each quota at most once, also if others changed it meanwhile', async () => {
  const user = someone()
  const [one, two] = [await create({ user_id: user, limit: 1 }), await create({ user_id: user, limit: 2 })]
  const adjust = { action: 'adjust', delta: 10, reason: 'More' }
  const key = newKey()
  const [{ bulk_id: id }] = await bulk({ user_id: user }, adjust, { key })
  await service.call('PUT', `/api/sms/admin/quota/${one}`, { body: { limit: 5 } })
  const later = await create({ user_id: user, limit: 3 })
  service.clock.now += 1_001
  const latest = await create({ user_id: user, limit: 4 })

  const again = await bulk({ user_id: user }, adjust, { key })
  // A quota that is created more than a second later is not part of it.
  expect(again).toEqual([{ record: 'begin', bulk_id: id }, end(1, { before: 2 })])
  expect(await Promise.all([one, two, later, latest].map(async quota => (await read(quota)).limit))).toEqual([
    5, 12, 13, 4,
  ])

  expect((await ask({ user_id: user, kind: 'grant' }, adjust, { key })).body).toMatchObject({
    code: 'idempotency_mismatch',
    errors: [{ path: '/select' }],
  })
  const other = await ask({ user_id: user }, { ...adjust, delta: 11 }, { key })
  expect(other).toMatchObject({ status: 409, body: { errors: [{ path: '/change' }] } })

  expect(await bulk({ ids: [one] }, { action: 'delete' }, { key: 'delete-one' })).toEqual([begin, end(1)])
  expect(await bulk({ ids: [one] }, { action: 'delete' }, { key: 'delete-one' })).toEqual([
    begin,
    end(0, { before: 1 }),
  ])
})

test('a quota that was made by a clock that was ahead is selected', async () => {
  const user = someone()
  service.clock.now += 3_600_000
  const id = await create({ user_id: user, limit: 1 })
  service.clock.now -= 3_600_000
  expect((await bulk({ user_id: user }, { action: 'suspend' })).at(-1)).toEqual(end(1))
  expect(await read(id)).toMatchObject({ enabled: false })
})

test('calls with the same key at the same time change each quota once', async () => {
  const user = someone()
  const rows = Array.from({ length: 150 }, (_, n) => ({ user_id: user + (n % 10), limit: 1, external_ref: `R-${n}` }))
  lastUser += 10
  await service.call('POST', '/api/sms/admin/quota/import', {
    body: rows.map(row => JSON.stringify(row)).join('\n'),
    headers: { 'content-type': 'application/x-ndjson' },
  })
  const other = await startServiceBeside()
  const adjust = { action: 'adjust', delta: 10, reason: 'More' }
  const select = { user_ids: Array.from({ length: 10 }, (_, n) => user + n) }
  const key = newKey()
  const ends = await Promise.all([service, other, service, other].map(of => bulk(select, adjust, { key, of })))
  const changed = ends.map(records => records.at(-1).changed)
  expect(changed.reduce((sum, count) => sum + count)).toBe(150)
  const { body } = await service.call('GET', `/api/sms/admin/export/quotas?user_id=${user}`)
  const limits = String(body)
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line).limit)
  expect(limits).toEqual(Array.from({ length: 15 }, () => 11))
})

/** A second process on the same database. */
async function startServiceBeside(): Promise<Service> {
  const beside = await startService({ env: { DATABASE_URL: service.databaseUrl } })
  beside.clock.now = service.clock.now
  return beside
}

test('selects by the filters of the list, and by users', async () => {
  const [one, two, three] = [someone(), someone(), someone()]
  const of = new Map<string, number>()
  for (const user of [one, two, three]) {
    for (const [name, more] of Object.entries({
      monthly: { period: 'month' },
      cap: { kind: 'cap' },
      ended: { starts_at: '2026-01-01T00:00:00Z', expires_at: '2026-02-01T00:00:00Z' },
    })) {
      of.set(
        `${user} ${name}`,
        await create({ user_id: user, limit: 9, name: `pick-${name}`, external_ref: `${name}-x`, ...more }),
      )
    }
  }
  const picked = async (select: object) => {
    const records = await bulk(select, { action: 'adjust', delta: 1, reason: 'Which?' }, { dryRun: true })
    expect(records.at(-1)).toMatchObject({ record: 'end', failed: 0 })
    const ids = records.flatMap(({ before }) => (before === undefined ? [] : [before.id]))
    return [...of].filter(([, id]) => ids.includes(id)).map(([name]) => name)
  }
  expect(await picked({ user_ids: [one, two, one], name: 'pick-monthly' })).toEqual([
    `${one} monthly`,
    `${two} monthly`,
  ])
  expect(await picked({ user_ids: [one, two], kind: 'cap' })).toEqual([`${one} cap`, `${two} cap`])
  expect(await picked({ name: 'pick-', status: 'expired' })).toEqual([one, two, three].map(user => `${user} ended`))
  expect(await picked({ external_ref: 'cap-x' })).toHaveLength(3)
  expect(await picked({ user_id: two, expires_before: '2026-03-01T00:00:00Z' })).toEqual([`${two} ended`])
  expect(await picked({ ids: [of.get(`${one} cap`), of.get(`${one} cap`)] })).toEqual([`${one} cap`])
  expect(await picked({ user_ids: [someone()] })).toEqual([])
})

test('a quota that cannot be changed is reported, and the others are changed', async () => {
  const user = someone()
  const unlimited = await create({ user_id: user, limit: null })
  const used = await create({ user_id: user, limit: 100, opening_used: 95 })
  const plain = await create({ user_id: user, limit: 100 })
  const ids = [unlimited, 999_999, used, plain]
  const reduce = { action: 'adjust', delta: -10, reason: 'Less' }
  const records = await bulk({ ids }, reduce)
  expect(records).toEqual([
    begin,
    expect.objectContaining({ record: 'failed', quota_id: unlimited, user_id: user, code: 'invalid_request' }),
    { record: 'failed', quota_id: 999_999, user_id: null, code: 'not_found', detail: 'Quota 999999 does not exist.' },
    expect.objectContaining({ record: 'failed', quota_id: used, code: 'below_usage' }),
    end(1, { failed: 3 }),
  ])
  expect(records[1].detail).toContain('this one is unlimited')
  expect((await bulk({ ids: [used] }, { ...reduce, allow_below_usage: true })).at(-1)).toEqual(end(1))
  const [, failed] = await bulk({ ids: [plain] }, { action: 'extend', by: 'P1D' })
  expect(failed).toMatchObject({ code: 'invalid_request', detail: expect.stringContaining('never does') })
  expect((await bulk({ ids: [plain] }, { action: 'resume' })).at(-1)).toEqual(end(0, { unchanged: 1 }))
})

test("a user's other quotas can forbid that expired ones are revived, not that they are deleted", async () => {
  const user = someone()
  const ended = await create({
    user_id: user,
    limit: 1,
    starts_at: '2026-01-01T00:00:00Z',
    expires_at: '2026-02-01T00:00:00Z',
  })
  const rows = Array.from({ length: 200 }, (_, n) =>
    JSON.stringify({ user_id: user, limit: 1, external_ref: `R-${n}` }),
  )
  const headers = { 'content-type': 'application/x-ndjson' }
  await service.call('POST', '/api/sms/admin/quota/import', { body: rows.join('\n'), headers })
  const [, failed] = await bulk({ ids: [ended] }, { action: 'extend', by: 'P1Y' })
  expect(failed).toMatchObject({ quota_id: ended, user_id: user, code: 'too_many_quotas' })
  expect((await bulk({ user_id: user }, { action: 'delete' })).at(-1)).toEqual(end(201))
  const { body } = await service.call('GET', `/api/sms/admin/quota/list?user_id=${user}`)
  expect(body.total).toBe(0)
})

test('a dry run reports what would change, with examples, and writes nothing', async () => {
  const user = someone()
  for (let n = 0; n < 22; n++) await create({ user_id: user, limit: n, external_ref: `S-${n}` })
  const adjust = { action: 'adjust', delta: -1, reason: 'Less' }
  const key = newKey()
  const countRows = () =>
    service.db.query({
      text: sql`select (select count(*) from quota_change) as changes, (select count(*) from event) as events,
                    (select count(*) from idempotency) as keys`,
    })
  const before = await countRows()
  const records = await bulk({ user_id: user }, adjust, { key, dryRun: true })
  expect(await countRows()).toEqual(before)
  expect(records.at(-1)).toEqual(end(21, { failed: 1 }))
  const samples = records.filter(({ record }) => record === 'sample')
  expect(samples).toHaveLength(20)
  expect(samples[0]).toMatchObject({ before: { limit: 1, version: 1 }, after: { limit: 0, version: 2 } })
  expect((await bulk({ user_id: user }, adjust, { key })).at(-1)).toEqual(end(21, { failed: 1 }))
})

test('quotas are selected page by page, also if the change takes them out of the filter', async () => {
  const rows = Array.from({ length: 450 }, (_, n) =>
    JSON.stringify({ user_id: 200_000 + n, limit: 1, external_ref: `T-${n}`, priority: 9, name: `many-${n % 2}` }),
  )
  const headers = { 'content-type': 'application/x-ndjson' }
  await service.call('POST', '/api/sms/admin/quota/import', { body: rows.join('\n'), headers })
  expect(await bulk({ name: 'many-' }, { action: 'suspend' })).toEqual([begin, end(450)])
  expect(await bulk({ name: 'many-1', status: 'suspended' }, { action: 'resume' })).toEqual([begin, end(225)])
  expect((await bulk({ name: 'many-' }, { action: 'delete' })).at(-1)).toEqual(end(450))
})

test('a proxy is asked not to hold back the lines', async () => {
  const { headers } = await ask({ user_id: someone() }, { action: 'resume' })
  expect(headers).toMatchObject({ 'content-type': 'application/x-ndjson', 'x-accel-buffering': 'no' })
})

test('what selects nothing in particular, or contradicts itself, is refused', async () => {
  const resume = { action: 'resume' }
  const refused: [select: unknown, change: unknown, path: string, message: RegExp][] = [
    [{}, resume, '/select', /at least one field/],
    [{ ids: [1], kind: 'cap' }, resume, '/select/ids', /cannot be combined with kind/],
    [{ ids: [] }, resume, '/select/ids', /1 to 10000/],
    [{ user_ids: [1], user_id: 2 }, resume, '/select/user_ids', /cannot be combined with user_id/],
    [{ status: 'deleted' }, resume, '/select/status', /"active"/],
    [{ kind: 'cap' }, { action: 'explode' }, '/change/action', /"suspend", "resume"/],
    [{ kind: 'cap' }, 'suspend', '/change', /object/],
    [{ kind: 'cap' }, { action: 'suspend', delta: 1 }, '/change/delta', /unknown; accepted are action$/],
    [{ kind: 'cap' }, { action: 'adjust', delta: 1 }, '/change/reason', /is required/],
    [{ kind: 'cap' }, { action: 'adjust', delta: 0, reason: 'x' }, '/change/delta', /whole number/],
    [{ kind: 'cap' }, { action: 'extend' }, '/change', /either expires_at or by/],
    [{ kind: 'cap' }, { action: 'extend', by: 'P1D', expires_at: null }, '/change', /either expires_at or by/],
    [{ kind: 'cap' }, { action: 'extend', by: 'P' }, '/change/by', /a duration in years, months, weeks and days/],
    [{ kind: 'cap' }, { action: 'extend', by: 'PT1H' }, '/change/by', /a duration in years, months, weeks and days/],
  ]
  for (const [select, change, path, message] of refused) {
    const { status, body } = await ask(select, change)
    expect({ status, errors: body.errors }, JSON.stringify([select, change])).toEqual({
      status: 400,
      errors: [{ path, message: expect.stringMatching(message) }],
    })
  }
  const without = await service.call('POST', URL, { body: { select: { kind: 'cap' }, change: resume } })
  expect(without).toMatchObject({
    status: 400,
    body: { errors: [{ path: expect.stringContaining('idempotency-key') }] },
  })
})

test('a key is refused after a day, when the history may not tell any more what was done', async () => {
  const user = someone()
  const id = await create({ user_id: user, limit: 1 })
  const change = { action: 'adjust', delta: 1, reason: 'More' }
  const key = newKey()
  await bulk({ ids: [id] }, change, { key })
  service.clock.now += 86_400_000
  expect(await ask({ ids: [id] }, change, { key })).toMatchObject({
    status: 409,
    body: { code: 'idempotency_mismatch' },
  })
  expect((await read(id)).limit).toBe(2)
})

test('another principal cannot keep a quota out of a bulk change by using its id as X-Request-Id', async () => {
  const user = someone()
  await create({ user_id: user, limit: 1 })
  const key = newKey()
  const [{ bulk_id: id }] = await bulk({ user_id: user }, { action: 'suspend' }, { key })
  // Created within the second in which quotas are still part of it, as one of those that a call which broke off has not reached.
  const rest = await create({ user_id: user, limit: 2 })
  const adjusted = await service.call('POST', `/api/sms/admin/quota/${rest}/adjust`, {
    token: await service.token({ sub: '5', roles: ['sms-quota:support'] }),
    body: { delta: 1, reason: 'x' },
    headers: { 'x-request-id': id },
  })
  expect(adjusted.status).toBe(200)

  expect(await bulk({ user_id: user }, { action: 'suspend' }, { key })).toEqual([begin, end(1, { before: 1 })])
  expect(await read(rest)).toMatchObject({ limit: 3, enabled: false })
})
