/** The import of quotas through the API: what it writes, what it refuses, and where it stops. */
import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, test, vi } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { verify } from '../../src/db/verify/verify.ts'
import { importOf } from '../../src/http/quotas/import.ts'
import { type Service, startService } from '../support/service.ts'
import { rawSql } from '../support/sql.ts'

const service = await startService()
const URL = '/api/sms/admin/quota/import'

interface ImportCall {
  dryRun?: boolean
  of?: Service
  requestId?: string
}

/** Imports rows and returns the records of the response, but for progress, which depends on the time that steps take. */
async function importRows(rows: readonly unknown[], { dryRun = false, of = service, requestId }: ImportCall = {}) {
  const body = rows.map(row => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join('')
  const headers = {
    'content-type': 'application/x-ndjson',
    ...(requestId === undefined ? {} : { 'x-request-id': requestId }),
  }
  const answer = await of.call('POST', `${URL}${dryRun ? '?dry_run=true' : ''}`, { body, headers })
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return String(answer.body)
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
    .filter(({ record }) => record !== 'progress')
}

let lastUser = 1_000
const someone = () => ++lastUser
const counts = (created: number, updated: number, unchanged: number, failed = 0) => ({
  record: 'end',
  created,
  updated,
  unchanged,
  failed,
})

async function quotasOf(user: number, of = service) {
  const { body } = await of.call('GET', `/api/sms/admin/quota/list?user_id=${user}&sort=id`)
  return body.items
}

test('creates quotas, and then updates those that differ', async () => {
  const [one, two] = [someone(), someone()]
  const rows = [
    { user_id: one, external_ref: 'A', limit: 100, name: 'First' },
    { user_id: two, external_ref: 'A', limit: 200, opening_used: 50 },
    { user_id: one, external_ref: 'B', limit: 300, kind: 'cap', period: 'month' },
  ]
  expect(await importRows(rows, { requestId: 'first-import' })).toEqual([counts(3, 0, 0)])
  expect(await importRows(rows)).toEqual([counts(0, 0, 3)])
  const changed = [{ user_id: one, external_ref: 'A', limit: 150 }, ...rows.slice(1)]
  expect(await importRows(changed, { requestId: 'second-import' })).toEqual([counts(0, 1, 2)])

  const [first, cap] = await quotasOf(one)
  // The row of the second import does not name the name, so it stays.
  expect(first).toMatchObject({ external_ref: 'A', limit: 150, name: 'First', version: 2, updated_by: '1' })
  expect(cap).toMatchObject({ external_ref: 'B', kind: 'cap', version: 1 })
  expect((await quotasOf(two))[0]).toMatchObject({ used: 50, remaining: 150 })

  const { body } = await service.call('GET', `/api/sms/admin/quota/${first.id}/history`)
  expect(body.items).toMatchObject([
    { version: 2, action: 'updated', actor: '1', request_id: 'second-import', before: { limit: 100 } },
    { version: 1, action: 'created', actor: '1', request_id: 'first-import', before: null },
  ])
  const audit = await service.call('GET', '/api/sms/admin/audit?request_id=first-import')
  expect(audit.body.items).toHaveLength(3)
})

const PLANS = '/api/sms/admin/plans'
async function createPlan(name: string, ...slots: object[]): Promise<number> {
  return (await service.call('POST', PLANS, { body: { name, slots } })).body.id
}
const planOf = async (user: number) => (await service.call('GET', `/api/sms/admin/users/${user}/plan`)).body.plan

test('a row with a plan gives it, by id or by name, and what was exported changes nothing', async () => {
  const slots = [
    { slot: 'monthly', limit: 100, period: 'month' },
    { slot: 'daily', kind: 'cap', limit: 10, period: 'day' },
  ]
  const basic = await createPlan('Imported', ...slots)
  const gold = await createPlan('Gold', ...slots, { slot: 'extra', limit: 5 })
  const [one, two, three] = [someone(), someone(), someone()]
  const rows = [
    { user_id: one, plan: 'Imported' },
    // Of the same user, and of another one, between rows of plans.
    { user_id: one, external_ref: 'own', limit: 7 },
    { user_id: two, external_ref: 'own', limit: 7 },
    { user_id: two, plan: gold },
    { user_id: three, user_ref: null, plan: 'Gold' },
  ]
  const dryRun = await importRows(rows, { dryRun: true })
  expect([dryRun, await planOf(one)]).toEqual([[counts(5, 0, 0)], null])
  expect(await importRows(rows, { requestId: 'plans-import' })).toEqual([counts(5, 0, 0)])
  expect(await importRows(rows)).toEqual([counts(0, 0, 5)])
  expect(await Promise.all([one, two, three].map(planOf))).toMatchObject([{ id: basic }, { id: gold }, { id: gold }])
  const audit = await service.call('GET', '/api/sms/admin/audit?request_id=plans-import')
  expect(audit.body.items).toHaveLength(10)

  // An export has the plan of each quota; a later version is not given by it.
  const exported = await Promise.all([one, two, three].map(user => quotasOf(user)))
  const lines = exported.flat()
  await service.call('PUT', `${PLANS}/${gold}`, { body: { name: 'Gold 2' } })
  expect(await importRows(lines)).toEqual([counts(0, 0, lines.length)])
  expect(await planOf(two)).toMatchObject({ name: 'Gold', version: 1 })
  // The last row of a user counts, as with quotas.
  const again = [
    { user_id: one, plan: gold },
    { user_id: one, plan: basic },
    { user_id: two, plan: 'Gold 2' },
  ]
  expect(await importRows(again)).toEqual([counts(0, 3, 0)])
  expect(await Promise.all([one, two].map(planOf))).toMatchObject([{ id: basic }, { id: gold, version: 2 }])
})

test('a row with a plan that cannot be given is refused, and the others are not', async () => {
  const [user, full] = [someone(), someone()]
  const plan = await createPlan('Twice', { slot: 'a', limit: 1 })
  const twin = await createPlan('Twice', { slot: 'a', limit: 1 })
  const archived = await createPlan('Archived', { slot: 'a', limit: 1 })
  await service.call('DELETE', `${PLANS}/${archived}`)
  await importRows(Array.from({ length: 200 }, (_, n) => ({ user_id: full, external_ref: `r${n}`, limit: 1 })))
  const refused: [row: object, error: object][] = [
    [
      { user_id: user, plan: 'Twice' },
      { path: '/plan', message: expect.stringContaining(`such as ${plan} and ${twin}`) },
    ],
    [
      { user_id: user, plan: 'Archived' },
      { path: '/plan', message: expect.stringContaining('not "Archived"') },
    ],
    [
      { user_id: user, plan: archived },
      { path: '/plan', message: expect.stringContaining(`not ${archived}`) },
    ],
    [{ user_id: user, plan: 999_999 }, { path: '/plan' }],
    [{ user_id: user, plan: 0 }, { path: '/plan' }],
    [{ user_id: user, plan: true }, { path: '/plan' }],
    [{ user_id: user, plan: { id: plan } }, { path: '/external_ref' }],
    [{ user_id: user, plan, limit: 5, external_ref: 'a' }, { path: '/limit' }],
    [{ plan }, { path: '/user_id' }],
  ]
  const rows = [...refused.map(([row]) => row), { user_id: full, plan }, { user_id: user, plan }]
  for (const dryRun of [true, false]) {
    // Each step reports its rows when it is done.
    const [end, ...failed] = (await importRows(rows, { dryRun })).toReversed()
    const records = failed.toSorted((former, latter) => former.line - latter.line)
    expect([...records, end]).toMatchObject([
      ...refused.map((_, index) => ({ record: 'failed', line: index + 1, code: 'invalid_request' })),
      { record: 'failed', line: 10, code: 'too_many_quotas' },
      counts(1, 0, 0, 10),
    ])
    for (const [index, [, error]] of refused.entries())
      expect(records[index].errors, `line ${index + 1}`).toContainEqual({ message: expect.any(String), ...error })
  }
})

/** What an administrator may ask for, in an order in which each kind of change occurs. */
function changesOf(user: number): Record<string, unknown>[] {
  return [
    { user_id: user, external_ref: 'plain', limit: 1_000 },
    { user_id: user, external_ref: 'used', limit: 100, opening_used: 90, alert_at: [50, 80, 100] },
    { user_id: user, external_ref: 'empty', limit: 0 },
    {
      user_id: user,
      external_ref: 'over',
      limit: 10,
      starts_at: '2026-01-01T00:00:00Z',
      expires_at: '2026-02-01T00:00:00Z',
    },
    {
      user_id: user,
      external_ref: 'all',
      limit: 500,
      name: 'Ümläute "quoted" \\ and , { }',
      period: 'day',
      time_zone: 'Europe/Berlin',
      rollover_limit: 50,
      overage_limit: 5,
      priority: 3,
      countries: ['DE', 'AT'],
      message_types: ['otp'],
      metadata: { contract: 'K-1', 'a.b': '"' },
    },
    { user_id: user + 1, external_ref: 'plain', kind: 'cap', limit: 5, period: 'hour', enabled: false },
  ]
}

const updatesOf = (user: number): Record<string, unknown>[] => [
  { user_id: user, external_ref: 'plain', limit: 2_000, name: null },
  { user_id: user, external_ref: 'used', limit: 180 },
  { user_id: user, external_ref: 'empty', limit: 5 },
  { user_id: user, external_ref: 'over', limit: 10, expires_at: '2027-01-01T00:00:00Z' },
  { user_id: user, external_ref: 'all', metadata: {}, countries: null, limit: 500 },
  { user_id: user + 1, external_ref: 'plain', expires_at: '2026-03-16T00:00:00Z', limit: 5 },
]

test('writes exactly what single calls write', async () => {
  const single = await startService()
  const user = 70_000
  const imported = await startService()
  const clocks = [single.clock, imported.clock]

  const ids = new Map<string, number>()
  for (const body of changesOf(user)) {
    const answer = await single.call('POST', '/api/sms/admin/quota', { body, headers: { 'x-request-id': 'r' } })
    ids.set(`${body.user_id} ${body.external_ref}`, answer.body.id)
  }
  expect(await importRows(changesOf(user), { of: imported, requestId: 'r' })).toEqual([counts(6, 0, 0)])
  expect(await stateOf(imported)).toEqual(await stateOf(single))

  // Past the ends of the windows by the hour and by the day, so that an update closes them.
  for (const clock of clocks) clock.now += 36 * 3_600_000
  const updates = updatesOf(user)
  for (const { external_ref, user_id, ...body } of updates) {
    const url = `/api/sms/admin/quota/${ids.get(`${user_id} ${external_ref}`)}`
    await single.call('PUT', url, { body, headers: { 'x-request-id': 'r' } })
  }
  expect(await importRows(updates, { of: imported, requestId: 'r' })).toEqual([counts(0, 6, 0)])
  const [one, other] = [await stateOf(imported), await stateOf(single)]
  expect(one).toEqual(other)
  expect(one.quota_window).toHaveLength(2)
  expect(one.quota_alert?.length).toBeGreaterThan(0)
  expect((await verify(imported.db)).differences).toEqual([])
})

/** The rows of every table that a change of a quota writes to, but for the fence, which counts how many calls there were. */
async function stateOf({ db }: Service): Promise<Record<string, unknown[]>> {
  const tables = [
    'account',
    'quota',
    'quota_window',
    'quota_alert',
    'quota_change',
    'reservation',
    'event',
    'shard_head',
  ]
  const state: Record<string, unknown[]> = {}
  for (const table of tables) {
    const rows = await db.query<{ row: object }>({
      text: rawSql`select to_jsonb(t) - 'seq' as row from ${table} t order by ${table === 'event' ? '(shard, number)' : '1'}`,
    })
    state[table] = rows.map(({ row }) => row)
  }
  return state
}

test('reports each bad row by its line and field, and imports the others', async () => {
  const user = someone()
  const records = await importRows([
    { user_id: user, external_ref: 'good', limit: 1 },
    { user_id: user, limit: 1 },
    '',
    { user_id: user, external_ref: 'x', limit: -1, prioritty: 3 },
    'not JSON',
    { user_id: user, external_ref: 'cap', limit: null, kind: 'cap' },
    { user_id: user, external_ref: 'good', limit: 1, kind: 'cap' },
    { user_id: user, external_ref: 'last', limit: 7 },
  ])
  expect(records.at(-1)).toEqual(counts(2, 0, 0, 5))
  const failed = records.slice(0, -1)
  expect(
    failed.map(({ line, code, errors }) => [line, code, errors.map(({ path }: { path: string }) => path)]),
  ).toEqual([
    [2, 'invalid_request', ['/external_ref']],
    [4, 'invalid_request', ['/prioritty', '/limit']],
    [5, 'invalid_request', ['']],
    [6, 'invalid_request', ['/limit']],
    [7, 'immutable_field', ['/kind']],
  ])
  expect(failed[0].errors[0].message).toMatch(/^is required: text .* of 1 to 120 characters$/)
  expect(failed[2].errors[0].message).toBe('must be one JSON object a line')
  expect((await quotasOf(user)).map((quota: { external_ref: string }) => quota.external_ref)).toEqual(['good', 'last'])
})

test('a name that an object has twice is refused, and no other', async () => {
  const user = someone()
  const rest = `"user_id":${user},"external_ref":"A","limit":1`
  const twice: [line: string, path: string][] = [
    [`{${rest},"limit":1000}`, '/limit'],
    [`{${rest}, "limit" : 1}`, '/limit'],
    [`{${rest},"l\\u0069mit":1000}`, '/limit'],
    [`{${rest},"metadata":{"a\\"b":"1","c":"2","a\\"b":"3"}}`, '/metadata/a"b'],
    [`{"name":"x",${rest},"metadata":{"name":"y"},"name":null}`, '/name'],
  ]
  const records = await importRows(twice.map(([line]) => line))
  expect(records).toMatchObject([
    ...twice.map(([, path]) => ({
      record: 'failed',
      errors: [{ path, message: expect.stringMatching(/^is there twice/) }],
    })),
    counts(0, 0, 0, twice.length),
  ])
  const name = JSON.stringify('"limit":1, "limit" :2, \\"limit\\":3, {"a":1,"a":1} \\')
  const fine = `{${rest},"name":${name},"metadata":{"name":"limit","limit":"\\\\","a":":"},"countries":["DE","AT"]}`
  expect(await importRows([fine])).toEqual([counts(1, 0, 0)])
})

test('names that lead to prototypes are refused, as by every other call', async () => {
  const user = someone()
  const row = (rest: string) => `{"user_id":${user},"external_ref":"A","limit":1,${rest}}`
  const bodies = [
    '"metadata":{"__proto__":"x"}',
    '"metadata":{"\\u005f_proto\\u005F_":"x"}',
    '"metadata":{"a":{"b/~":[{"__proto__":{}}]}}',
    '"__proto__":{"limit":5}',
  ]
  const records = await importRows(bodies.map(row))
  expect(records.at(-1)).toEqual(counts(0, 0, 0, bodies.length))
  const message = 'is a name that is not accepted anywhere'
  expect(records.slice(0, -1).map(({ errors }) => errors)).toEqual(
    ['/metadata/__proto__', '/metadata/__proto__', '/metadata/a/b~1~0/0/__proto__', '/__proto__'].map(path => [
      { path, message },
    ]),
  )
  for (const body of bodies) {
    expect((await service.call('POST', '/api/sms/admin/quota', { body: row(body) })).status).toBe(400)
  }
  expect(await quotasOf(user)).toEqual([])
  // As values, and as a name of metadata, they are like any other text.
  const harmless = row('"name":"__proto__ \\u005f constructor","metadata":{"constructor":"prototype"}')
  expect(await importRows([harmless])).toEqual([counts(1, 0, 0)])
})

test('the rules of single changes hold', async () => {
  const [full, drawn, erased, twice] = [someone(), someone(), someone(), someone()]
  const many = Array.from({ length: 201 }, (_, n) => ({ user_id: full, external_ref: `Q-${n}`, limit: n }))
  const crowded = await importRows(many)
  expect(crowded).toEqual([expect.objectContaining({ line: 201, code: 'too_many_quotas' }), counts(200, 0, 0, 1)])

  await importRows([{ user_id: drawn, external_ref: 'A', limit: 100, opening_used: 60 }])
  const below = { user_id: drawn, external_ref: 'A', limit: 50 }
  expect(await importRows([below])).toEqual([expect.objectContaining({ code: 'below_usage' }), counts(0, 0, 0, 1)])
  expect(await importRows([{ ...below, allow_below_usage: true }])).toEqual([counts(0, 1, 0)])
  // It counts when the quota is created only, so an import can be repeated.
  expect(await importRows([{ ...below, opening_used: 60 }])).toEqual([counts(0, 0, 1)])

  await importRows([{ user_id: erased, external_ref: 'A', limit: 1 }])
  await service.call('DELETE', `/api/sms/admin/users/${erased}/data`)
  expect(await importRows([{ user_id: erased, external_ref: 'B', limit: 1 }])).toEqual([
    expect.objectContaining({ code: 'being_erased' }),
    counts(0, 0, 0, 1),
  ])

  const rows = [1, 2, 2].map(limit => ({ user_id: twice, external_ref: 'A', limit }))
  expect(await importRows(rows)).toEqual([counts(1, 1, 1)])
})

test('a row with an id updates that quota, with any reference, and never creates one', async () => {
  const [user, other, unknown] = [someone(), someone(), someone()]
  const rows = [
    { user_id: user, external_ref: 'A', limit: 100, name: 'First' },
    { user_id: user, external_ref: 'B', limit: 200 },
    { user_id: other, external_ref: 'A', limit: 300 },
  ]
  await importRows(rows)
  const [one, two] = await quotasOf(user)
  const [foreign] = await quotasOf(other)
  const changes = [
    // It needs nothing but what changes; null takes the reference away.
    { id: one.id, user_id: user, external_ref: null, name: null },
    // The same quota again, and one that an earlier row names by its id: each on what is before it.
    { id: one.id, user_id: user, limit: 150 },
    { user_id: user, external_ref: 'B', limit: 250 },
    { id: two.id, user_id: user, external_ref: 'C' },
    { user_id: user, external_ref: 'C', limit: 260 },
    { id: two.id, user_id: user, limit: 260, opening_used: 5 },
    { id: foreign.id, user_id: user, limit: 1 },
    { id: foreign.id + 1, user_id: other, limit: 1 },
    { id: foreign.id, user_id: unknown, limit: 1, external_ref: 'A' },
    { id: two.id, user_id: user, kind: 'cap' },
    { id: foreign.id, user_id: other, external_ref: 'D', limit: null },
    { user_id: other, external_ref: 'A', limit: 5 },
    { id: foreign.id, user_id: other, external_ref: 'A' },
    { id: null, user_id: other, limit: 5, external_ref: 'E' },
    { user_id: other, limit: 5, external_ref: null },
  ]
  const byLine = (found: Awaited<ReturnType<typeof importRows>>) =>
    found.toSorted((first, second) => (first.line ?? 99) - (second.line ?? 99))
  const preview = byLine(await importRows(changes, { dryRun: true }))
  expect(await quotasOf(user)).toEqual([one, two])
  const records = byLine(await importRows(changes))
  // A dry run has no ids for what it would create.
  const withoutDetail = records.map(({ detail: _, ...record }) => record)
  expect(preview.map(({ detail: _, ...record }) => record)).toEqual(withoutDetail)
  const message =
    'must be the id of an undeleted quota of this user_id. Leave the id out to find the quota by its external_ref, or to create it.'
  expect(records.map(({ line, code, errors = [] }) => [line, code, ...errors.map(Object.values)])).toEqual([
    [7, 'invalid_request', ['/id', message]],
    [8, 'invalid_request', ['/id', message]],
    [9, 'invalid_request', ['/id', message]],
    [10, 'immutable_field', ['/kind', expect.stringContaining('cannot be changed')]],
    [13, 'conflict'],
    [14, 'invalid_request', ['/id', expect.stringContaining('must be a whole number from 1')]],
    [15, 'invalid_request', ['/external_ref', expect.stringContaining('must be text')]],
    [undefined, undefined],
  ])
  expect(records.at(-1)).toEqual(counts(1, 6, 1, 7))
  expect(await quotasOf(user)).toMatchObject([
    { id: one.id, limit: 150, name: null, external_ref: null },
    { id: two.id, limit: 260, external_ref: 'C', used: 0 },
  ])
  expect(await quotasOf(other)).toMatchObject([
    { id: foreign.id, external_ref: 'D', limit: null },
    { external_ref: 'A', limit: 5 },
  ])
  // A user that has nothing is not made by a row that is refused.
  const accounts = { text: sql`select user_id from account where user_id = $1`, values: [unknown] }
  expect(await service.db.query(accounts)).toEqual([])
  await service.call('DELETE', `/api/sms/admin/quota/${one.id}`)
  expect(await importRows([{ id: one.id, user_id: user, limit: 1 }])).toEqual([
    expect.objectContaining({ code: 'invalid_request', errors: [{ path: '/id', message }] }),
    counts(0, 0, 0, 1),
  ])
})

test('quotas of users in turn are named by their ids and by references', async () => {
  const users = Array.from({ length: 5 }, someone)
  const known = users.filter((_, nth) => nth % 2 === 0)
  await importRows(known.map(user_id => ({ user_id, external_ref: 'A', limit: 1 })))
  const ids = new Map<number, number>()
  for (const user of known) ids.set(user, (await quotasOf(user))[0].id)
  const rows = users.map(user_id => ({ user_id, id: ids.get(user_id), external_ref: 'A', limit: 2 }))
  expect(await importRows(rows)).toEqual([counts(2, 3, 0)])
  const accounts = { text: sql`select user_id from account where user_id = any($1) order by 1`, values: [users] }
  expect(await service.db.query(accounts)).toEqual(users.map(user_id => ({ user_id })))
  expect(await Promise.all(users.map(async user => (await quotasOf(user))[0].limit))).toEqual([2, 2, 2, 2, 2])
})

test('a day, or a time without an offset, is in the time zone of the row, or else of its quota', async () => {
  const user = someone()
  const row = (external_ref: string, more: object) => ({ user_id: user, external_ref, limit: 1, ...more })
  const ends = async () =>
    Object.fromEntries(
      (await quotasOf(user)).map((quota: Record<string, string>) => [quota.external_ref, quota.expires_at]),
    )
  const rows = [
    row('utc', { expires_at: '2027-12-31' }),
    row('berlin', { expires_at: '2027-12-31', time_zone: 'Europe/Berlin' }),
    row('summer', { expires_at: '2027-07-01T12:30', time_zone: 'europe/berlin', starts_at: '2026-07-01' }),
    // The clocks of Santiago skip this midnight.
    row('skipped', { expires_at: '2027-09-05', time_zone: 'America/Santiago' }),
    row('exact', { expires_at: '2027-12-31T00:00:00Z', time_zone: 'Asia/Tokyo' }),
  ]
  expect(await importRows(rows, { dryRun: true })).toEqual([counts(5, 0, 0)])
  expect(await importRows(rows)).toEqual([counts(5, 0, 0)])
  expect(await importRows(rows)).toEqual([counts(0, 0, 5)])
  expect(await ends()).toEqual({
    utc: '2027-12-31T00:00:00.000Z',
    berlin: '2027-12-30T23:00:00.000Z',
    summer: '2027-07-01T10:30:00.000Z',
    skipped: '2027-09-05T04:00:00.000Z',
    exact: '2027-12-31T00:00:00.000Z',
  })
  const { id, starts_at } = (await quotasOf(user)).find(
    (quota: { name: string; external_ref: string }) => quota.external_ref === 'summer',
  )
  expect(starts_at).toBe('2026-06-30T22:00:00.000Z')
  // A row that updates need not name the time zone again.
  const later = [row('berlin', { expires_at: '2028-01-01' }), { id, user_id: user, expires_at: '2028-07-01' }]
  expect(await importRows(later, { dryRun: true })).toEqual([counts(0, 2, 0)])
  expect(await importRows(later)).toEqual([counts(0, 2, 0)])
  expect(await ends()).toMatchObject({ berlin: '2027-12-31T23:00:00.000Z', summer: '2028-06-30T22:00:00.000Z' })

  const bad = [
    '2027-02-30',
    '31.12.2027',
    '12/31/2027',
    '2027-12-31 12:00',
    '2027-12-31T24:00',
    '20271231',
    '1970-01-01',
    '10000-01-01',
    // A leap second is in no day; it was read as the second before.
    '2027-12-31T23:59:60',
    '2027-12-31T23:59:60Z',
    '2027-12-31T12:00:00.1234567890',
  ]
  const records = await importRows(bad.map(expires_at => row('bad', { expires_at })))
  expect(records.at(-1)).toEqual(counts(0, 0, 0, bad.length))
  for (const { errors } of records.slice(0, -1))
    expect(errors).toEqual([
      {
        path: '/expires_at',
        message: expect.stringMatching(
          /^must be an RFC 3339 time .*, or a day such as "2026-01-31" .* of the row, or null, not "/,
        ),
      },
    ])
})

test('the last day that there is means "never" to many systems; a local time may have parts of a second', async () => {
  const user = someone()
  const ends = [
    ['UTC', '9999-12-31', '9999-12-31T00:00:00.000Z'],
    ['Europe/Berlin', '9999-12-31T23:59:59', '9999-12-31T22:59:59.000Z'],
    ['Asia/Tokyo', '9999-12-31', '9999-12-30T15:00:00.000Z'],
    ['Pacific/Honolulu', '9999-12-31', '9999-12-31T10:00:00.000Z'],
    // There it ends later than the last time of the API.
    ['Pacific/Honolulu', '9999-12-31T23:59:59.997', '9999-12-31T23:59:59.999Z'],
    ['Etc/GMT+12', '9999-12-31', '9999-12-31T12:00:00.000Z'],
    ['Europe/Berlin', '2027-12-31T12:00:00.123456', '2027-12-31T11:00:00.123Z'],
  ]
  const rows = ends.map(([time_zone, expires_at], n) => ({
    user_id: user,
    external_ref: `${n}`,
    limit: 1,
    time_zone,
    expires_at,
  }))
  expect(await importRows(rows)).toEqual([counts(ends.length, 0, 0)])
  const quotas: { external_ref: string; expires_at: string }[] = await quotasOf(user)
  const found = new Map(quotas.map(({ external_ref, expires_at }) => [external_ref, expires_at]))
  expect(ends.map((_, n) => found.get(`${n}`))).toEqual(ends.map(([, , end]) => end))
  expect(await importRows(rows)).toEqual([counts(0, 0, ends.length)])
})

test('a dry run reports the same and writes nothing', async () => {
  const [stored, fresh] = [someone(), someone()]
  await importRows([
    { user_id: stored, external_ref: 'A', limit: 1 },
    { user_id: stored, external_ref: 'B', limit: 1 },
  ])
  const before = await stateOf(service)
  const rows = [
    { user_id: stored, external_ref: 'A', limit: 2 },
    { user_id: stored, external_ref: 'B', limit: 1 },
    { user_id: fresh, external_ref: 'A', limit: 1 },
    { user_id: fresh, external_ref: 'B', limit: 1, rollover_limit: 5 },
  ]
  const records = await importRows(rows, { dryRun: true })
  expect(records).toEqual([expect.objectContaining({ record: 'failed', line: 4 }), counts(1, 1, 1, 1)])
  expect(await stateOf(service)).toEqual(before)
  expect(await importRows(rows)).toEqual(records)
})

test('a dry run compares a row with what earlier rows would make of its quota', async () => {
  const [stored, fresh] = [someone(), someone()]
  await importRows([{ user_id: stored, external_ref: 'A', limit: 1 }])
  const rows = [
    ...[1, 1, 2].map(limit => ({ user_id: fresh, external_ref: 'A', limit })),
    ...[1, 2, 2].map(limit => ({ user_id: stored, external_ref: 'A', limit })),
    { user_id: fresh, external_ref: 'B', limit: 1 },
    { user_id: fresh, external_ref: 'B', limit: 1, kind: 'cap' },
    ...Array.from({ length: 199 }, (_, n) => ({ user_id: fresh, external_ref: `C-${n}`, limit: n })),
  ]
  const records = await importRows(rows, { dryRun: true })
  expect(records).toEqual([
    expect.objectContaining({ line: 8, code: 'immutable_field' }),
    expect.objectContaining({ line: rows.length, code: 'too_many_quotas' }),
    counts(200, 2, 3, 2),
  ])
  expect(await importRows(rows)).toEqual(records)
})

test('lists the first 1,000 refused rows, and counts all', async () => {
  const records = await importRows(Array.from({ length: 1_100 }, () => '{}'))
  expect(records).toHaveLength(1_001)
  expect(records.at(-1)).toEqual(counts(0, 0, 0, 1_100))
})

/** A call whose body is sent piece by piece. */
async function openImport(
  token = service.adminToken,
): Promise<{ call: ClientRequest; response: Promise<IncomingMessage> }> {
  address ??= service.app.listen({ port: 0 })
  const call = request(`${await address}${URL}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
  })
  const response = once(call, 'response').then(([answer]) => answer)
  response.catch(() => {})
  return { call, response }
}
let address: Promise<string> | undefined

test('an import that stops before its body is read leaves the service running', async () => {
  address ??= service.app.listen({ port: 0 })
  const url = await address
  const constraint = sql`no_import check (external_ref <> 'stop') not valid`
  await service.db.query({ text: sql`alter table quota add constraint ${constraint}` })
  const user = someone()
  lastUser += 2_000
  const rows = Array.from({ length: 2_000 }, (_, row) => ({
    user_id: user + row,
    external_ref: row === 0 ? 'stop' : 'A',
    limit: 1,
  }))
  for (let call = 0; call < 3; call++) {
    const { status } = await fetch(`${url}${URL}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson', authorization: `Bearer ${service.adminToken}` },
      body: rows.map(row => `${JSON.stringify(row)}\n`).join(''),
    })
    expect(status).toBe(500)
  }
  await service.db.query({ text: sql`alter table quota drop constraint no_import` })
  // Each call is logged and counted, too.
  const metrics = await (await fetch(`${url}/metrics`)).text()
  expect(metrics.split('\n')).toContainEqual(expect.stringMatching(/_count\{.*quota\/import".*5xx.*\} 3$/))
  expect(await importRows(rows)).toEqual([counts(2_000, 0, 0)])
})

test('a body that breaks off leaves whole steps, and the same import completes it', async () => {
  const user = someone()
  const rows = Array.from({ length: 1_000 }, (_, n) => ({ user_id: user + n, external_ref: 'A', limit: n }))
  lastUser += rows.length
  const countStored = async () => {
    const [row] = await service.db.query<{ count: number }>({
      text: sql`select count(*) as count from quota where user_id between $1 and $2`,
      values: [user, user + rows.length],
    })
    return row?.count ?? 0
  }
  const { call, response } = await openImport()
  for (const row of rows.slice(0, 700)) call.write(`${JSON.stringify(row)}\n`)
  call.write('{"user_id":')
  while ((await countStored()) === 0);
  call.destroy()
  await response.catch(() => {})
  const stored = await countStored()
  expect(stored).toBeLessThanOrEqual(700)

  const [end] = await importRows(rows)
  expect(end).toMatchObject({ record: 'end', failed: 0, updated: 0 })
  expect(end.created + end.unchanged).toBe(1_000)
  expect(end.unchanged).toBeGreaterThanOrEqual(stored)
  expect((await verify(service.db)).differences).toEqual([])
})

test('a body may take longer than other requests', async () => {
  const { call, response } = await openImport()
  const { server } = service.app
  const limits = { headersTimeout: server.headersTimeout, requestTimeout: server.requestTimeout }
  const timedOut = once(server, 'clientError')
  const row = JSON.stringify({ user_id: someone(), external_ref: 'A', limit: 1 })
  call.write(row.slice(0, 10))
  Object.assign(server, { headersTimeout: 1, requestTimeout: 1 })
  await timedOut
  Object.assign(server, limits)
  call.end(row.slice(10))
  // Lines of progress may come before it: Node.js looks for requests that take too long now and then only.
  expect((await text(await response)).trimEnd().split('\n').at(-1)).toBe(JSON.stringify(counts(1, 0, 0)))
})

test('more than eight imports at a time are refused, and more than two of a principal, until one ends', async () => {
  const begin = async (token: string) => {
    const opened = await openImport(token)
    opened.call.write('{}\n')
    expect((await opened.response).statusCode).toBe(200)
    return opened
  }
  const refusal = async (token: string) => {
    const { status, body, headers: answered } = await service.call('POST', URL, { token, body: '{}', headers })
    expect([status, body.code, answered['retry-after']]).toEqual([503, 'overloaded', '1'])
    return body.detail
  }
  const headers = { 'content-type': 'application/x-ndjson' }
  const calls = []
  for (const sub of ['import-1', 'import-2', 'import-3', 'import-4']) {
    const token = await service.token({ sub, roles: ['sms-quota:admin'] })
    calls.push(await begin(token), await begin(token))
    if (calls.length < 8) expect(await refusal(token)).toContain('At most 2 imports and bulk changes of a principal')
  }
  expect(await refusal(service.adminToken)).toContain('At most 8 imports and bulk changes run at a time')
  for (const { call } of calls) call.end()
  for (const { response } of calls) await text(await response)
  expect((await service.call('POST', URL, { body: '{}', headers })).status).toBe(200)
})

/** Reads an import all of whose rows are refused. */
function refusing(rows: number) {
  const unused = () => {
    throw new Error('all rows are refused')
  }
  async function* chunk() {
    yield Buffer.from('{}\n'.repeat(rows))
  }
  const usersOf = async () => new Map()
  const pacer = { rows: 200, run: unused }
  return importOf(chunk(), { usersOf, newUsers: null, step: unused, author: unused, pacer, onStopped: unused })
}

/** Counts how often the event loop looks at the connections. */
function countTicks() {
  const ticks = { count: 0, isOver: false }
  const count = () => {
    ticks.count += 1
    if (!ticks.isOver) setImmediate(count)
  }
  setImmediate(count)
  return ticks
}

test('other calls are answered while the rows of one chunk are read', async () => {
  const ticks = countTicks()
  const ends: unknown[] = []
  for await (const record of refusing(20_000)) if (record.record === 'end') ends.push(record)
  ticks.isOver = true
  expect(ends).toEqual([counts(0, 0, 0, 20_000)])
  expect(ticks.count).toBeGreaterThan(5)
})

test('of all imports, one reads on between two looks at the connections', async () => {
  let now = 0
  // Each row takes longer than a turn may.
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 1_000))
  const ticks = countTicks()
  const read: number[] = []
  const imports = Array.from({ length: 4 }, async () => {
    for await (const record of refusing(20)) if (record.record === 'failed') read.push(ticks.count)
  })
  await Promise.all(imports)
  ticks.isOver = true
  clock.mockRestore()
  expect(read).toHaveLength(80)
  expect(
    Math.max(
      ...Map.groupBy(read, tick => tick)
        .values()
        .map(rows => rows.length),
    ),
  ).toBe(1)
})

test('another type and an empty body are refused', async () => {
  const json = await service.call('POST', URL, { body: {} })
  expect(json).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } })
  expect(json.body.detail).toContain('application/x-ndjson')
  for (const type of ['text/csv', 'text/csv; charset=windows-1252', 'application/x-ndjson; charset=utf-16']) {
    const answer = await service.call('POST', URL, { body: 'user_id\n7\n', headers: { 'content-type': type } })
    expect(answer).toMatchObject({ status: 415, body: { detail: expect.stringContaining('sms-quota import') } })
  }
  for (const headers of [{ 'content-encoding': 'gzip' }, { 'content-type': 'application/x-ndjson; charset=latin1' }]) {
    const answer = await service.call('POST', URL, {
      body: '{}',
      headers: { 'content-type': 'application/x-ndjson', ...headers },
    })
    expect(answer.status).toBe(415)
  }
  expect((await service.call('POST', URL)).body.code).toBe('invalid_request')
})
