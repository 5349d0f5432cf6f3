/** Calls in their order, and what a service must answer. */
export interface Step {
  call: string
  body?: object | string
  headers?: Record<string, string>
  /** Milliseconds that pass before the call. */
  after?: number
  status: number
  /** A part of the answer. */
  answer?: object
}

const ADMIN = '/api/sms/admin/quota'
const SENDER = '/api/sms/sender/quota'
const day = 86_400_000
const sender = (op: string, body: object, status: number, answer: object = {}): Step => ({
  call: `POST ${SENDER}/${op}`,
  body: { user_id: 7, ...body },
  status,
  answer,
})
const create = (body: object, status: number, answer: object = {}): Step => ({
  call: `POST ${ADMIN}`,
  body: { user_id: 7, ...body },
  status,
  answer,
})
const text = { to: '+4915112345678', text: 'x'.repeat(161) }

/** QUOTA_n is the id of the quota that the n-th creation made. */
export const STEPS: Step[] = [
  sender('check', { units: 1 }, 200, { granted: false, reason: 'no_quota', retry_at: null }),
  create({ limit: 10, period: 'day', rollover_limit: 2, priority: 1, name: 'daily' }, 201, {
    status: 'active',
    used: 0,
  }),
  create({ limit: 5, external_ref: 'pack', opening_used: 2 }, 201, { used: 2, remaining: 3 }),
  create({ limit: 5, external_ref: 'pack' }, 409, { code: 'conflict' }),
  create({ limit: -1, color: 'red' }, 400, { code: 'invalid_request' }),
  create({ kind: 'cap', limit: null }, 400, { errors: [{ path: '/limit' }] }),
  create({ kind: 'cap', limit: 6, period: 'hour', countries: ['DE'] }, 201, { kind: 'cap' }),
  { call: `GET ${ADMIN}/QUOTA_1`, status: 200, answer: { name: 'daily', window_end: '2026-03-16T00:00:00.000Z' } },
  { call: `GET ${ADMIN}/999999`, status: 404, answer: { code: 'not_found' } },
  { call: `GET ${ADMIN}/01`, status: 400, answer: { code: 'invalid_request' } },
  { call: `PUT ${ADMIN}/QUOTA_2`, body: { limit: 6 }, headers: { 'if-match': '"9"' }, status: 412 },
  { call: `PUT ${ADMIN}/QUOTA_2`, body: { limit: 1 }, status: 422, answer: { code: 'below_usage' } },
  { call: `PUT ${ADMIN}/QUOTA_2`, body: { kind: 'cap' }, status: 422, answer: { code: 'immutable_field' } },
  { call: `PUT ${ADMIN}/QUOTA_2`, body: { limit: 6 }, status: 200, answer: { limit: 6, version: 2 } },

  sender('check', { message: text, explain: true }, 200, { granted: true, units: 2, country: 'DE', segments: 2 }),
  sender('reserve', { id: 'a', message: text }, 200, { granted: true, units: 2, replayed: false }),
  sender('reserve', { id: 'a', message: text }, 200, { granted: true, replayed: true }),
  sender('reserve', { id: 'a', units: 3 }, 409, { code: 'idempotency_mismatch' }),
  sender('reserve', { id: 'b', units: 5, country: 'DE', explain: true }, 200, {
    granted: false,
    reason: 'cap_reached',
  }),
  sender('reserve', { id: 'b', units: 13 }, 200, { granted: false, reason: 'quota_exhausted' }),
  sender('reserve', { id: 'b', units: 13, allow_partial: true, ttl_seconds: 60 }, 200, { granted: true, units: 12 }),
  sender('commit', { id: 'a', total_units: 3 }, 422, { code: 'exceeds_reservation' }),
  sender('refund', { id: 'a', total_units: 1 }, 422, { code: 'exceeds_committed' }),
  sender('commit', { id: 'a' }, 200, { committed: 2, state: 'committed' }),
  sender('refund', { id: 'a', total_units: 1 }, 200, { refunded: 1 }),
  sender('release', { id: 'a' }, 409, { code: 'reservation_closed' }),
  sender('release', { id: 'unknown' }, 404, { code: 'not_found' }),
  sender('consume', { id: 'c', units: 4 }, 200, { granted: false }),
  sender('consume', { id: 'c', units: 4, force: true }, 200, { granted: true, committed: 4 }),
  { call: `GET ${ADMIN}/summary?user_id=7`, status: 200, answer: { remaining: 0 } },
  { ...sender('commit', { id: 'b' }, 409, { code: 'reservation_closed' }), after: 61_000 },
  sender('commit', { id: 'b', force: true, total_units: 5 }, 200, { committed: 5, released: 7 }),
  { call: `GET ${SENDER}/reservations/7/b`, status: 200, answer: { state: 'committed' } },
  { call: `GET ${SENDER}/reservations/7/none`, status: 404 },
  sender('batch', {}, 400, { code: 'invalid_request' }),
  {
    call: `POST ${SENDER}/batch`,
    body: {
      operations: [
        { op: 'reserve', user_id: 8, id: 'x', units: 1 },
        { op: 'commit', user_id: 7, id: 'nothing' },
        { op: 'send' },
        { op: 'check', user_id: 7, units: 1 },
      ],
    },
    status: 200,
    answer: { results: [{ status: 200 }, { status: 404 }, { status: 400 }, { status: 200 }] },
  },
  { call: `POST ${SENDER}/reserve`, body: '{', status: 400, answer: { code: 'invalid_request' } },

  { call: `GET ${ADMIN}/QUOTA_1`, after: day, status: 200, answer: { rolled_over: 2, used: 0 } },
  { call: `GET ${ADMIN}/QUOTA_1`, after: day, status: 200, answer: { rolled_over: 2, remaining: 12 } },
  sender('reserve', { id: 'd', units: 11, on_expiry: 'commit' }, 200, { granted: true }),
  // The fake server closes what has expired at any call; the service by a job, which does not run here, or when it is named.
  { call: `GET ${SENDER}/reservations/7/d`, after: 700_000, status: 200, answer: { state: 'committed' } },
  { call: `GET ${ADMIN}/summary?user_id=7`, status: 200, answer: { reserved: 0 } },
  { call: `PUT ${ADMIN}/QUOTA_1`, body: { expires_at: '2026-03-17T13:00:00.000Z' }, status: 200 },
  { ...sender('check', { units: 1, explain: true }, 200), after: day },
  { call: `DELETE ${ADMIN}/QUOTA_2`, status: 204 },
  { call: `DELETE ${ADMIN}/QUOTA_2`, status: 404 },
  { call: `GET ${ADMIN}/QUOTA_2`, status: 404 },
  sender('refund', { id: 'c' }, 200, { state: 'refunded' }),
]

export interface Target {
  url: string
  tokenFor(path: string): string
  advance(ms: number): void
  /** The ids of its quotas, in the order of their creation. */
  quotas: string[]
}

/** Makes a call, and returns its answer with what must differ made equal. */
export async function made(step: Step, target: Target) {
  target.advance(step.after ?? 0)
  const [method = '', path = ''] = step.call.split(' ')
  const named = path.replace(/QUOTA_(\d)/, (_, n: string) => target.quotas[Number(n) - 1] ?? '')
  const response = await fetch(target.url + named, {
    method,
    headers: {
      authorization: `Bearer ${target.tokenFor(path)}`,
      ...(step.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...step.headers,
    },
    ...(step.body === undefined ? {} : { body: typeof step.body === 'string' ? step.body : JSON.stringify(step.body) }),
  })
  const answer = await response.text()
  if (step.call === `POST ${ADMIN}` && response.status === 201) target.quotas.push(String(JSON.parse(answer).id))
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    etag: response.headers.get('etag'),
    body: answer === '' ? undefined : JSON.parse(answer, (name, value) => normalized(name, value, target)),
  }
}

/** Names ids by the order of creation. Who and which call is not compared: the fake server has one token and no log. */
function normalized(name: string, value: unknown, { quotas }: Target): unknown {
  const unlike = ['request_id', 'created_by', 'updated_by', 'made_by', 'settled_by', 'actions']
  if (unlike.includes(name)) return ''
  const index = typeof value === 'number' ? quotas.indexOf(String(value)) : -1
  if (index >= 0) return `QUOTA_${index + 1}`
  if (typeof value !== 'string') return value
  return quotas.reduce((changed, id, n) => changed.replaceAll(`Quota ${id} `, `Quota QUOTA_${n + 1} `), value)
}

/** What the answer to a step must contain. */
export function expectedOf({ status, answer = {} }: Step): object {
  return { status, ...(status === 204 ? {} : { body: answer }) }
}
