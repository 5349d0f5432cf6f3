/** Clients name a content type also where they send nothing: what has no body has no wrong one. */
import { once } from 'node:events'
import { request } from 'node:http'
import { describe, expect, test } from 'vitest'
import { readDocument } from '../support/fuzz/document.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const address = await service.app.listen({ host: '127.0.0.1', port: 0 })
const idOf = (_: string, name: string) => (name === 'delivery' ? 'evt_1_1' : '64')
const routes = readDocument(service.app.swagger())
  .operations.filter(({ method, body }) => method !== 'GET' && body === undefined)
  .map(({ method, template }) => ({ method, path: template.replaceAll(/\{(\w+)\}/g, idOf) }))

const JSON_TYPE = 'application/json'
const TYPES = [
  JSON_TYPE,
  'application/json; charset=utf-8',
  'application/problem+json',
  'text/plain;charset=UTF-8',
  'application/x-www-form-urlencoded',
  'application/octet-stream',
  'multipart/form-data; boundary=x',
]
/** How a client says that a body is empty. */
const FRAMINGS: Record<string, Record<string, string>> = {
  'a length of 0': { 'content-length': '0' },
  'no chunk': { 'transfer-encoding': 'chunked' },
  'no length': {},
}

async function send(method: string, path: string, headers: Record<string, string>, body?: string) {
  // Node.js sends no length of a DELETE by itself.
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const authorization = `Bearer ${service.adminToken}`
  const sent = request(`${address}${path}`, { method, headers: { authorization, ...length, ...headers } })
  sent.end(body)
  const [response] = await once(sent, 'response')
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += chunk
  return { status: response.statusCode, body: text === '' ? undefined : JSON.parse(text) }
}

test('routes without a body are known', () => {
  expect(routes.map(({ method, path }) => `${method} ${path}`)).toEqual(
    expect.arrayContaining(['DELETE /api/sms/admin/quota/64', 'POST /api/sms/admin/webhooks/64/rotate-secret']),
  )
})

describe.each(routes)('$method $path', ({ method, path }) => {
  test.each(Object.entries(FRAMINGS))('with %s answers as without a content type', async (_name, framing) => {
    const expected = await send(method, path, framing)
    expect([400, 415]).not.toContain(expected.status)
    for (const type of TYPES) {
      const { status, body } = await send(method, path, { 'content-type': type, ...framing })
      expect({ type, status, code: body?.code }).toEqual({ type, status: expected.status, code: expected.body?.code })
    }
  })
})

test.each([
  ['text/plain', 'x', 415],
  [JSON_TYPE, '{', 400],
])('a body of type %s that is there is looked at', async (type, body, status) => {
  const answer = await send('DELETE', '/api/sms/admin/quota/64', { 'content-type': type }, body)
  expect(answer.status).toBe(status)
})

test.each(['{}', 'null', '[]', '""', ' { }\n', ' ', '\r\n', '\ufeff', '\ufeff{}'])(
  '%j, which some clients send for nothing, is none',
  async body => {
    const answer = await send('DELETE', '/api/sms/admin/quota/64', { 'content-type': JSON_TYPE }, body)
    expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } })
  },
)

test.each(['{"dry_run":true}', '[1]', '"x"', '1', 'true', 'false', '0'])(
  '%s is refused where no body is accepted, so that it is not taken for one that counts',
  async body => {
    const { status, body: problem } = await send(
      'DELETE',
      '/api/sms/admin/quota/64',
      { 'content-type': JSON_TYPE },
      body,
    )
    expect({ status, errors: problem.errors }).toEqual({
      status: 400,
      errors: [{ path: '', message: 'must be empty: this call takes none' }],
    })
  },
)

test('a body that is required is asked for', async () => {
  const answer = await send('POST', '/api/sms/admin/quota', { 'content-type': JSON_TYPE, 'content-length': '0' })
  expect(answer).toMatchObject({ status: 400, body: { detail: 'The body is empty; a JSON object is required.' } })
})
