import { describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { openTransaction } from '../support/engine.ts'
import { createQuickEraser, finishErasures } from '../support/erasure.ts'
import { createReceiver } from '../support/receiver.ts'
import { untilWaiting } from '../support/sessions.ts'
import { startSender } from './sender-fixture.ts'

const receiver = await createReceiver()
const service = await startSender({ webhooks: { allowPrivate: true } })
const { call, allow, ask, clock, db, engine, webhooks, someone } = service
const dataOf = (user: number) => `/api/sms/admin/users/${user}/data`
const erase = (user: number, query = '') => call('DELETE', `${dataOf(user)}${query}`)

async function finish(): Promise<void> {
  await finishErasures(createQuickEraser({ db, engine, now: () => clock.now, watched: async () => [] }))
}

describe('an erasure', () => {
  test('is accepted, can be followed, and leaves its record', async () => {
    const user = someone()
    await allow({ user_id: user, limit: 10 })
    await ask('consume', { user_id: user, id: 'm', units: 1 })
    const { status, body } = await call('DELETE', dataOf(user), { headers: { 'x-request-id': 'ticket-12' } })
    expect(status).toBe(202)
    expect(body).toEqual({
      user_id: user,
      status: 'running',
      requested_at: new Date(clock.now).toISOString(),
      requested_by: '1',
      request_id: 'ticket-12',
      force: false,
      finished_at: null,
      removed: {},
    })
    expect((await call('GET', `${dataOf(user)}/erasure`)).body).toEqual(body)
    expect((await call('GET', `/api/sms/admin/users/${user}`)).body).toMatchObject({
      quotas: { unexpired: 0 },
      erasure: body,
    })
    clock.now += 5_000
    await finish()

    const record = await call('GET', `${dataOf(user)}/erasure`)
    const finished = { ...body, status: 'finished', finished_at: new Date(clock.now).toISOString() }
    expect(record.body).toEqual({ ...finished, removed: expect.objectContaining({ reservation: 1, quota: 1 }) })
    for (const path of ['', '/data'])
      expect((await call('GET', `/api/sms/admin/users/${user}${path}`)).status, path).toBe(404)
    const repeated = await erase(user)
    expect([repeated.status, repeated.body]).toEqual([200, record.body])
  })

  test('of a user that was never there is 404', async () => {
    const user = someone()
    for (const answer of [await erase(user), await call('GET', `${dataOf(user)}/erasure`)])
      expect([answer.status, answer.body.code]).toEqual([404, 'not_found'])
  })

  test('of a user with open reservations is 409, unless they are to be released', async () => {
    const user = someone()
    await allow({ user_id: user, limit: 10 })
    await ask('reserve', { user_id: user, id: 'm', units: 1 })
    for (const query of ['', '?force=false']) {
      const { status, body } = await erase(user, query)
      expect([status, body.code]).toEqual([409, 'open_reservations'])
      expect(body.detail).toContain('force=true')
    }
    expect((await erase(user, '?force=true')).status).toBe(202)
    await finish()
    const settled = await ask('commit', { user_id: user, id: 'm' })
    expect([settled.status, settled.body.code]).toEqual([404, 'not_found'])
  })

  test.each([
    ['?force=1', 'force must be one of "true", "false"'],
    ['?forced=true', 'forced is unknown; accepted are force'],
  ])('with the query "%s" is 400', async (query, detail) => {
    const { status, body } = await erase(7, query)
    expect([status, body.detail]).toEqual([400, expect.stringContaining(detail)])
  })
})

describe('until it is finished', () => {
  test('no quota can be created for the user, or changed', async () => {
    const user = someone()
    const quota = await allow({ user_id: user, limit: 10 })
    await erase(user)
    const create = () => call('POST', '/api/sms/admin/quota', { body: { user_id: user, limit: 1 } })
    const refused = await create()
    expect([refused.status, refused.body.code]).toEqual([409, 'being_erased'])
    expect((await call('PUT', `/api/sms/admin/quota/${quota}`, { body: { limit: 99 } })).status).toBe(404)
    await finish()
    expect((await create()).status).toBe(201)
  })

  test('a repeated creation is refused too, and creates another quota afterwards', async () => {
    const user = someone()
    const create = () =>
      call('POST', '/api/sms/admin/quota', {
        body: { user_id: user, limit: 1 },
        headers: { 'idempotency-key': `key-${user}` },
      })
    const { body: first } = await create()
    await erase(user)
    await finish()
    const { status, body } = await create()
    expect(status).toBe(201)
    expect(body.id).not.toBe(first.id)
  })
})

const ADMIN = '/api/sms/admin'

test.each<[string, (user: number, quota: number, plan: number) => ReturnType<typeof call>]>([
  ['a change', (_user, quota) => call('PUT', `${ADMIN}/quota/${quota}`, { body: { limit: 7 } })],
  ['a deletion', (_user, quota) => call('DELETE', `${ADMIN}/quota/${quota}`)],
  [
    'a bulk change',
    (_user, quota) =>
      inBulk('quota/bulk', { select: { ids: [quota] }, change: { action: 'adjust', delta: 2, reason: 'r' } }),
  ],
  ['a gift', user => inBulk('quota/give', { users: [{ user_id: user }], units: 5, period: 'month', reason: 'r' })],
  ['a roll-out', (_user, _quota, plan) => inBulk(`plans/${plan}/roll-out`, { from_version: 1 })],
  ['an import', (user, quota) => importOf({ user_id: user, id: quota, limit: 7 })],
  ['an import that changes nothing', (user, quota) => importOf({ user_id: user, id: quota, limit: 5 })],
  ['the end of the plan', user => call('DELETE', `${ADMIN}/users/${user}/plan`)],
])('%s of a user who is erased meanwhile makes no user', async (title, change) => {
  const user = someone()
  const slots = [{ slot: 'monthly', limit: 5, period: 'month' }]
  const { body: plan } = await call('POST', `${ADMIN}/plans`, { body: { name: title, slots } })
  const given = await call('PUT', `${ADMIN}/users/${user}/plan`, { body: { plan_id: plan.id } })
  const values = [user]
  // What is left of the user at the end of an erasure.
  const erasing = await openTransaction(db, async tx => {
    for (const table of [sql`quota_change`, sql`quota_alert`])
      await tx.query({
        text: sql`delete from ${table} where quota_id in (select id from quota where user_id = $1)`,
        values,
      })
    await tx.query({ text: sql`delete from quota where user_id = $1`, values })
    await tx.query({ text: sql`delete from account where user_id = $1`, values })
  })
  const changed = change(user, given.body.slots[0].quota_id, plan.id)
  await untilWaiting(db, 1)
  await erasing.commit()
  const { status, body } = await changed
  expect([200, 204, 404], JSON.stringify(body)).toContain(status)
  expect(JSON.stringify(body ?? null)).not.toMatch(/"(record":"(changed|given)|changed":[1-9])/)
  expect(await db.query({ text: sql`select 1 from account where user_id = $1`, values })).toEqual([])
})

function importOf(row: object) {
  const headers = { 'content-type': 'application/x-ndjson' }
  return call('POST', `${ADMIN}/quota/import`, { body: `${JSON.stringify(row)}\n`, headers })
}

function inBulk(path: string, body: object) {
  return call('POST', `${ADMIN}/${path}`, { body, headers: { 'idempotency-key': `erased-${path}` } })
}

test('events of the user are shown and sent no more, an event says so, and cursors stay valid', async () => {
  const user = someone()
  const { body: webhook } = await call('POST', '/api/sms/admin/webhooks', { body: { url: receiver.url } })
  const { next: before } = (await call('GET', '/api/sms/admin/events?after=latest')).body
  await allow({ user_id: user, limit: 10 })
  await ask('consume', { user_id: user, id: 'm', units: 9 })
  await webhooks.dispatchOnce(clock.now)
  await webhooks.idle()
  await call('PUT', `/api/sms/admin/webhooks/${webhook.id}`, { body: { enabled: false } })
  const sent = receiver.deliveries.length
  const deleted = await allow({ user_id: user, limit: 10 })
  await call('DELETE', `/api/sms/admin/quota/${deleted}`)
  // Its position is the user's last event, which proves later that the feed has lost nothing.
  const { next: exactly } = (await call('GET', `/api/sms/admin/events?after=${before}`)).body
  await erase(user)
  await finish()
  const onBlanked = await call('GET', `/api/sms/admin/events?after=${exactly}`)
  expect([onBlanked.status, onBlanked.body.items]).toMatchObject([200, [{ type: 'user.erased' }]])

  const { body } = await call('GET', `/api/sms/admin/events?after=${before}`)
  expect(body.items).toMatchObject([
    {
      type: 'user.erased',
      user_id: null,
      sequence: null,
      data: { erasure: { user_id: user, finished_at: new Date(clock.now).toISOString() } },
    },
  ])
  expect((await call('GET', `/api/sms/admin/events?user_id=${user}`)).body.items).toEqual([])

  await call('PUT', `/api/sms/admin/webhooks/${webhook.id}`, { body: { enabled: true } })
  await webhooks.dispatchOnce(clock.now)
  await webhooks.idle()
  const types = receiver.deliveries.slice(sent).map(({ body: text }) => JSON.parse(text).type)
  expect(types).toEqual(['user.erased'])

  // A new beginning: the sequence starts again.
  await allow({ user_id: user, limit: 10 })
  const again = await call('GET', `/api/sms/admin/events?after=${body.next}`)
  expect(again.body.items[0]).toMatchObject({ type: 'quota.created', user_id: user, sequence: 1 })
})
