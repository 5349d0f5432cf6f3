import { describe, expect, test } from 'vitest'
import { reserve } from '../support/engine.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const { call, clock, engine } = service
let nextUser = 100

/** Creates a quota for a user of its own. */
async function create(body: object) {
  nextUser += 1
  const answer = await call('POST', '/api/sms/admin/quota', { body: { user_id: nextUser, ...body } })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body
}

const adjust = (id: number | string, body: unknown, headers: Record<string, string> = {}, token = service.adminToken) =>
  call('POST', `/api/sms/admin/quota/${id}/adjust`, { body, headers, token })

const limitOf = async (id: number) => (await call('GET', `/api/sms/admin/quota/${id}`)).body.limit

describe('an adjustment', () => {
  test('raises and lowers the limit, and returns the quota with its ETag', async () => {
    const quota = await create({ limit: 1000 })
    const up = await adjust(quota.id, { delta: 500, reason: 'Goodwill' })
    expect(up.status).toBe(200)
    expect(up.body).toEqual({ ...quota, limit: 1500, remaining: 1500, version: 2 })
    expect(up.headers.etag).toBe('"2"')
    const down = await adjust(quota.id, { delta: -1500, reason: 'Taken back' })
    expect(down.body).toMatchObject({ limit: 0, status: 'exhausted', version: 3 })
    expect((await call('GET', `/api/sms/admin/quota/${quota.id}`)).body).toEqual(down.body)
  })

  test('concurrent adjustments and reservations all count', async () => {
    const { id, user_id } = await create({ limit: 1000 })
    const [outcomes] = await Promise.all([
      Promise.all(Array.from({ length: 50 }, (_, n) => engine.submit(reserve(user_id, `r-${n}`, 3)))),
      Promise.all(Array.from({ length: 10 }, () => adjust(id, { delta: 1, reason: 'Meanwhile' }))),
    ])
    expect(new Set(outcomes.map(({ outcome }) => outcome))).toEqual(new Set(['granted']))
    expect((await call('GET', `/api/sms/admin/quota/${id}`)).body).toMatchObject({ limit: 1010, reserved: 150 })
  })
})

describe('a limit moved below what is used and reserved', () => {
  test('is refused unless allow_below_usage is set', async () => {
    const { id } = await create({ limit: 100, opening_used: 60 })
    const refused = await adjust(id, { delta: -50, reason: 'Contract cut' })
    expect(refused).toMatchObject({ status: 422, body: { code: 'below_usage' } })
    expect(await limitOf(id)).toBe(100)
    const done = await adjust(id, { delta: -50, reason: 'Contract cut', allow_below_usage: true })
    expect(done).toMatchObject({ status: 200, body: { limit: 50, used: 60, overage: 10, status: 'exhausted' } })
  })

  test('is not refused if it was raised, also where it stays below', async () => {
    const { id } = await create({ limit: 100, opening_used: 60 })
    await adjust(id, { delta: -90, reason: 'Contract cut', allow_below_usage: true })
    const raised = await adjust(id, { delta: 20, reason: 'Goodwill' })
    expect(raised).toMatchObject({ status: 200, body: { limit: 30, used: 60, overage: 30, status: 'exhausted' } })
    expect(await adjust(id, { delta: -1, reason: 'Cut' })).toMatchObject({ status: 422, body: { code: 'below_usage' } })
  })

  test('is refused below 0 and above the maximum', async () => {
    const { id } = await create({ limit: 999_999_999_999 })
    for (const delta of [2, -1_000_000_000_000]) {
      const answer = await adjust(id, { delta, reason: 'Too much' })
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request', errors: [{ path: '/delta' }] } })
    }
    expect((await adjust(id, { delta: 1, reason: 'To the brim' })).body.limit).toBe(1_000_000_000_000)
  })

  test('an unlimited quota cannot be adjusted', async () => {
    const { id } = await create({ limit: null })
    const answer = await adjust(id, { delta: 1, reason: 'More of all' })
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request', errors: [{ path: '/delta' }] } })
    expect(answer.body.detail).toContain('unlimited')
  })
})

describe('If-Match', () => {
  test('allows only the named version', async () => {
    const { id } = await create({ limit: 10 })
    const body = { delta: 1, reason: 'Once' }
    expect((await adjust(id, body, { 'if-match': '"1"' })).status).toBe(200)
    const late = await adjust(id, body, { 'if-match': '"1"' })
    expect(late).toMatchObject({ status: 412, body: { code: 'version_mismatch' }, headers: { etag: '"2"' } })
    expect(await limitOf(id)).toBe(11)
  })
})

describe('Idempotency-Key', () => {
  test('the same key and body get the same response and move the limit once', async () => {
    const { id } = await create({ limit: 10 })
    const body = { delta: 5, reason: 'Once' }
    const headers = { 'idempotency-key': 'adjust-1', 'if-match': '"1"' }
    const first = await adjust(id, body, headers)
    clock.now += 60_000
    await adjust(id, { delta: 100, reason: 'Another' })
    // The first call changed the version that If-Match names.
    const again = await adjust(id, body, headers)
    expect([again.status, again.body, again.headers.etag]).toEqual([200, first.body, '"2"'])
    expect(await limitOf(id)).toBe(115)
  })

  test('a refused call does not use up the key', async () => {
    const { id } = await create({ limit: 10, opening_used: 10 })
    const headers = { 'idempotency-key': 'adjust-4' }
    const body = { delta: -1, reason: 'Cut' }
    expect((await adjust(id, body, headers)).status).toBe(422)
    await adjust(id, { delta: 5, reason: 'Room' })
    expect((await adjust(id, body, headers)).body.limit).toBe(14)
  })
})

describe('an invalid adjustment is refused', () => {
  test.each([
    [{ reason: 'x' }, '/delta'],
    [{ delta: 0, reason: 'x' }, '/delta'],
    [{ delta: 1.5, reason: 'x' }, '/delta'],
    [{ delta: '1', reason: 'x' }, '/delta'],
    [{ delta: 1_000_000_000_001, reason: 'x' }, '/delta'],
    [{ delta: 1 }, '/reason'],
    [{ delta: 1, reason: '' }, '/reason'],
    [{ delta: 1, reason: 'x'.repeat(501) }, '/reason'],
    [{ delta: 1, reason: 'x', limit: 5 }, '/limit'],
  ])('%j', async (body, path) => {
    const { id } = await create({ limit: 10 })
    expect(await adjust(id, body)).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', errors: [{ path }] },
    })
  })

  test('-0', async () => {
    const { id } = await create({ limit: 10 })
    expect((await adjust(id, '{"delta":-0,"reason":"x"}')).status).toBe(400)
  })

  test('for unknown quotas and with broken requests', async () => {
    const { id } = await create({ limit: 10 })
    const body = { delta: 1, reason: 'x' }
    expect((await adjust(64_000_000, body)).status).toBe(404)
    expect((await adjust('07', body)).status).toBe(400)
    expect((await adjust(id, body, { 'if-match': 'x' })).status).toBe(400)
    expect((await adjust(id, 'delta=1', { 'content-type': 'text/plain' })).status).toBe(415)
    expect((await adjust(id, { ...body, reason: 'x'.repeat(70_000) })).status).toBe(413)
    await call('DELETE', `/api/sms/admin/quota/${id}`)
    expect((await adjust(id, body)).status).toBe(404)
  })
})
