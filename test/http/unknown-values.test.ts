/** What a newer version has stored, while this one runs beside it: what it concerns is refused, everything else goes on. */
import { describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { databaseOfOnePostgres } from '../support/database.ts'
import { startService } from '../support/service.ts'

const service = await startService({ database: databaseOfOnePostgres() })
const { app, call, db } = service
await db.query({ text: sql`alter domain quota_period drop constraint quota_period_check` })
await db.query({ text: sql`alter domain quota_kind drop constraint quota_kind_check` })

let lastUser = 100
const someone = () => ++lastUser

async function create(user: number, body: object = {}): Promise<number> {
  const { body: quota } = await call('POST', '/api/sms/admin/quota', { body: { user_id: user, limit: 100, ...body } })
  return quota.id
}

const send = (op: string, body: object) =>
  call('POST', `/api/sms/sender/quota/${op}`, { token: service.senderToken, body })

const linesOf = (body: unknown) =>
  String(body)
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))

describe.each([
  ['period', 'second'],
  ['kind', 'loan'],
  ['anchor', 'last'],
] as const)('a quota whose %s is unknown', async (field, value) => {
  const [newer, other] = [someone(), someone()]
  const id = await create(newer, { external_ref: 'newer' })
  const known = await create(other, { external_ref: 'known' })
  const columns = {
    period: sql`period = $2`,
    kind: sql`kind = $2`,
    anchor: sql`period = 'anchored_month', anchor = $2`,
  }[field]
  await db.query({ text: sql`update quota set ${columns} where id = $1`, values: [id, value] })
  const refusal = {
    status: 503,
    headers: { 'retry-after': '1' },
    body: {
      code: 'unavailable',
      detail: expect.stringContaining(`"${value}", which this version of the service does not know. Nothing was done`),
    },
  }

  test.each([
    ['GET', `/api/sms/admin/quota/${id}`, undefined],
    ['PUT', `/api/sms/admin/quota/${id}`, { limit: 5 }],
    ['POST', `/api/sms/admin/quota/${id}/adjust`, { delta: 5, reason: 'more' }],
    ['DELETE', `/api/sms/admin/quota/${id}`, undefined],
    ['GET', `/api/sms/admin/quota/list?user_id=${newer}`, undefined],
    ['GET', `/api/sms/admin/quota/summary?user_id=${newer}`, undefined],
    ['GET', `/api/sms/admin/search?q=${id}`, undefined],
  ])('is refused by %s %s', async (method, url, body) => {
    expect(await call(method, url, body === undefined ? {} : { body })).toMatchObject(refusal)
  })

  test('is refused to its user and to senders, and other users go on', async () => {
    const token = await service.userToken(newer)
    expect(await call('GET', '/api/sms/quota/summary', { token })).toMatchObject(refusal)
    expect(await send('reserve', { user_id: newer, id: `a-${value}`, units: 1 })).toMatchObject(refusal)
    const operations = [newer, other].map(user_id => ({ op: 'reserve', user_id, id: `b-${value}`, units: 1 }))
    const { body } = await send('batch', { operations })
    expect(body.results).toMatchObject([
      { status: 503, body: refusal.body },
      { status: 200, body: { granted: true } },
    ])
    expect((await call('GET', `/api/sms/admin/quota/${known}`)).status).toBe(200)
  })

  test.each([{ action: 'suspend' }, { action: 'adjust', delta: 1, reason: 'more' }, { action: 'delete' }])(
    'fails alone in a bulk change: %o',
    async change => {
      const more = await create(other)
      const answer = await call('POST', '/api/sms/admin/quota/bulk', {
        body: { select: { ids: [id, more] }, change },
        headers: { 'idempotency-key': `${value}-${change.action}` },
      })
      expect(linesOf(answer.body)).toMatchObject([
        { record: 'begin' },
        { record: 'failed', quota_id: id, code: 'unavailable', detail: refusal.body.detail },
        { record: 'end', changed: 1, failed: 1 },
      ])
    },
  )

  test('fails alone in a gift of units', async () => {
    const users = [newer, other].map(user_id => ({ user_id }))
    const body = { users, units: 1, period: null, until: 'month_end', reason: 'more' }
    const headers = { 'idempotency-key': `${value}-gift` }
    const answer = await call('POST', '/api/sms/admin/quota/give', { body, headers })
    expect(linesOf(answer.body)).toMatchObject([
      { record: 'begin' },
      { record: 'failed', user_id: newer, code: 'unavailable', detail: refusal.body.detail },
      { user_id: other },
      { record: 'end', failed: 1 },
    ])
  })

  test('fails alone in a roll-out of a plan', async () => {
    const [holder, fellow] = [someone(), someone()]
    const slots = (limit: number) => ({ slots: [{ slot: 'monthly', limit, period: 'month' }] })
    const { body: plan } = await call('POST', '/api/sms/admin/plans', { body: { name: 'Basic', ...slots(5) } })
    const planOf = (user: number) => `/api/sms/admin/users/${user}/plan`
    const given = { body: { plan_id: plan.id } }
    for (const user of [holder, fellow]) await call('PUT', planOf(user), given)
    await db.query({ text: sql`update quota set ${columns} where user_id = $1`, values: [holder, value] })
    expect(await call('PUT', planOf(holder), given)).toMatchObject(refusal)
    expect(await call('DELETE', planOf(holder))).toMatchObject(refusal)
    await call('PUT', `/api/sms/admin/plans/${plan.id}`, { body: slots(6) })
    const answer = await call('POST', `/api/sms/admin/plans/${plan.id}/roll-out`, {
      body: {},
      headers: { 'idempotency-key': `${value}-roll-out` },
    })
    expect(linesOf(answer.body)).toMatchObject([
      { record: 'begin' },
      { record: 'failed', user_id: holder, code: 'unavailable', detail: refusal.body.detail },
      { record: 'end', users: { changed: 1, failed: 1 } },
    ])
  })

  test('fails alone in an import', async () => {
    const rows = [
      { user_id: newer, external_ref: 'newer', limit: 1 },
      { user_id: other, external_ref: 'known', limit: 200 },
    ]
    const body = rows.map(row => `${JSON.stringify(row)}\n`).join('')
    const headers = { 'content-type': 'application/x-ndjson' }
    const answer = await call('POST', '/api/sms/admin/quota/import', { body, headers })
    expect(linesOf(answer.body)).toMatchObject([
      { record: 'failed', line: 1, code: 'unavailable', detail: refusal.body.detail },
      { record: 'end', updated: 1, failed: 1 },
    ])
  })

  test('stays as it is', async () => {
    const rows = await db.query({
      text: sql`select version, "limit", deleted_at from quota where id = $1`,
      values: [id],
    })
    expect(rows).toEqual([{ version: 1, limit: 100, deleted_at: null }])
  })
})

/** Values that decide nothing here: they are passed on, as clients must ignore those that they do not know. */
describe('a value that is only shown is shown as it is', async () => {
  const user = someone()
  const id = await create(user)
  const authorization = `Bearer ${service.adminToken}`
  /** Not checked against the OpenAPI document, which is that of this version. */
  async function read(url: string) {
    const answer = await app.inject({ method: 'GET', url, headers: { authorization } })
    expect(answer.statusCode, answer.body).toBe(200)
    return answer.json()
  }

  test('the type of an event', async () => {
    await db.query({ text: sql`update event set type = 'quota.lent' where user_id = $1`, values: [user] })
    const { items } = await read(`/api/sms/admin/events?user_id=${user}`)
    expect(items).toMatchObject([{ type: 'quota.lent', data: { quota: { id } } }])
  })

  test('the action of a change', async () => {
    await db.query({ text: sql`alter table quota_change drop constraint quota_change_action_check` })
    await db.query({ text: sql`update quota_change set action = 'lent' where quota_id = $1`, values: [id] })
    expect((await read(`/api/sms/admin/quota/${id}/history`)).items).toMatchObject([{ action: 'lent' }])
  })

  test('the reason and the operation of a denial', async () => {
    await send('reserve', { user_id: user, id: 'd1', units: 1_000 })
    await db.query({ text: sql`update denial set reason = 'paused', op = 'lend' where user_id = $1`, values: [user] })
    const { items } = await read(`/api/sms/admin/denials?user_id=${user}`)
    expect(items).toMatchObject([{ reason: 'paused', op: 'lend' }])
  })

  test('the operation, the reason and on_expiry of a reservation, which no sender settles', async () => {
    await send('reserve', { user_id: user, id: 'r1', units: 1 })
    await db.query({
      text: sql`update reservation set op = 'lend', on_expiry = 'keep', would_deny = 'paused' where user_id = $1`,
      values: [user],
    })
    expect(await read(`/api/sms/admin/quota/reservations/${user}/r1`)).toMatchObject({ op: 'lend', on_expiry: 'keep' })
  })

  test('the reason of a disabled webhook', async () => {
    const { body } = await call('POST', '/api/sms/admin/webhooks', { body: { url: 'https://example.com/hook' } })
    await db.query({ text: sql`alter table webhook drop constraint webhook_disabled_reason_check` })
    await db.query({
      text: sql`update webhook set enabled = false, disabled_reason = 'dull' where id = $1`,
      values: [body.id],
    })
    expect(await read(`/api/sms/admin/webhooks/${body.id}`)).toMatchObject({ disabled_reason: 'dull' })
  })
})
