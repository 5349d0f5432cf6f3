import { readFileSync } from 'node:fs'
import { join } from 'node:path'

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

/** The tests of the client for Python read them, too. QUOTA_n is the id of the quota that the n-th creation made. */
export const STEPS: readonly Step[] = JSON.parse(readFileSync(join(import.meta.dirname, 'conformance.json'), 'utf8'))

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
  if (step.call === 'POST /api/sms/admin/quota' && response.status === 201)
    target.quotas.push(String(JSON.parse(answer).id))
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
