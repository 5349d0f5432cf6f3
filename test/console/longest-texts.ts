/** A user, and what belongs to it, with the longest texts that the fields of the API take. None has a blank to break a line at. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { withPartsInPlace } from '../../src/http/platform/openapi-shared.ts'
import { createMailServer } from '../support/mail-server.ts'
import { PROJECT } from '../support/paths.ts'
import { createReceiver } from '../support/receiver.ts'
import type { Service } from '../support/service.ts'

const MARKED = '<script>alert(1)</script>\u202Ecba\u202C'
/** Hostile, in a script that each font has: to look for another takes the browser longer. */
const text = (length: number) => MARKED.padEnd(length, 'x')
/** What identifies has no marks of direction. */
const identifier = (length: number) => '<script>alert(1)</script>'.padEnd(length, 'x')
const DOMAIN = `${'x'.repeat(63)}.${'x'.repeat(63)}.${'x'.repeat(53)}.example`
const EMAIL = `${'e'.repeat(64)}@${DOMAIN}`
const [NAME, TYPE, REASON] = [text(120), 'x'.repeat(64), text(500)]
const TYPES = { message_types: [TYPE, 'y'.repeat(64)] }
const METADATA = { metadata: { ['k'.repeat(64)]: text(512) } }
const LONGEST_USER = 66
export const longestId = (index: number) => `m${'x'.repeat(126)}${index}`

interface Sent {
  method: string
  path: string
  body: object
}

const mail = await createMailServer()
/** What a service has to be started with. */
export const LONGEST_OPTIONS = {
  env: {
    SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
    SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
    MAIL_FROM: 'quotas@sms.example',
    PUBLIC_URL: 'https://sms.example',
    USER_NOTIFICATIONS: 'true',
  },
  webhooks: { allowPrivate: true, timeoutMs: 1_000 },
}

/** Fills the service. @returns ids of what was made, and all that was sent */
export async function fillWithLongest(site: Service) {
  const sent: Sent[] = []
  const actor = await site.token({ sub: identifier(200), name: text(120), roles: ['sms-quota:admin'] })
  const user = await site.userToken(LONGEST_USER)
  async function send(method: string, path: string, body: object, token = actor) {
    sent.push({ method, path: `/api/sms${path}`, body })
    const headers = { 'idempotency-key': String(sent.length) }
    const answer = await site.call(method, `/api/sms${path}`, { token, body, headers })
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300)
    return answer.body
  }
  const make = async (path: string, body: object) => (await send('POST', `/admin${path}`, body)).id
  const ask = (operation: string, body: object) =>
    send('POST', `/sender/quota/${operation}`, { user_id: LONGEST_USER, ...body }, site.senderToken)

  const [user_id, named] = [LONGEST_USER, { name: NAME, external_ref: identifier(120) }]
  const quota = await make('/quota', {
    ...{ user_id, limit: 999_999_999_998, period: 'year', ...named, ...TYPES, ...METADATA },
  })
  await make(`/quota/${quota}/adjust`, { delta: 1, reason: REASON })
  await make('/quota', { user_id, kind: 'cap', limit: 999_999_999, name: NAME })
  const message = { ...{ message_type: TYPE, tag: identifier(64), recipient: identifier(64) } }
  for (const [index, country] of ['DE', 'FR', undefined].entries()) {
    const asked = { id: longestId(index), units: 333_333_333, country, ...message }
    expect((await ask(index === 2 ? 'reserve' : 'consume', asked)).granted).toBe(true)
  }
  const lines = [
    { per_segment: 1_000_000, per_message: 1_000_000 },
    { message_type: TYPE, per_segment: 1_000_000 },
  ]
  const card = await make('/rate-cards', { name: identifier(120), lines })
  const profile = { name: NAME, ref: 'r'.repeat(128), email: EMAIL, rate_card_id: card }
  await send('PUT', `/admin/users/${user_id}/profile`, profile)
  const given = await make('/quota', { user_id, limit: 999_999_999, name: NAME })
  const moved = { to_user_id: user_id, units: 999_999_999, reason: REASON }
  await make(`/quota/${given}/transfer`, moved)
  expect((await ask('reserve', { id: longestId(3), units: 400, country: 'DE', ...message })).granted).toBe(false)

  const more = { units: 999_999_999, until: '2027-01-01T00:00:00.000Z', reason: REASON, quota_id: quota }
  const request = () => send('POST', '/quota/requests', more, user)
  await make(`/requests/${(await request()).id}/decline`, { note: REASON })
  await make(`/requests/${(await request()).id}/approve`, { note: REASON, units: 1, until: null })
  const open = (await request()).id

  const slots = [{ slot: 'x'.repeat(40), limit: 999_999_999_999, name: NAME, ...TYPES, ...METADATA }]
  const plan = await make('/plans', { name: identifier(120), slots })
  await send('PUT', `/admin/users/${user_id}/plan`, { plan_id: plan })

  for (const country of ['DE', 'FR']) await make('/pauses', { user_id, country, ...TYPES, reason: REASON })
  await make('/pauses', { user_id: null, country: 'US', ...TYPES, reason: REASON })
  await send('PUT', '/admin/breaker', TYPES)
  await make('/webhooks', { kind: 'users' })
  // The mail server of the tests takes no longer one.
  await send('PUT', '/quota/notifications', { email: EMAIL.slice(1) }, user)

  const receiver = await createReceiver()
  Object.assign(receiver, { answer: 500, body: 'x'.repeat(1_000) })
  const description = text(200)
  const webhook = await make('/webhooks', { url: `${receiver.url}/`.padEnd(2_048, 'x'), description })
  await make('/webhooks', { kind: 'email', addresses: [EMAIL, `f${EMAIL.slice(1)}`] })
  await make('/webhooks', { kind: 'webhook', url: `${receiver.url}?`.padEnd(2_048, 'x') })
  await make('/quota', { user_id, kind: 'cap', limit: 999_999_998, name: NAME })
  await site.webhooks.dispatchOnce(site.clock.now)
  await site.webhooks.idle()
  const deliveries = await site.call('GET', `/api/sms/admin/webhooks/${webhook}/deliveries`)
  return { sent, quota, plan, card, webhook, open, delivery: deliveries.body.items[0].id }
}

interface Schema {
  type?: string | string[]
  enum?: unknown
  const?: unknown
  format?: string
  maxLength?: number
  pattern?: string
  properties?: Record<string, Schema>
  additionalProperties?: boolean | Schema
  items?: Schema
  anyOf?: Schema[]
}

/** Operations that store no text, or the same as another does. */
const WITHOUT_OWN_TEXTS =
  /^PUT .*(?:quota|plans|rate-cards|webhooks)\/\{id\}$|(?:lines|import|bulk|give|roll-out|return|check|batch|commit|release|refund|feedback|notifications|confirm|stop)$|^POST \S*admin\/requests$/
/** The text is kept to find the user, or chosen from a list. */
const NOT_SHOWN = /\.user_ref$|time_zone$/

/** The free texts of the API that were not sent at their largest. */
export function notSent(sent: readonly Sent[]): string[] {
  const { paths } = withPartsInPlace(JSON.parse(readFileSync(join(PROJECT, 'docs/openapi.json'), 'utf8'))) as {
    paths: Record<string, Record<string, { requestBody?: { content: Record<string, { schema: Schema }> } }>>
  }
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { requestBody }]) => ({ method: method.toUpperCase(), path, requestBody })),
  )
  return operations.flatMap(({ method, path, requestBody }) => {
    const schema = requestBody?.content['application/json']?.schema
    if (schema === undefined || WITHOUT_OWN_TEXTS.test(`${method} ${path}`)) return []
    const isPath = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
    const bodies = sent.filter(one => one.method === method && isPath.test(one.path)).map(({ body }) => body)
    return textsOf(schema, '', bodies)
      .filter(({ at, values, ...text }) => !NOT_SHOWN.test(at) && !values.some(value => isLargest(value, text.schema)))
      .map(({ at }) => `${method} ${path}${at}`)
  })
}

/** The free texts of a schema, each with what was sent. */
function textsOf(
  schema: Schema,
  at: string,
  values: readonly unknown[],
): { at: string; schema: Schema; values: readonly unknown[] }[] {
  const { properties = {}, additionalProperties, items, anyOf = [] } = schema
  const isText = [schema.type].flat().includes('string') && schema.enum === undefined && schema.const === undefined
  const objects = values.filter(value => typeof value === 'object' && value !== null)
  return [
    ...(isText && fits('x'.repeat(40), schema) ? [{ at, schema, values }] : []),
    ...anyOf.flatMap(one => textsOf(one, at, values)),
    ...Object.entries(properties).flatMap(([name, one]) => {
      const given = objects.flatMap(object => Object.entries(object).filter(([key]) => key === name))
      return textsOf(
        one,
        `${at}.${name}`,
        given.map(([, value]) => value),
      )
    }),
    ...[additionalProperties, items]
      .filter(one => typeof one === 'object')
      .flatMap(one => textsOf(one, `${at}[]`, objects.flatMap(Object.values))),
  ]
}

/** By its length: formats are for the service to check. */
function fits(value: string, { format, maxLength = Number.POSITIVE_INFINITY, pattern = '' }: Schema): boolean {
  const isBounded = format === undefined || !/^(?:date-time|country)$/.test(format)
  return isBounded && value.length <= maxLength && (pattern.includes('@') || new RegExp(pattern).test(value))
}

function isLargest(value: unknown, { maxLength, pattern }: Schema): boolean {
  if (typeof value !== 'string' || /\s/.test(value)) return false
  return maxLength === undefined ? !new RegExp(pattern ?? '').test(`${value}x`) : value.length === maxLength
}
