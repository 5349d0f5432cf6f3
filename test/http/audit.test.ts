import { expect, test } from 'vitest'
import { disableWebhook } from '../../src/admin/webhooks/webhooks.ts'
import { pagesOf, START, startService } from '../support/service.ts'

const service = await startService()
const { call, clock, db } = service
const AUDIT = '/api/sms/admin/audit'
const ADMIN = '/api/sms/admin'
const at = (seconds: number) => new Date(START + seconds * 1_000).toISOString()

interface Entry {
  resource: string
  action: string
  thing_id: number
  user_id: number | null
  version: number | null
  at: string
  before: Record<string, unknown> | null
  after: Record<string, unknown> | null
}

const colleague = await service.token({ sub: 'colleague', roles: ['sms-quota:admin'] })
const named = (id: string) => ({ headers: { 'x-request-id': id } })

/** Makes one change after the other, a second apart. */
async function change(method: string, path: string, options: object = {}) {
  clock.now += 1_000
  const answer = await call(method, `${ADMIN}${path}`, options)
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300)
  return answer.body
}

const quota = await change('POST', '/quota', { body: { user_id: 7, limit: 100 }, ...named('first') })
const other = await change('POST', '/quota', { body: { user_id: 8, limit: 100 }, token: colleague })
const webhook = await change('POST', '/webhooks', { body: { url: 'https://example.com/' }, ...named('hook') })
await change('POST', `/quota/${quota.id}/adjust`, { body: { delta: 5, reason: 'Goodwill' } })
const keyed = { body: { description: 'new' }, token: colleague, headers: { 'idempotency-key': 'k' } }
await change('PUT', `/webhooks/${webhook.id}`, keyed)
await change('PUT', `/webhooks/${webhook.id}`, keyed)
await change('POST', `/webhooks/${webhook.id}/rotate-secret`)
await change('DELETE', `/quota/${other.id}`)
await change('DELETE', '/users/8/data', named('forget'))
clock.now += 1_000
await db.transaction(tx => disableWebhook(tx, webhook.id, 'gone', clock.now))

const nameOf = ({ resource, action }: Entry) => `${resource} ${action}`
const ALL = [
  'webhook disabled',
  'user erased',
  'quota deleted',
  'webhook secret_rotated',
  'webhook updated',
  'quota updated',
  'webhook created',
  'quota created',
  'quota created',
]

/** The changes on all pages. */
const walk = async (query = '', size = 20): Promise<Entry[]> =>
  (await pagesOf(service, `${AUDIT}?page_size=${size}${query}`)).flatMap(({ items }) => items)

test('the audit lists changes of quotas and webhooks and erasures, newest first', async () => {
  const { body } = await call('GET', AUDIT)
  expect(body).toMatchObject({ page_size: 20, next_cursor: null })
  expect(body.items.map(nameOf)).toEqual(ALL)
  const [disabling, erasure, , , update, adjustment, , , creation] = body.items
  expect(creation).toEqual({
    resource: 'quota',
    thing_id: quota.id,
    user_id: 7,
    action: 'created',
    version: 1,
    at: at(1),
    actor: '1',
    request_id: 'first',
    reason: null,
    transfer_id: null,
    before: null,
    after: quota,
  })
  expect(adjustment).toMatchObject({ version: 2, reason: 'Goodwill', before: { limit: 100 }, after: { limit: 105 } })
  expect(update).toMatchObject({
    thing_id: webhook.id,
    user_id: null,
    actor: 'colleague',
    before: { description: null },
    after: { description: 'new' },
  })
  expect(erasure).toEqual({
    resource: 'user',
    thing_id: 8,
    user_id: 8,
    action: 'erased',
    version: null,
    at: at(9),
    actor: '1',
    request_id: 'forget',
    reason: null,
    transfer_id: null,
    before: null,
    after: null,
  })
  expect(disabling).toMatchObject({ actor: 'sms-quota', request_id: null })
  expect(JSON.stringify(body)).not.toContain(webhook.secret.slice('whsec_'.length))
})

test('the history of a thing, of whichever resource, is found by its id, and by the id alone beside others', async () => {
  const all = await walk()
  for (const { resource, thing_id } of all) {
    const isOf = (one: Entry) => one.thing_id === thing_id && one.resource === resource
    expect(await walk(`&resource=${resource}&thing_id=${thing_id}`, 1)).toEqual(all.filter(isOf))
    expect(await walk(`&thing_id=${thing_id}&resource=${resource}&to=${at(9)}&from=${at(1)}`, 1)).toEqual(
      all.filter(one => isOf(one) && one.at < at(9) && one.at >= at(1)),
    )
    expect(await walk(`&thing_id=${thing_id}`, 1)).toEqual(all.filter(one => one.thing_id === thing_id))
  }
})

test('a limit is raised by more units, by none any more, by overage and by a new grant, and by no other change', async () => {
  const { id } = await change('POST', '/quota', { body: { user_id: 60, name: 'Raised', limit: 100 } })
  const put = (body: object) => change('PUT', `/quota/${id}`, { body })
  const extra = { user_id: 60, limit: 20, metadata: { extends_quota: String(id), reason: 'Campaign' } }
  await change('POST', `/quota/${id}/adjust`, { body: { delta: 50, reason: 'Goodwill' } })
  await put({ limit: 100 })
  await put({ name: 'Named otherwise' })
  await put({ overage_limit: 30 })
  await put({ limit: 110, overage_limit: 20 })
  await put({ limit: null, overage_limit: 0 })
  await put({ limit: 200 })
  await change('POST', '/quota', { body: extra })
  await change('POST', '/quota', { body: { user_id: 60, kind: 'cap', limit: 500 } })
  await change('POST', `/quota/${id}/transfer`, {
    body: { to_user_id: 61, units: 10 },
    headers: { 'idempotency-key': 'handed-on' },
  })
  await change('DELETE', `/quota/${id}`)
  const raised = (await walk(`&raised=true&from=${at(11)}`)).filter(({ user_id }) => [60, 61].includes(user_id ?? 0))
  expect(raised.map(({ before, after }) => [before?.limit, after?.limit, after?.overage_limit])).toEqual([
    [undefined, 20, 0],
    [110, null, 0],
    [100, 100, 30],
    [100, 150, 0],
    [undefined, 100, 0],
  ])
  expect(await walk('&user_id=60&raised=true', 1)).toEqual(raised)
})
