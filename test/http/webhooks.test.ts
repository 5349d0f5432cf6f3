import { describe, expect, test } from 'vitest'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { type Answer, startService } from '../support/service.ts'

const service = await startService()
const { call, clock } = service
const WEBHOOKS = '/api/sms/admin/webhooks'
const URL_ = 'https://example.com/hook'

async function create(body: object = {}) {
  const answer = await call('POST', WEBHOOKS, { body: { url: URL_, ...body } })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer
}

test('a webhook is created, read, changed and deleted; its secret is shown once', async () => {
  const { body, headers } = await create({ types: ['quota.created'], description: 'for tests' })
  const { secret, ...shown } = body
  expect(Buffer.from(secret.slice('whsec_'.length), 'base64')).toHaveLength(32)
  expect(secret).toMatch(/^whsec_/)
  expect(headers.location).toBe(`${WEBHOOKS}/${body.id}`)
  expect(shown).toEqual({
    id: body.id,
    kind: 'webhook',
    url: URL_,
    addresses: null,
    language: 'en',
    user_ids: null,
    types: ['quota.created'],
    only_when_low: null,
    digest: null,
    description: 'for tests',
    enabled: true,
    disabled_reason: null,
    failing_since: null,
    previous_until: null,
    created_at: new Date(clock.now).toISOString(),
    created_by: '1',
    updated_at: new Date(clock.now).toISOString(),
    updated_by: '1',
  })
  const path = `${WEBHOOKS}/${body.id}`
  expect(await call('GET', path)).toMatchObject({ status: 200, body: shown })

  clock.now += 1_000
  const changed = await call('PUT', path, { body: { types: null, enabled: false } })
  expect(changed).toMatchObject({
    status: 200,
    body: { url: URL_, types: null, enabled: false, description: 'for tests' },
  })
  expect(changed.body.updated_at).toBe(new Date(clock.now).toISOString())

  const rotated = await call('POST', `${path}/rotate-secret`)
  expect(rotated.status).toBe(200)
  expect(rotated.body.secret).toMatch(/^whsec_/)
  expect(rotated.body.secret).not.toBe(secret)
  expect(rotated.body.previous_until).toBe(new Date(clock.now + DAY_MS).toISOString())

  const list = await call('GET', WEBHOOKS)
  expect(list.status).toBe(200)
  expect(list.body.items.map((item: { id: number }) => item.id)).toContain(body.id)
  const shownLater = JSON.stringify([list.body, changed.body, (await call('GET', path)).body])
  for (const hidden of ['whsec_', secret, rotated.body.secret]) expect(shownLater).not.toContain(hidden)

  clock.now += DAY_MS
  expect((await call('GET', path)).body.previous_until).toBeNull()

  expect(await call('DELETE', path)).toMatchObject({ status: 204 })
  for (const [method, at] of [
    ['GET', path],
    ['PUT', path],
    ['DELETE', path],
    ['POST', `${path}/rotate-secret`],
    ['POST', `${path}/test`],
    ['GET', `${path}/deliveries`],
    ['GET', `${path}/deliveries/evt_1_1`],
    ['POST', `${path}/deliveries/evt_1_1/redeliver`],
    ['POST', `${path}/redeliver`],
  ] as const) {
    const sent = method === 'PUT' ? {} : { since: '2026-01-01T00:00:00Z' }
    const options = method === 'PUT' || at.endsWith(`${body.id}/redeliver`) ? { body: sent } : {}
    expect(await call(method, at, options), `${method} ${at}`).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    })
  }
})

test('the number of webhooks is limited', async () => {
  const { length } = (await call('GET', WEBHOOKS)).body.items
  const made: Answer[] = []
  for (let n = length; n < 100; n++) made.push(await create({ enabled: false }))
  const refused = await call('POST', WEBHOOKS, { body: { url: URL_ } })
  expect(refused).toMatchObject({ status: 422, body: { code: 'too_many_webhooks' } })
  for (const { body } of made) await call('DELETE', `${WEBHOOKS}/${body.id}`)
})

describe('refused are', async () => {
  const { id } = (await create()).body
  const bad: [string, string, string, unknown, string[]][] = [
    ['no URL', 'POST', WEBHOOKS, {}, ['/url']],
    ['an unsupported protocol', 'POST', WEBHOOKS, { url: 'ftp://example.com' }, ['/url']],
    ['a file URL', 'PUT', `${WEBHOOKS}/${id}`, { url: 'file:///etc/passwd' }, ['/url']],
    ['a password', 'POST', WEBHOOKS, { url: 'https://a:b@example.com' }, ['/url']],
    ['no host', 'POST', WEBHOOKS, { url: 'https://' }, ['/url']],
    ['this machine', 'POST', WEBHOOKS, { url: 'http://127.0.0.1/' }, ['/url']],
    ['this machine as a mapped address', 'PUT', `${WEBHOOKS}/${id}`, { url: 'http://[::ffff:127.0.0.1]/' }, ['/url']],
    ['the metadata address of a cloud', 'POST', WEBHOOKS, { url: 'http://169.254.169.254/latest' }, ['/url']],
    ['an unknown type', 'POST', WEBHOOKS, { url: URL_, types: ['quota.made'] }, ['/types/0']],
    ['an empty list of types', 'POST', WEBHOOKS, { url: URL_, types: [] }, ['/types']],
    ['a chosen secret', 'POST', WEBHOOKS, { url: URL_, secret: 'x' }, ['/secret']],
    ['another kind', 'PUT', `${WEBHOOKS}/${id}`, { kind: 'slack' }, ['/kind']],
    ['addresses of a webhook', 'PUT', `${WEBHOOKS}/${id}`, { addresses: ['a@b.example'] }, ['/addresses']],
    ['this machine as Slack', 'POST', WEBHOOKS, { kind: 'slack', url: 'http://127.0.0.1/' }, ['/url']],
    ['e-mail without a server', 'POST', WEBHOOKS, { kind: 'email', addresses: ['a@b.example'] }, ['/kind']],
    ['no users', 'POST', WEBHOOKS, { url: URL_, user_ids: [] }, ['/user_ids']],
    ['no meaning of low', 'POST', WEBHOOKS, { url: URL_, only_when_low: {} }, ['/only_when_low']],
    ['a digest for a program', 'POST', WEBHOOKS, { url: URL_, digest: { hour: 9, time_zone: 'UTC' } }, ['/digest']],
    ['one for an existing program', 'PUT', `${WEBHOOKS}/${id}`, { digest: { hour: 9, time_zone: 'UTC' } }, ['/digest']],
    ['no such hour', 'POST', WEBHOOKS, { url: URL_, digest: { hour: 24, time_zone: 'UTC' } }, ['/digest/hour']],
    ['no such zone', 'POST', WEBHOOKS, { url: URL_, digest: { hour: 9, time_zone: 'X' } }, ['/digest/time_zone']],
    ['a share of nothing', 'PUT', `${WEBHOOKS}/${id}`, { only_when_low: { share: 0 } }, ['/only_when_low/share']],
    ['a missing since', 'POST', `${WEBHOOKS}/${id}/redeliver`, {}, ['/since']],
    ['an invalid since', 'POST', `${WEBHOOKS}/${id}/redeliver`, { since: 'yesterday' }, ['/since']],
    [
      'another status',
      'POST',
      `${WEBHOOKS}/${id}/redeliver`,
      { since: '2026-01-01T00:00:00Z', status: 'pending' },
      ['/status'],
    ],
    ['an invalid delivery id', 'POST', `${WEBHOOKS}/${id}/deliveries/7/redeliver`, undefined, ['delivery']],
    ['an invalid webhook id', 'GET', `${WEBHOOKS}/x`, undefined, ['id']],
    ['a forged cursor', 'GET', `${WEBHOOKS}/${id}/deliveries?cursor=abc`, undefined, ['cursor']],
    ['an unknown status', 'GET', `${WEBHOOKS}/${id}/deliveries?status=lost`, undefined, ['status']],
    ['an unknown parameter', 'GET', `${WEBHOOKS}?page=1`, undefined, ['page']],
  ]
  test.each(bad)('%s: %s %s', async (_what, method, url, body, paths) => {
    const answer = await call(method, url, { body })
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    expect(answer.body.errors.map((issue: { path: string }) => issue.path)).toEqual(paths)
  })

  test.each([
    ['POST', WEBHOOKS],
    ['PUT', `${WEBHOOKS}/${id}`],
  ])('%s %s with a body that is too large or not JSON', async (method, url) => {
    expect((await call(method, url, { body: { url: 'x'.repeat(70_000) } })).status).toBe(413)
    const text = { body: 'url=x', headers: { 'content-type': 'text/plain' } }
    expect((await call(method, url, text)).status).toBe(415)
  })
})
