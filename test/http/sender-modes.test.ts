import { describe, expect, test } from 'vitest'
import { startSender } from './sender-fixture.ts'

describe('if a country is required', async () => {
  const { ask, allow } = await startSender({ requireCountry: true })
  await allow({ user_id: 7, limit: 100 })
  const text = 'x'

  test.each([
    ['no country', { units: 1 }, '/country'],
    ['a number without a country', { message: { to: '+999510000000001', text } }, '/message/to'],
  ])('%s is refused', async (_what, fields, path) => {
    for (const [op, more] of [
      ['check', {}],
      ['reserve', { id: 'm' }],
      ['consume', { id: 'm', force: true }],
    ] as const) {
      const { status, body } = await ask(op, { user_id: 7, ...fields, ...more })
      expect([status, body.code]).toEqual([400, 'invalid_request'])
      expect(body.errors).toEqual([{ path, message: expect.stringMatching(/require/) }])
      const { body: batch } = await ask('batch', { operations: [{ op, user_id: 7, ...fields, ...more }] })
      expect(batch.results[0]).toMatchObject({ status: 400, body: { errors: body.errors } })
    }
  })

  test('a named or derived country is enough; settling needs none', async () => {
    expect((await ask('reserve', { user_id: 7, id: 'a', units: 1, country: 'DE' })).body.granted).toBe(true)
    const message = { to: '+4915112345678', text }
    expect((await ask('consume', { user_id: 7, id: 'b', message })).body).toMatchObject({ granted: true })
    expect((await ask('commit', { user_id: 7, id: 'a' })).status).toBe(200)
  })
})

describe('in observe mode', async () => {
  const { ask, allow, counters } = await startSender({ observe: true })

  test('everything is granted, and the response says what would be denied', async () => {
    const grant = await allow({ user_id: 7, limit: 10 })
    const within = await ask('reserve', { user_id: 7, id: 'a', units: 6 })
    expect(within.body).toMatchObject({ granted: true, remaining: 4 })
    expect(within.body).not.toHaveProperty('would_deny')
    for (const [op, more] of [
      ['check', {}],
      ['consume', { id: 'b' }],
    ] as const) {
      const { status, body } = await ask(op, { user_id: 7, units: 6, ...more })
      expect([status, body.granted, body.would_deny]).toEqual([200, true, 'quota_exhausted'])
    }
    expect(await counters(grant)).toEqual([6, 6])
    const { body } = await ask('reserve', { user_id: 8, id: 'a', units: 6 })
    expect(body).toMatchObject({ granted: true, unfunded: 6, draws: [], would_deny: 'no_quota' })
  })
})

describe('when the queue is full', async () => {
  const { ask, allow } = await startSender({ queueCommands: 10 })
  await allow({ user_id: 7, limit: 100 })
  const reserve = (n: number) => ({ user_id: 7, id: `m${n}`, units: 1 })

  test('calls are refused with Retry-After, and accepted ones complete', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => ask('reserve', reserve(n))))
    const [done, refused] = [200, 503].map(code => answers.filter(({ status }) => status === code))
    expect((done?.length ?? 0) + (refused?.length ?? 0)).toBe(20)
    expect(done?.length).toBeGreaterThanOrEqual(5)
    expect(refused?.length).toBeGreaterThan(0)
    for (const { headers, body } of refused ?? []) {
      expect(headers['retry-after']).toMatch(/^[1-9]\d*$/)
      expect(body).toMatchObject({ code: 'overloaded', title: 'Overloaded', detail: expect.stringContaining('repeat') })
    }
    expect(done?.every(({ body }) => body.granted)).toBe(true)
  })

  test('operations of a batch that do not fit are refused one by one', async () => {
    const operations = Array.from({ length: 20 }, (_, n) => ({ op: 'reserve', ...reserve(n + 100) }))
    const { status, body } = await ask('batch', { operations })
    expect(status).toBe(200)
    const statuses = body.results.map((result: { status: number }) => result.status)
    expect(statuses).toEqual([...Array(5).fill(200), ...Array(15).fill(503)])
    expect(body.results[19].body).toMatchObject({ status: 503, code: 'overloaded', request_id: expect.any(String) })
  })
})

test('senders have no rate limit', async () => {
  const { ask } = await startSender({ rateLimitPerMinute: 1 })
  for (let n = 0; n < 5; n++) expect((await ask('check', { user_id: 7, units: 1 })).status).toBe(200)
})
