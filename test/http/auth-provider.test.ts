import { beforeEach, expect, test } from 'vitest'
import { HOUR_MS } from '../../src/domain/time/time.ts'
import { createProvider } from '../../src/http/auth/provider.ts'
import { serve } from '../support/listening.ts'

let requested: string[] = []
let answer: { status: number; body: string } = { status: 200, body: '' }
const url = await serve((request, response) => {
  requested.push(request.url ?? '')
  response.writeHead(answer.status, { location: '/elsewhere', 'content-type': 'application/json' }).end(answer.body)
})
const issuer = `${url}/realms/sms`
const GOOD = { issuer, authorization_endpoint: `${issuer}/auth`, token_endpoint: 'http://127.0.0.1:1/token', more: [1] }
const clock = { now: 0 }
const make = (of = issuer) => createProvider({ issuer: of, clientId: 'console', scope: 'openid' }, () => clock.now)
const give = (document: unknown, status = 200) => {
  answer = { status, body: typeof document === 'string' ? document : JSON.stringify(document) }
}

beforeEach(() => {
  requested = []
  clock.now = 0
})

test('the document is read once an hour, also by concurrent sign-ins', async () => {
  give(GOOD)
  const provider = make()
  expect(await Promise.all([provider.discover(), provider.discover()])).toEqual([GOOD, GOOD])
  await provider.discover()
  expect(requested).toEqual(['/realms/sms/.well-known/openid-configuration'])
  clock.now = HOUR_MS
  await provider.discover()
  expect(requested).toHaveLength(2)
})

test('an issuer that ends in a slash has its document at the same path', async () => {
  give({ ...GOOD, issuer: `${issuer}/` })
  await make(`${issuer}/`).discover()
  expect(requested).toEqual(['/realms/sms/.well-known/openid-configuration'])
})

test.each<[string, unknown, number]>([
  ['an error', GOOD, 503],
  ['a redirect', GOOD, 302],
  ['text that is not JSON', '<html>', 200],
  ['null', null, 200],
  ['an empty document', {}, 200],
  ['the document of another issuer', { ...GOOD, issuer: 'https://id.example' }, 200],
  ['an endpoint that is not a URL', { ...GOOD, token_endpoint: '/token' }, 200],
  ['an endpoint that is a script', { ...GOOD, authorization_endpoint: 'javascript:alert(1)' }, 200],
])('%s is refused, and the document is read again', async (_what, document, status) => {
  const provider = make()
  give(document, status)
  await expect(provider.discover()).rejects.toMatchObject({ code: 'unavailable' })
  give(GOOD)
  expect(await provider.discover()).toEqual(GOOD)
})
