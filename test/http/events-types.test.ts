/**
 * Every type of event, from the operation that emits it to the feed and to a webhook: all have exactly the fields that the
 * contract documents.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { expect, expectTypeOf, test } from 'vitest'
import { trip } from '../../src/admin/pauses/breaker.ts'
import { disableWebhook } from '../../src/admin/webhooks/webhooks.ts'
import type { Event, WebhookPayload } from '../../src/contract/events.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
import { EVENT_TYPES, type EventData, type EventType } from '../../src/domain/events/event.ts'
import type { OutboxEvent, SystemEvent } from '../../src/domain/events/outbox-event.ts'
import { DEFAULT_BUDGETS, judge, measure } from '../../src/domain/pauses/breaker.ts'
import { createQuickEraser } from '../support/erasure.ts'
import { createReceiver } from '../support/receiver.ts'
import { startSender } from './sender-fixture.ts'

const receiver = await createReceiver()
const service = await startSender({ webhooks: { allowPrivate: true } })
const { call, clock, db, allow, ask, engine, webhooks, someone } = service
const EVENTS = '/api/sms/admin/events'

interface Webhook {
  post: { parameters: { name: string }[]; requestBody: { content: { 'application/json': { schema: object } } } }
}
const document = service.app.swagger() as unknown as {
  components: { schemas: Record<string, object> }
  webhooks: Record<string, Webhook>
}

/** Refuses undocumented fields everywhere. `metadata` is a map, so it refuses them by itself. */
function closedSchemas(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closedSchemas)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, inner]) => [name, closedSchemas(inner)])
  return { ...Object.fromEntries(entries), ...('properties' in value ? { additionalProperties: false } : {}) }
}

const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)
for (const name of ['text', 'time-zone', 'country']) ajv.addFormat(name, true)
ajv.addSchema({ $id: 'openapi', components: closedSchemas(document.components) } as object)

const validators = new Map<object, ValidateFunction>()

/** Compiled once: the union alone takes half a second. */
function validatorOf(schema: object): ValidateFunction {
  const known = validators.get(schema)
  if (known !== undefined) return known
  const local = JSON.stringify(closedSchemas(schema)).replaceAll('"#/components/', '"openapi#/components/')
  const validate = ajv.compile(JSON.parse(local))
  validators.set(schema, validate)
  return validate
}

function expectValid(schema: object, value: unknown): void {
  const validate = validatorOf(schema)
  expect(validate(value), `${ajv.errorsText(validate.errors)}: ${JSON.stringify(value)}`).toBe(true)
}

const { id: webhookId } = (await call('POST', '/api/sms/admin/webhooks', { body: { url: receiver.url } })).body

/** Does what emits events of each type. */
const CODES = [{ start: clock.now - 60_000, end: clock.now, sent: 30, verified: 0 }]
const EVIDENCE = judge(measure(CODES, clock.now), { day: 0, quarter: 0 }, DEFAULT_BUDGETS) ?? raise()

function raise(): never {
  throw new Error('the budget of young messages allows 30')
}

async function emitAll(): Promise<void> {
  const user = someone()
  const quotaId = await allow({ user_id: user, limit: 10, name: 'Package', countries: ['DE'], metadata: { a: 'b' } })
  await allow({ user_id: user, limit: null })
  const draw = { user_id: user, units: 8, country: 'DE' }
  await ask('reserve', { ...draw, id: 'expires', ttl_seconds: 1, units: 1 })
  await ask('consume', { ...draw, id: 'reaches-80' })
  clock.now += 2_000
  await engine.submit({ op: 'expire', user_id: user, id: 'expires' })
  const path = `/api/sms/admin/quota/${quotaId}`
  await call('PUT', path, { body: { expires_at: new Date(clock.now).toISOString() } })
  await call('DELETE', path)
  const moved = { headers: { 'idempotency-key': 'moved' }, body: { to_user_id: someone(), units: 3 } }
  const giving = await allow({ user_id: user, limit: 10 })
  const { id } = (await call('POST', `/api/sms/admin/quota/${giving}/transfer`, moved)).body.transfer
  const back = { headers: { 'idempotency-key': 'back' }, body: {} }
  await call('POST', `/api/sms/admin/transfers/${id}/return`, back)
  const asked = { token: await service.userToken(user), body: { units: 3, reason: 'Sale' } }
  const request = (await call('POST', '/api/sms/quota/requests', asked)).body
  await call('POST', `/api/sms/admin/requests/${request.id}/approve`, { body: {} })
  for (const user_id of [user, null]) {
    const { body } = await call('POST', '/api/sms/admin/pauses', { body: { user_id, country: 'FR' } })
    await call('DELETE', `/api/sms/admin/pauses/${body.id}`)
  }
  const author = { now: clock.now, actor: 'sms-quota', requestId: 'breaker' }
  const found = { country: 'FR', message_types: ['otp'], observed: true, evidence: EVIDENCE }
  expect((await trip(db, { user_id: user, ...found }, author)).outcome).toBe('tripped')
  const other = (await call('POST', '/api/sms/admin/webhooks', { body: { url: receiver.url, enabled: true } })).body
  await db.transaction(tx => disableWebhook(tx, other.id, 'gone', clock.now))
  const erased = someone()
  await allow({ user_id: erased, limit: 10 })
  await call('DELETE', `/api/sms/admin/users/${erased}/data`)
  await createQuickEraser({ db, engine, now: () => clock.now, watched: async () => [] }).eraseOnce()
}
await emitAll()

const feed: Event[] = (await call('GET', EVENTS)).body.items
const eventsOf = (type: EventType) => feed.filter(event => event.type === type)

/** `quota.threshold_reached` has the schema `QuotaThresholdReachedEvent`. */
const schemaOf = (type: EventType): object => {
  const name = type.replaceAll(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())
  const schema = document.components.schemas[`${name}Event`]
  if (schema === undefined) throw new Error(`${type} has no schema`)
  return schema
}

test.each(EVENT_TYPES)('%s has exactly the fields of its schema in the feed', type => {
  const events = eventsOf(type)
  expect(events.length).toBeGreaterThan(0)
  for (const event of events) expectValid(schemaOf(type), event)
})

test('the schema of the union accepts every event, and finds its type by the discriminator', () => {
  const union = document.components.schemas.Event as { anyOf: object[]; discriminator: { mapping: object } }
  for (const event of feed) expectValid(union, event)
  expect(Object.keys(union.discriminator.mapping)).toEqual([...EVENT_TYPES])
  expect(Object.values(union.discriminator.mapping).map($ref => ({ $ref }))).toEqual(union.anyOf)
})

test('a webhook receives every event with exactly the fields of its payload schema', async () => {
  await webhooks.dispatchOnce(clock.now)
  await webhooks.idle()
  const bodies: WebhookPayload[] = receiver.deliveries.map(({ body }) => JSON.parse(body))
  expect(new Set(bodies.map(({ type }) => type))).toEqual(new Set(EVENT_TYPES))
  const documented = Object.keys(document.webhooks)
  expect(documented).toEqual([...EVENT_TYPES, 'webhook.test'])
  await call('POST', `/api/sms/admin/webhooks/${webhookId}/test`)
  bodies.push(JSON.parse(receiver.deliveries.at(-1)?.body ?? ''))
  for (const body of bodies) {
    const schema = document.webhooks[body.type]?.post.requestBody.content['application/json'].schema
    expectValid(schema ?? {}, body)
  }
  expect(bodies.at(-1)?.type).toBe('webhook.test')
})

test('a delivery has the documented headers', async () => {
  const documented = document.webhooks['quota.created']?.post.parameters ?? []
  expect(documented.map(({ name }) => name)).toEqual(['webhook-id', 'webhook-timestamp', 'webhook-signature'])
  for (const { headers } of receiver.deliveries) {
    for (const { name } of documented) expect(headers[name]).toMatch(/./)
  }
})

test('the feed returns events as they were recorded, even of types and with fields that this version does not know', async () => {
  const user = someone()
  const shard = shardOf(user)
  const recorded = { zebra: [1, { nested: null }], quota: { id: 1 }, text: 'ä "quoted"\u2028' }
  await db.query({
    text: sql`with head as (update shard_head set last_event = last_event + 1 where shard = $1 returning last_event)
           insert into event (shard, number, user_id, sequence, type, at, data)
           select $1, last_event, $2, 1, 'quota.merged', $3, $4 from head`,
    values: [shard, user, new Date(clock.now).toISOString(), JSON.stringify(recorded)],
  })
  const stored = await db.query<{ number: number; data: object; type: string; user_id: number; sequence: number }>({
    text: sql`select number, type, user_id, sequence, data from event where shard = $1 and user_id = $2`,
    values: [shard, user],
  })
  const url = `${EVENTS}?user_id=${user}`
  const { body, headers } = await service.app.inject({
    url,
    headers: { authorization: `Bearer ${service.adminToken}` },
  })
  const items = stored.map(({ number, type, user_id, sequence, data }) => ({
    id: `evt_${shard}_${number}`,
    type,
    at: new Date(clock.now).toISOString(),
    user_id,
    sequence,
    data,
  }))
  expect(items).toHaveLength(1)
  expect(body).toBe(JSON.stringify({ items, next: JSON.parse(body).next }))
  expect(headers['content-type']).toBe('application/json; charset=utf-8')
})

type Authors<T> = T extends { updated_by: unknown } ? 'created_by' | 'updated_by' : never

/** What becomes of a value in JSON: nothing is read-only. A quota's authors may be null elsewhere, in what users read. */
type Json<T> = T extends readonly (infer Item)[]
  ? Json<Item>[]
  : T extends object
    ? { -readonly [Name in keyof T]: Name extends Authors<T> ? T[Name] | null : Json<T[Name]> }
    : T

/** Events do not name users, as administrators' answers do. */
type Nameless<T> = T extends readonly (infer Item)[]
  ? Nameless<Item>[]
  : T extends object
    ? { [Name in keyof T as Exclude<Name, 'user_ref' | 'user_name'>]: Nameless<T[Name]> }
    : T

test('the domain emits the data that the contract documents, by their types', () => {
  type Documented = { [Name in EventType]: Nameless<Extract<Event, { type: Name }>['data']> }
  expectTypeOf<Json<EventData>>().toEqualTypeOf<Documented>()
  expectTypeOf<OutboxEvent['type'] | SystemEvent['type']>().toEqualTypeOf<EventType>()
  expectTypeOf<Event['type']>().toEqualTypeOf<EventType>()
})
