import { describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { MAX_PAUSES } from '../../src/domain/basics/bounds.ts'
import { createAuditRetention } from '../../src/jobs/audit-retention.ts'
import { createUsageRollup } from '../../src/jobs/usage-rollup.ts'
import { pagesOf } from '../support/service.ts'
import { startSender } from './sender-fixture.ts'

const service = await startSender()
const { call, clock, db, ask, allow, someone, userToken } = service
const PAUSES = '/api/sms/admin/pauses'
const inMs = (ms: number) => new Date(clock.now + ms).toISOString()
const HOUR_MS = 3_600_000

async function pause(body: object, headers: Record<string, string> = {}) {
  const answer = await call('POST', PAUSES, { body: { user_id: null, country: 'FR', ...body }, headers })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body
}

/** All ids of a list. */
const idsOf = async (query: string, size = 20): Promise<number[]> =>
  (await pagesOf(service, `${PAUSES}?page_size=${size}${query}`)).flatMap(({ items }) =>
    items.map(({ id }: { id: number }) => id),
  )

describe('a pause', () => {
  test('is made, read, listed and lifted', async () => {
    const user_id = someone()
    const until = inMs(HOUR_MS)
    const given = { user_id, country: 'FR', message_types: ['otp', 'news'], until, reason: 'Pumped codes' }
    const { headers, body } = await call('POST', PAUSES, { body: given })
    const made = {
      id: body.id,
      ...given,
      message_types: ['news', 'otp'],
      origin: 'person',
      evidence: null,
      observed: false,
      active: true,
      created_at: inMs(0),
      created_by: '1',
      lifted_at: null,
      lifted_by: null,
    }
    expect(body).toEqual(made)
    expect(headers.location).toBe(`${PAUSES}/${body.id}`)
    expect((await call('GET', `${PAUSES}/${body.id}`)).body).toEqual(made)
    expect((await call('GET', `${PAUSES}?user_id=${user_id}`)).body.items).toEqual([made])

    clock.now += 1_000
    const lifted = { ...made, active: false, lifted_at: inMs(0), lifted_by: '1' }
    expect((await call('DELETE', `${PAUSES}/${body.id}`)).status).toBe(204)
    clock.now += 1_000
    expect((await call('DELETE', `${PAUSES}/${body.id}`)).status).toBe(204)
    expect((await call('GET', `${PAUSES}/${body.id}`)).body).toEqual(lifted)
  })

  test('is refused if it makes no sense, and leaves no user then', async () => {
    const user_id = someone()
    const refused = async (body: object) => {
      const { status, body: problem } = await call('POST', PAUSES, { body })
      return [
        status,
        problem.errors?.map(({ path, message }: { path: string; message: string }) => `${path} ${message}`),
      ]
    }
    expect(await refused({ user_id, country: 'FR', until: inMs(0) })).toEqual([400, ['/until must be in the future']])
    expect((await call('GET', `/api/sms/admin/users/${user_id}`)).status).toBe(404)
    expect((await refused({ user_id, country: 'XX' }))[0]).toBe(400)
    // A forgotten user must not pause a country for all users.
    expect((await refused({ country: 'FR' }))[0]).toBe(400)
    expect((await call('DELETE', `${PAUSES}/999999`)).status).toBe(404)
    expect((await call('GET', `${PAUSES}/999999`)).status).toBe(404)
  })
})

describe('a message to a paused destination', () => {
  test('is denied at once by the process that was asked, and granted again when the pause is lifted', async () => {
    const user_id = someone()
    await allow({ user_id, limit: 10 })
    await allow({ user_id, kind: 'cap', limit: 0, countries: ['FR'] })
    const until = inMs(HOUR_MS)
    const { id } = await pause({ user_id, until, reason: 'Pumped codes' })
    const denied = {
      granted: false,
      reason: 'destination_paused',
      remaining: 0,
      limiting_quota_id: null,
      retry_at: until,
      pause: { id, until, reason: 'Pumped codes' },
    }
    const message = { user_id, units: 1, country: 'FR' }
    expect((await ask('check', message)).body).toEqual(denied)
    expect((await ask('consume', { ...message, id: 'm' })).body).toEqual(denied)
    const check = await call('POST', '/api/sms/admin/quota/check', { body: message })
    expect(check.body).toMatchObject({ ...denied, explain: [{ verdict: 'blocks' }, { verdict: 'has_headroom' }] })
    expect((await ask('consume', { ...message, id: 'elsewhere', country: 'DE' })).body.granted).toBe(true)

    await call('DELETE', `${PAUSES}/${id}`)
    expect((await ask('check', message)).body.reason).toBe('cap_reached')
  })

  test('is in the log of denials, in usage and in metrics by its reason', async () => {
    const user_id = someone()
    await allow({ user_id, limit: 10 })
    await pause({ user_id, country: 'PL' })
    for (const id of ['one', 'two']) await ask('reserve', { user_id, units: 3, country: 'PL', id })
    const { body } = await call('GET', `/api/sms/admin/denials?user_id=${user_id}&reason=destination_paused`)
    expect(body.items).toMatchObject([{ id: 'two', limiting_quota_id: null, retry_at: null }, { id: 'one' }])
    const usage = async () => {
      const query = `from=2026-03-15T00:00:00Z&to=2026-03-16T00:00:00Z&interval=day&user_id=${user_id}&country=PL`
      const { denied, denied_by_reason } = (await call('GET', `/api/sms/admin/quota/usage?${query}`)).body.total
      return [denied, denied_by_reason.destination_paused]
    }
    const both = { units: 6, messages: 2 }
    expect(await usage()).toEqual([both, both])
    await createUsageRollup({ db, log: console }).rollUpOnce()
    expect(await usage()).toEqual([both, both])
    expect(await service.metrics.text()).toContain(
      'sms_quota_commands_total{op="reserve",outcome="denied",reason="destination_paused"} 2',
    )
  })

  test('is listed in the summary for the user and administrators, without its reason', async () => {
    const user_id = someone()
    await allow({ user_id, limit: 10 })
    const own = await pause({ user_id, country: 'PT', message_types: ['otp'], reason: 'secret' })
    const ofAll = await pause({ country: 'NL', until: inMs(HOUR_MS) })
    await pause({ user_id: someone(), country: 'NL' })
    const paused = [
      { id: ofAll.id, country: 'NL', message_types: null, until: ofAll.until },
      { id: own.id, country: 'PT', message_types: ['otp'], until: null },
    ]
    const summaries = [
      await call('GET', '/api/sms/quota/summary', { token: await userToken(user_id) }),
      await call('GET', `/api/sms/admin/quota/summary?user_id=${user_id}`),
    ]
    for (const { body } of summaries) {
      expect(body).toMatchObject({ available: 10, denial: null, paused })
      expect(JSON.stringify(body)).not.toContain('secret')
    }
    await call('DELETE', `${PAUSES}/${ofAll.id}`)
  })
})

test('what pauses and caps denied in the last 24 hours is counted by rule', async () => {
  // What was denied before is older.
  clock.now += 48 * HOUR_MS
  const [one, other, own] = [someone(), someone(), someone()]
  const slots = [
    { slot: 'monthly', limit: 100, period: 'month' },
    { slot: 'codes', kind: 'cap', limit: 1, period: 'hour', per: 'country' },
  ]
  const made = await call('POST', '/api/sms/admin/plans', { body: { name: 'Codes', slots } })
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  const plan = made.body.id
  for (const user of [one, other])
    expect((await call('PUT', `/api/sms/admin/users/${user}/plan`, { body: { plan_id: plan } })).status).toBe(200)
  await allow({ user_id: own, limit: 5 })
  await allow({ user_id: own, kind: 'cap', limit: 0 })
  const holding = await pause({ country: 'IT' })
  const lifted = await pause({ country: 'ES', user_id: one })
  const send = async (user_id: number, id: string, what: object) =>
    (await ask('consume', { user_id, id, units: 1, ...what })).body.granted
  expect(await send(one, 'first', { country: 'AT' })).toBe(true)
  const denied = [
    await send(one, 'second', { country: 'AT' }),
    await send(own, 'own', {}),
    await send(one, 'italy', { country: 'IT' }),
    await send(other, 'italy', { country: 'IT' }),
    await send(one, 'spain', { country: 'ES' }),
  ]
  expect(denied).toEqual(denied.map(() => false))
  await call('DELETE', `${PAUSES}/${lifted.id}`)
  const { body } = await call('GET', '/api/sms/admin/denials/rules')
  const capped = { reason: 'cap_reached', pause_id: null, denials: 1, users: 1 }
  const paused = { reason: 'destination_paused', plan_id: null, slot: null }
  expect(body).toEqual({
    from: inMs(-24 * HOUR_MS),
    complete: true,
    items: [
      { ...paused, pause_id: holding.id, denials: 2, users: 2 },
      { ...capped, plan_id: null, slot: null },
      { ...capped, plan_id: plan, slot: 'codes' },
      { ...paused, pause_id: null, denials: 1, users: 1 },
    ],
  })
})

test('the audit and the feed tell who made and lifted a pause, also one for all users', async () => {
  const user_id = someone()
  const made = [await pause({ user_id, country: 'UG' }), await pause({ country: 'UG', reason: 'Fraud' })]
  for (const { id } of made) await call('DELETE', `${PAUSES}/${id}`)
  const { body } = await call('GET', `/api/sms/admin/audit?resource=pause&thing_id=${made[1].id}`)
  expect(body.items).toMatchObject([
    {
      resource: 'pause',
      action: 'lifted',
      version: 2,
      user_id: null,
      before: { active: true },
      after: { active: false },
    },
    { resource: 'pause', action: 'created', version: 1, actor: '1', before: null, after: made[1] },
  ])
  const ofUser = await call('GET', `/api/sms/admin/audit?user_id=${user_id}`)
  expect(ofUser.body.items).toMatchObject([
    { thing_id: made[0].id, user_id },
    { thing_id: made[0].id, user_id },
  ])
  const feed = (await call('GET', '/api/sms/admin/events?last=200&types=pause.made,pause.lifted')).body.items
  const eventsOf = (id: number) =>
    feed
      .filter(({ data }: { data: { pause: { id: number } } }) => data.pause.id === id)
      .map(({ type, user_id: user, sequence }: Record<string, unknown>) => [type, user, sequence])
  expect(eventsOf(made[0].id)).toEqual([
    ['pause.made', user_id, 1],
    ['pause.lifted', user_id, 2],
  ])
  expect(eventsOf(made[1].id)).toEqual([
    ['pause.made', null, null],
    ['pause.lifted', null, null],
  ])
})

test('pauses are removed 400 days after their end, and their ids are not used again', async () => {
  const until = inMs(HOUR_MS)
  const { id } = await pause({ country: 'ZM', until })
  const kept = await pause({ country: 'ZM' })
  const retention = createAuditRetention({ db, now: () => clock.now, retentionMs: null })
  const end = Date.parse(until) + 400 * 86_400_000
  await retention.removeOnce(end - 1)
  expect((await call('GET', `${PAUSES}/${id}`)).status).toBe(200)
  await retention.removeOnce(end)
  expect((await call('GET', `${PAUSES}/${id}`)).status).toBe(404)
  expect(await idsOf('&country=ZM')).toEqual([kept.id])
  expect((await pause({ country: 'ZM' })).id).toBe(kept.id + 1)
})

test(`at most ${MAX_PAUSES} pauses are active`, async () => {
  await db.query({
    text: sql`insert into pause (shard, id, country, until, origin, created_at, created_by)
           select 0, 1000000 + n, 'AQ', '2026-06-01', 'breaker', now(), 'a' from generate_series(1, $1::int) n`,
    values: [MAX_PAUSES],
  })
  const body = { user_id: null, country: 'AQ' }
  const refused = await call('POST', PAUSES, { body })
  expect([refused.status, refused.body.code]).toEqual([422, 'too_many_pauses'])
  clock.now = Date.parse('2026-06-01T00:00:00Z')
  expect((await call('POST', PAUSES, { body })).status).toBe(201)
})
