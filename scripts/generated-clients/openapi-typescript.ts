/** A round of calls with the types of openapi-typescript and openapi-fetch. Arguments: the address of the service, a token, a user. */
import createClient from 'openapi-fetch'
import type { components, paths } from './api.ts'

type Schemas = components['schemas']

const [, , baseUrl = '', token = '', argument = ''] = process.argv
const user_id = Number(argument)
const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${token}` } })

function must<T>({ data, error }: { data?: T; error?: unknown }): T {
  if (data === undefined) throw new Error(JSON.stringify(error))
  return data
}

/** The compiler knows each state, and that an answer has units only where it is granted. */
const SETTLED: Record<Schemas['Settled']['state'], boolean> = {
  reserved: false,
  committed: true,
  refunded: true,
  expired: true,
  released: true,
}
function unitsOf(answer: Schemas['Granted'] | Schemas['Denied']): number | string {
  // @ts-expect-error: a denial that names no message has no units
  answer.committed
  return answer.granted ? answer.units : answer.reason
}

/** Fields with a default are left out. */
const asked: Schemas['CreateQuotaReq'] = { user_id, limit: 3, period: 'month' }
const quota = must(await client.POST('/api/sms/admin/quota', { body: asked }))
if (quota.expires_at !== null || quota.limit !== 3) throw new Error('not the quota')
const message = { to: '+4915112345678', text: 'x'.repeat(161) }
const granted = must(await client.POST('/api/sms/sender/quota/reserve', { body: { user_id, id: 'm-1', message } }))
const settled = must(await client.POST('/api/sms/sender/quota/commit', { body: { user_id, id: 'm-1' } }))
if (!SETTLED[settled.state]) throw new Error(`not settled: ${settled.state}`)
const denied = must(await client.POST('/api/sms/sender/quota/consume', { body: { user_id, id: 'm-2', units: 5 } }))
const summary = must(await client.GET('/api/sms/admin/quota/summary', { params: { query: { user_id } } }))
const events = must(await client.GET('/api/sms/admin/events', { params: { query: { user_id, last: 1 } } }))
const [event] = events.items
if (event?.type !== 'quota.created' || event.data.quota.id !== quota.id) throw new Error('not the event')
const path = { user_id, id: 'none' }
const missing = await client.GET('/api/sms/sender/quota/reservations/{user_id}/{id}', { params: { path } })
const code = `${missing.response.status} ${missing.error?.code}`
const printed = [unitsOf(granted), settled.committed, unitsOf(denied), summary.remaining, event.type, code]
console.log(`[${printed.join(', ')}]`)
