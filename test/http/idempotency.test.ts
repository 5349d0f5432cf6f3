/**
 * Calls that take effect once under an Idempotency-Key, however often and whenever they are repeated. Those of the service's own OpenAPI
 * document are all here, but for streams of many steps.
 */
import { describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { fanOut } from '../../src/db/webhooks/fan-out.ts'
import { eventKeyOf } from '../../src/domain/events/event.ts'
import { openTransaction } from '../support/engine.ts'
import { readDocument } from '../support/fuzz/document.ts'
import { startService } from '../support/service.ts'
import { untilWaiting } from '../support/sessions.ts'
import { rawSql } from '../support/sql.ts'

const service = await startService()
const { call, clock, db } = service
const QUOTA = '/api/sms/admin/quota'
const PLANS = '/api/sms/admin/plans'
const CARDS = '/api/sms/admin/rate-cards'
const MY_REQUESTS = '/api/sms/quota/requests'
const WEBHOOKS = '/api/sms/admin/webhooks'
const inMs = (ms: number) => new Date(clock.now + ms).toISOString()
const url = 'https://example.com/hook'

/** A call on rows of its own, and what came of it. */
interface Prepared {
  method: 'POST' | 'PUT'
  path: string
  body?: object
  /** Default: the administrator's. */
  token?: string
  /** What a repetition shows otherwise, a minute later. */
  later?: object
  /** The same call with another request, and the fields by which it differs. */
  other: { path?: string; body?: object; fields: string[] }
  /** How often the call took effect. */
  effects(): Promise<number>
  /** Another change of the same rows, which a repetition must not undo. */
  change?(): Promise<unknown>
  /** Whether the answer has a secret. */
  hasSecret?: boolean
}

let lastUser = 100
async function aQuota() {
  lastUser += 1
  return (await call('POST', QUOTA, { body: { user_id: lastUser, limit: 10 } })).body
}

let lastName = 0
async function aWebhook() {
  lastName += 1
  return (await call('POST', WEBHOOKS, { body: { url, description: `no. ${lastName}` } })).body
}

const count = async (text: string, values: (string | number)[]) =>
  (await db.query({ text: rawSql`${text}`, values })).length

const versionOf = async (id: number) => (await call('GET', `${QUOTA}/${id}`)).body.version

async function aDelivery() {
  const { id } = await aWebhook()
  // Its event is the only one of its time.
  clock.now += 1_000
  await aQuota()
  await fanOut(db, id, clock.now)
  const { body } = await call('GET', `${WEBHOOKS}/${id}/deliveries`)
  const pending = () => count(`select from webhook_delivery where webhook_id = $1 and status = 'pending'`, [id])
  const deliver = () =>
    db.query({
      text: sql`update webhook_delivery set status = 'delivered', next_attempt_at = null where webhook_id = $1`,
      values: [id],
    })
  await deliver()
  return { id, event: body.items[0].id as string, pending, deliver }
}

const CALLS: [operation: string, prepare: () => Promise<Prepared>][] = [
  [
    'createQuota',
    async () => {
      lastUser += 1
      const user_id = lastUser
      return {
        method: 'POST',
        path: QUOTA,
        // The second one would be refused.
        body: { user_id, limit: 10, period: 'month', external_ref: 'K' },
        other: {
          body: { user_id: user_id + 5_000, limit: 11, name: 'x', external_ref: 'K' },
          fields: ['/limit', '/period', '/user_id', '/name'],
        },
        effects: () => count('select from quota where user_id = $1', [user_id]),
      }
    },
  ],
  [
    'updateQuota',
    async () => {
      const { id } = await aQuota()
      const another = await aQuota()
      return {
        method: 'PUT',
        path: `${QUOTA}/${id}`,
        body: { limit: 20, expires_at: '2030-01-01T00:00:00+01:00' },
        other: {
          path: `${QUOTA}/${another.id}`,
          body: { limit: 21, expires_at: '2029-12-31T23:00:00Z' },
          fields: ['/id', '/limit'],
        },
        effects: async () => (await versionOf(id)) - 1,
        change: () => call('PUT', `${QUOTA}/${id}`, { body: { limit: 30 } }),
      }
    },
  ],
  [
    'adjustQuota',
    async () => {
      const { id } = await aQuota()
      return {
        method: 'POST',
        path: `${QUOTA}/${id}/adjust`,
        body: { delta: 5, reason: 'more' },
        other: {
          path: `${QUOTA}/${(await aQuota()).id}/adjust`,
          body: { delta: 6, reason: 'more' },
          fields: ['/id', '/delta'],
        },
        effects: async () => (await versionOf(id)) - 1,
        change: () => call('PUT', `${QUOTA}/${id}`, { body: { limit: 30 } }),
      }
    },
  ],
  [
    'createWebhook',
    async () => {
      lastName += 1
      const description = `no. ${lastName}`
      return {
        method: 'POST',
        path: WEBHOOKS,
        body: { url, description },
        other: { body: { url, description, enabled: false }, fields: ['/enabled'] },
        effects: () => count('select from webhook where description = $1', [description]),
        hasSecret: true,
      }
    },
  ],
  [
    'updateWebhook',
    async () => {
      const { id } = await aWebhook()
      return {
        method: 'PUT',
        path: `${WEBHOOKS}/${id}`,
        body: { enabled: false },
        other: { body: { enabled: true }, fields: ['/enabled'] },
        effects: () => count('select from webhook where id = $1 and not enabled', [id]),
        change: () => call('PUT', `${WEBHOOKS}/${id}`, { body: { description: 'changed' } }),
      }
    },
  ],
  [
    'rotateWebhookSecret',
    async () => {
      const { id } = await aWebhook()
      const another = await aWebhook()
      const [row] = await db.query<{ secret: Uint8Array }>({
        text: sql`select secret from webhook where id = $1`,
        values: [id],
      })
      const secret = Buffer.from(row?.secret ?? [])
      const previous = { text: sql`select previous_secret from webhook where id = $1`, values: [id] }
      return {
        method: 'POST',
        path: `${WEBHOOKS}/${id}/rotate-secret`,
        other: { path: `${WEBHOOKS}/${another.id}/rotate-secret`, fields: ['/id'] },
        async effects() {
          const [now] = await db.query<{ previous_secret: Uint8Array }>(previous)
          return secret.equals(now?.previous_secret ?? Buffer.of()) ? 1 : 2
        },
        change: () => call('PUT', `${WEBHOOKS}/${id}`, { body: { description: 'changed' } }),
        hasSecret: true,
      }
    },
  ],
  [
    'redeliverWebhookDelivery',
    async () => {
      const { id, event, pending, deliver } = await aDelivery()
      const { shard = 0, number = 0 } = eventKeyOf(event) ?? {}
      return {
        method: 'POST',
        path: `${WEBHOOKS}/${id}/deliveries/${event}/redeliver`,
        other: { path: `${WEBHOOKS}/${id}/deliveries/evt_${shard}_${number + 1}/redeliver`, fields: ['/delivery'] },
        effects: pending,
        change: deliver,
      }
    },
  ],
  [
    'redeliverWebhook',
    async () => {
      const { id, pending, deliver } = await aDelivery()
      const [{ at } = { at: 0 }] = await db.query<{ at: number }>({ text: sql`select max(at) as at from event` })
      return {
        method: 'POST',
        path: `${WEBHOOKS}/${id}/redeliver`,
        body: { since: new Date(at).toISOString() },
        other: { body: { since: new Date(at - 1).toISOString() }, fields: ['/since'] },
        effects: pending,
        change: deliver,
      }
    },
  ],
  [
    'createPlan',
    async () => {
      lastName += 1
      const body = { name: `Plan ${lastName}`, slots: [{ slot: 'monthly', limit: 5 }] }
      return {
        ...{ method: 'POST', path: PLANS, body },
        other: { body: { ...body, is_default: true }, fields: ['/is_default'] },
        effects: () => count('select from plan_version where name = $1', [body.name]),
      }
    },
  ],
  [
    'updatePlan',
    async () => {
      const path = `${PLANS}/${(await call('POST', PLANS, { body: { name: 'A', slots: [{ slot: 'a', limit: 5 }] } })).body.id}`
      return {
        ...{ method: 'PUT', path, body: { name: 'B' } },
        other: { body: { name: 'C' }, fields: ['/name'] },
        effects: async () => (await call('GET', path)).body.version - 1,
        change: () => call('PUT', path, { body: { name: 'D' } }),
      }
    },
  ],
  [
    'createRateCard',
    async () => {
      lastName += 1
      const body = { name: `Card ${lastName}` }
      return {
        ...{ method: 'POST', path: CARDS, body },
        other: { body: { ...body, is_default: true }, fields: ['/is_default'] },
        effects: () => count('select from rate_card where name = $1', [body.name]),
      }
    },
  ],
  [
    'updateRateCard',
    async () => {
      const { id } = (await call('POST', CARDS, { body: { name: 'A' } })).body
      return {
        ...{ method: 'PUT', path: `${CARDS}/${id}`, body: { name: 'B' } },
        other: { body: { name: 'C' }, fields: ['/name'] },
        effects: () => count("select from rate_card_change where rate_card_id = $1 and action = 'updated'", [id]),
        change: () => call('PUT', `${CARDS}/${id}`, { body: { name: 'D' } }),
      }
    },
  ],
  [
    'setRateLines',
    async () => {
      const { id } = (await call('POST', CARDS, { body: { name: 'A' } })).body
      const path = `${CARDS}/${id}/lines`
      return {
        ...{ method: 'PUT', path, body: { lines: [{ per_segment: 2 }] } },
        other: { body: { lines: [{ per_segment: 3 }] }, fields: ['/lines'] },
        effects: async () => (await call('GET', `${CARDS}/${id}`)).body.version - 1,
        change: () => call('PUT', path, { body: { lines: [{ per_segment: 4 }] } }),
      }
    },
  ],
  [
    'createPause',
    async () => {
      lastUser += 1
      const body = { user_id: lastUser, country: 'FR', until: inMs(30_000) }
      return {
        ...{ method: 'POST', path: '/api/sms/admin/pauses', body, later: { active: false } },
        other: { body: { ...body, country: 'ES' }, fields: ['/country'] },
        effects: () => count('select from pause where user_id = $1', [body.user_id]),
      }
    },
  ],
  ...(['makeIncreaseRequest', 'makeIncreaseRequestForUser'] as const).map((operation): (typeof CALLS)[number] => [
    operation,
    async () => {
      const { user_id } = await aQuota()
      const ask = { units: 50, reason: 'Sale', until: inMs(30_000) }
      const isOwn = operation === 'makeIncreaseRequest'
      const [path, body] = isOwn ? [MY_REQUESTS, ask] : ['/api/sms/admin/requests', { ...ask, user_id }]
      return {
        ...{ method: 'POST', path, body, ...(isOwn ? { token: await service.userToken(user_id) } : {}) },
        other: { body: { ...body, units: 60 }, fields: ['/units'] },
        effects: () => count('select from increase_request where user_id = $1', [user_id]),
      }
    },
  ]),
  [
    'transferUnits',
    async () => {
      const { id } = await aQuota()
      const body = { to_user_id: lastUser, units: 4 }
      return {
        ...{ method: 'POST', path: `${QUOTA}/${id}/transfer`, body },
        other: { body: { ...body, units: 5 }, fields: ['/units'] },
        effects: () => count('select from transfer where quota_id = $1', [id]),
        change: () => call('PUT', `${QUOTA}/${id}`, { body: { limit: 30 } }),
      }
    },
  ],
  [
    'returnUnits',
    async () => {
      const { id } = await aQuota()
      const give = { method: 'POST', path: `${QUOTA}/${id}/transfer`, body: { to_user_id: 7, units: 4 } } as const
      const path = `/api/sms/admin/transfers/${(await keyed(give)()).body.transfer.id}`
      return {
        ...{ method: 'POST', path: `${path}/return`, body: { units: 1 } },
        other: { body: { units: 2 }, fields: ['/units'] },
        effects: async () => (await call('GET', path)).body.returned,
      }
    },
  ],
]

let lastKey = 0
function keyed(
  { method, path, body, token }: Pick<Prepared, 'method' | 'path' | 'body' | 'token'>,
  headers: Record<string, string> = {},
) {
  lastKey += 1
  const options = {
    headers: { 'idempotency-key': `key-${lastKey}`, ...headers },
    ...(token === undefined ? {} : { token }),
    ...(body === undefined ? {} : { body }),
  }
  return () => call(method, path, options)
}

test('each operation of the API with a key is here', () => {
  const keyedOperations = readDocument(service.app.swagger())
    .operations.filter(({ parameters }) => parameters.some(({ name }) => name === 'idempotency-key'))
    .map(({ id }) => id)
  // Their calls are repeated in the middle, too, and have files of their own.
  const streams = ['bulkChangeQuotas', 'giveUnits', 'rollOutPlan']
  expect([...CALLS.map(([operation]) => operation), ...streams].toSorted()).toEqual(keyedOperations.toSorted())
})

describe.each(CALLS)('%s', (operation, prepare) => {
  test('a repetition gets the same answer, and changes nothing', async () => {
    const prepared = await prepare()
    const send = keyed(prepared)
    const first = await send()
    expect([200, 201], JSON.stringify(first.body)).toContain(first.status)
    expect(await prepared.effects()).toBe(1)
    clock.now += 60_000
    await prepared.change?.()
    const effects = await prepared.effects()
    const again = await send()
    expect([again.status, again.body]).toEqual([first.status, { ...first.body, ...prepared.later }])
    expect([again.headers.etag, again.headers.location]).toEqual([first.headers.etag, first.headers.location])
    expect(await prepared.effects()).toBe(effects)
  })

  test('repetitions that overlap the first call get its answer', async () => {
    const prepared = await prepare()
    const send = keyed(prepared)
    const answers = await Promise.all([send(), send(), send(), send()])
    for (const answer of answers) expect([answer.status, answer.body]).toEqual([answers[0]?.status, answers[0]?.body])
    expect([200, 201]).toContain(answers[0]?.status)
    expect(await prepared.effects()).toBe(1)
  })

  test('a repetition while the first call waits for a lock gets its answer', async () => {
    const prepared = await prepare()
    const send = keyed(prepared)
    const tables = sql`account, quota, plan, pause, pause_state, increase_request, webhook, webhook_cursor, webhook_delivery`
    const lock = await openTransaction(db, tx => tx.query({ text: sql`lock table ${tables} in exclusive mode` }))
    const calls = [send(), send()]
    await untilWaiting(db, 2)
    await lock.commit()
    const [one, other] = await Promise.all(calls)
    expect([one?.status, one?.body]).toEqual([other?.status, other?.body])
    expect([200, 201], JSON.stringify(one?.body)).toContain(one?.status)
    expect(await prepared.effects()).toBe(1)
  })

  test('the same key with another request is refused, and names the fields', async () => {
    const prepared = await prepare()
    const { fields, ...other } = prepared.other
    const first = await keyed(prepared)()
    const headers = { 'idempotency-key': `key-${lastKey}` }
    const refused = await keyed({ ...prepared, ...other }, headers)()
    expect(refused).toMatchObject({ status: 409, body: { code: 'idempotency_mismatch' } })
    expect(refused.body.errors.map(({ path }: { path: string }) => path)).toEqual(fields)
    expect(await prepared.effects()).toBe(1)
    expect((await keyed(prepared, headers)()).body).toEqual(first.body)
  })

  test('a key of another operation is refused, and not one of another principal', async () => {
    const key = { 'idempotency-key': `of-another-${operation}` }
    if (operation === 'updateWebhook') {
      const { id } = await aQuota()
      await call('PUT', `${QUOTA}/${id}`, { body: { enabled: false }, headers: key })
    } else {
      const { id } = await aWebhook()
      await call('PUT', `${WEBHOOKS}/${id}`, { body: {}, headers: key })
    }
    const prepared = await prepare()
    const refused = await keyed(prepared, key)()
    if (prepared.token !== undefined) return expect(refused.status).toBe(201)
    expect(refused).toMatchObject({
      status: 409,
      body: { code: 'idempotency_mismatch', errors: [{ path: '/operation', message: 'differs' }] },
    })
  })

  test('a key that is malformed is refused', async () => {
    const prepared = await prepare()
    const refused = await keyed(prepared, { 'idempotency-key': 'a b' })()
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ path: '/idempotency-key' }] } })
  })
})

describe('an update of a quota', () => {
  test('is answered with what the first call made, not with version_mismatch', async () => {
    const { id } = await aQuota()
    const send = keyed({ method: 'PUT', path: `${QUOTA}/${id}`, body: { limit: 20 } }, { 'if-match': '"1"' })
    const first = await send()
    expect(first).toMatchObject({ status: 200, body: { limit: 20, version: 2 }, headers: { etag: '"2"' } })
    await call('PUT', `${QUOTA}/${id}`, { body: { limit: 30 } })
    expect(await send()).toMatchObject({ status: 200, body: first.body, headers: { etag: '"2"' } })
    await call('DELETE', `${QUOTA}/${id}`)
    expect(await send()).toMatchObject({ status: 200, body: first.body })
  })

  test('that changes nothing is remembered as of its call', async () => {
    const { body: quota } = await call('POST', QUOTA, { body: { user_id: 7, limit: 10, period: 'day' } })
    clock.now += 86_400_000
    const send = keyed({ method: 'PUT', path: `${QUOTA}/${quota.id}`, body: { limit: 10 } })
    const first = await send()
    expect(first.body).toMatchObject({
      version: 1,
      window_start: new Date(clock.now).toISOString().replace(/T.*/, 'T00:00:00.000Z'),
    })
    clock.now += 86_400_000
    await call('PUT', `${QUOTA}/${quota.id}`, { body: { limit: 50 } })
    expect((await send()).body).toEqual(first.body)
  })

  test('that was refused does not use up its key', async () => {
    const { id } = await aQuota()
    const send = keyed({ method: 'PUT', path: `${QUOTA}/${id}`, body: { limit: 20 } }, { 'if-match': '"2"' })
    expect((await send()).status).toBe(412)
    await call('PUT', `${QUOTA}/${id}`, { body: { name: 'x' } })
    expect(await send()).toMatchObject({ status: 200, body: { limit: 20, version: 3 } })
  })
})

describe("a webhook's secret", () => {
  const stored = async () => JSON.stringify(await db.query({ text: sql`select request, answer from idempotency` }))

  test('is stored once', async () => {
    const created = await keyed({ method: 'POST', path: WEBHOOKS, body: { url } })()
    const rotated = await keyed({ method: 'POST', path: `${WEBHOOKS}/${created.body.id}/rotate-secret` })()
    for (const { body } of [created, rotated]) {
      const bytes = Buffer.from(body.secret.slice('whsec_'.length), 'base64')
      for (const form of ['base64', 'hex', 'base64url'] as const) {
        expect(await stored()).not.toContain(bytes.toString(form))
      }
      expect(await stored()).not.toContain(JSON.stringify([...bytes]).slice(1, -1))
    }
  })

  test('is null in a repeated answer if another one has replaced it, or the webhook is deleted', async () => {
    const create = keyed({ method: 'POST', path: WEBHOOKS, body: { url } })
    const { body } = await create()
    expect((await create()).body).toEqual(body)
    const rotate = keyed({ method: 'POST', path: `${WEBHOOKS}/${body.id}/rotate-secret` })
    const rotated = await rotate()
    expect(await create()).toMatchObject({ status: 201, body: { ...body, secret: null } })
    expect((await rotate()).body).toEqual(rotated.body)
    await call('DELETE', `${WEBHOOKS}/${body.id}`)
    expect(await rotate()).toMatchObject({ status: 200, body: { ...rotated.body, secret: null } })
    expect(await create()).toMatchObject({ status: 201, body: { ...body, secret: null } })
  })
})
