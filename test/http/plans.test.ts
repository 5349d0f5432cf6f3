import { describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { MAX_PLANS } from '../../src/domain/basics/bounds.ts'
import { PLAN_FIELD_NAMES, PLAN_FIELDS, type PlanFields } from '../../src/domain/plans/plan-fields.ts'
import { startService } from '../support/service.ts'

const { call, clock, db } = await startService()
const PLANS = '/api/sms/admin/plans'

const MONTHLY = { slot: 'monthly', limit: 1000, period: 'month', name: 'Monthly package' }
const DAILY = { slot: 'daily', kind: 'cap', limit: 200, period: 'day' }
/** What a slot has that is asked for with a limit alone. */
const DEFAULTS = {
  lasts_days: null,
  kind: 'grant',
  period: null,
  anchor: null,
  time_zone: 'UTC',
  per: null,
  counts: 'units',
  name: null,
  rollover_limit: 0,
  overage_limit: 0,
  priority: 100,
  countries: null,
  message_types: null,
  alert_at: [80, 100],
  metadata: {},
}

/** Other values of the fields of a plan than `create` sends. */
const card = await call('POST', '/api/sms/admin/rate-cards', { body: { name: 'Standard' } })
const OTHER: PlanFields = { name: 'Other', is_default: true, rate_card_id: card.body.id }

async function create(body: object = {}) {
  const answer = await call('POST', PLANS, { body: { name: 'Basic', slots: [MONTHLY, DAILY], ...body } })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer
}

describe('a plan', () => {
  test('is made with the defaults of quotas, read and listed', async () => {
    const { body, headers } = await create()
    const at = new Date(clock.now).toISOString()
    expect(body).toEqual({
      id: body.id,
      version: 1,
      name: 'Basic',
      slots: [
        { ...DEFAULTS, ...MONTHLY },
        { ...DEFAULTS, ...DAILY },
      ],
      is_default: false,
      rate_card_id: null,
      archived: false,
      created_at: at,
      created_by: '1',
      updated_at: at,
      updated_by: '1',
    })
    expect(headers).toMatchObject({ location: `${PLANS}/${body.id}`, etag: '"1"' })
    const read = await call('GET', `${PLANS}/${body.id}`)
    expect(read).toMatchObject({ status: 200, headers: { etag: '"1"' }, body: { ...body, users: [] } })
    const list = await call('GET', PLANS)
    expect(list.body.items[0]).toEqual(body)
  })

  test('keeps all fields of a slot, in the form of a quota', async () => {
    const given = {
      slot: 'de_otp-1',
      lasts_days: 30,
      kind: 'grant',
      name: 'Germany',
      limit: 10,
      period: 'month',
      anchor: '15',
      time_zone: 'Europe/Berlin',
      rollover_limit: 5,
      overage_limit: 3,
      priority: 7,
      countries: ['DE', 'AT'],
      message_types: ['otp', 'alert'],
      alert_at: [90, 50],
      metadata: { contract: 'K-1' },
    }
    const { body } = await create({ slots: [given] })
    const lists = { countries: ['AT', 'DE'], message_types: ['alert', 'otp'], alert_at: [50, 90] }
    expect(body.slots).toEqual([{ ...given, ...lists, per: null, counts: 'units' }])
  })

  test('merges a change, which makes a new version', async () => {
    const { id } = (await create()).body
    clock.now += 1_000
    const renamed = await call('PUT', `${PLANS}/${id}`, { body: { name: 'Basic 2' } })
    expect(renamed).toMatchObject({ status: 200, headers: { etag: '"2"' }, body: { version: 2, name: 'Basic 2' } })
    expect(renamed.body.slots).toHaveLength(2)
    expect(renamed.body.updated_at).toBe(new Date(clock.now).toISOString())
    const other = await call('PUT', `${PLANS}/${id}`, { body: { slots: [{ slot: 'monthly', limit: 5 }] } })
    expect(other.body).toMatchObject({
      version: 3,
      name: 'Basic 2',
      slots: [{ slot: 'monthly', limit: 5, period: null }],
    })
    // What changes nothing makes no version.
    const same = await call('PUT', `${PLANS}/${id}`, {
      body: { slots: [{ slot: 'monthly', limit: 5 }], name: 'Basic 2' },
    })
    expect(same).toMatchObject({ status: 200, body: { version: 3 } })
  })

  test.each(PLAN_FIELD_NAMES)('keeps its field %s, at the creation and after a change', async name => {
    const changes = { [name]: OTHER[name] }
    expect((await create(changes)).body).toMatchObject(changes)
    const { id } = (await create()).body
    const version = PLAN_FIELDS[name].isOfVersion ? 2 : 1
    expect((await call('PUT', `${PLANS}/${id}`, { body: changes })).body).toMatchObject({ ...changes, version })
    expect((await call('GET', `${PLANS}/${id}`)).body).toMatchObject({ ...changes, version })
    const [last] = (await call('GET', `/api/sms/admin/audit?resource=plan&thing_id=${id}`)).body.items
    expect(last).toMatchObject({ action: 'updated', after: changes })
    expect(last.before[name]).not.toEqual(OTHER[name])
  })

  test('is changed and archived only in the version that If-Match names', async () => {
    const { id } = (await create()).body
    const path = `${PLANS}/${id}`
    await call('PUT', path, { body: { name: 'B' }, headers: { 'if-match': '"1"' } })
    const headers = { 'if-match': '"1"' }
    const expected = { status: 412, headers: { etag: '"2"' }, body: { code: 'version_mismatch' } }
    expect(await call('PUT', path, { body: { name: 'C' }, headers })).toMatchObject(expected)
    expect(await call('DELETE', path, { headers })).toMatchObject(expected)
    expect((await call('GET', path)).body).toMatchObject({ version: 2, archived: false })
  })

  test('is archived: it stays to be read, and can neither be changed nor be the default', async () => {
    const { id } = (await create({ is_default: true })).body
    const path = `${PLANS}/${id}`
    expect((await call('DELETE', path)).status).toBe(204)
    expect((await call('DELETE', path)).status).toBe(204)
    expect((await call('GET', path)).body).toMatchObject({ archived: true, is_default: false, version: 1 })
    expect(await call('PUT', path, { body: { name: 'B' } })).toMatchObject({
      status: 409,
      body: { code: 'plan_archived' },
    })
    const ids = async (query: string) =>
      (await call('GET', `${PLANS}?${query}`)).body.items.map((plan: { id: number }) => plan.id)
    expect(await ids('')).not.toContain(id)
    expect(await ids('archived=true')).toEqual([id])
  })

  test('that becomes the default replaces the one before', async () => {
    const first = (await create({ is_default: true })).body.id
    const second = (await create({ is_default: true })).body.id
    const isDefault = async (id: number) => (await call('GET', `${PLANS}/${id}`)).body.is_default
    expect([await isDefault(first), await isDefault(second)]).toEqual([false, true])
    const changed = await call('PUT', `${PLANS}/${first}`, { body: { is_default: true } })
    // It is the same list of quotas as before.
    expect(changed.body).toMatchObject({ is_default: true, version: 1 })
    expect([await isDefault(first), await isDefault(second)]).toEqual([true, false])
    // Many at once: one is left.
    await Promise.all(
      [first, second, first, second].map(id => call('PUT', `${PLANS}/${id}`, { body: { is_default: true } })),
    )
    expect([await isDefault(first), await isDefault(second)].filter(Boolean)).toHaveLength(1)
  })

  test.each<[string, object, string]>([
    ['no slot', { slots: [] }, '/slots'],
    ['21 slots', { slots: Array.from({ length: 21 }, (_, n) => ({ slot: `s${n}`, limit: 1 })) }, '/slots'],
    ['two slots of one name', { slots: [MONTHLY, { ...DAILY, slot: 'monthly' }] }, '/slots/1/slot'],
    ['a bad slot name', { slots: [{ ...MONTHLY, slot: 'Monthly' }] }, '/slots/0/slot'],
    ['a long slot name', { slots: [{ ...MONTHLY, slot: 'x'.repeat(41) }] }, '/slots/0/slot'],
    ['a cap without a limit', { slots: [{ ...DAILY, limit: null }] }, '/slots/0/limit'],
    ['an anchor of another period', { slots: [{ ...DAILY, anchor: '15' }] }, '/slots/0/anchor'],
    ['too many days', { slots: [{ ...MONTHLY, lasts_days: 3651 }] }, '/slots/0/lasts_days'],
    ['no day', { slots: [{ ...MONTHLY, lasts_days: 0 }] }, '/slots/0/lasts_days'],
    ['a start', { slots: [{ ...MONTHLY, starts_at: '2026-03-15T12:00:00Z' }] }, '/slots/0/starts_at'],
    ['a user', { slots: [{ ...MONTHLY, user_id: 7 }] }, '/slots/0/user_id'],
    ['no name', { name: '' }, '/name'],
    ['an unknown field', { default: true }, '/default'],
  ])('with %s is refused', async (_what, body, path) => {
    const answer = await call('POST', PLANS, { body: { name: 'Basic', slots: [MONTHLY], ...body } })
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    expect(answer.body.errors.map((error: { path: string }) => error.path)).toContain(path)
  })

  test('has its changes in the audit', async () => {
    const { id } = (await create()).body
    const headers = { 'x-request-id': `rename-${id}` }
    await call('PUT', `${PLANS}/${id}`, { body: { name: 'B' }, headers })
    await call('DELETE', `${PLANS}/${id}`)
    const audit = async (query: string) => (await call('GET', `/api/sms/admin/audit?${query}`)).body.items
    expect(await audit(`resource=plan&thing_id=${id}`)).toMatchObject([
      { version: 3, action: 'archived', actor: '1', before: { archived: false }, after: { archived: true } },
      {
        version: 2,
        action: 'updated',
        request_id: `rename-${id}`,
        before: { name: 'Basic' },
        after: { name: 'B', version: 2 },
      },
      { version: 1, action: 'created', before: null, after: { name: 'Basic', version: 1 } },
    ])
    const entry = { resource: 'plan', thing_id: id, user_id: null, reason: null }
    expect(await audit(`request_id=rename-${id}`)).toMatchObject([{ ...entry, action: 'updated' }])
    expect((await audit('resource=plan&page_size=1'))[0]).toMatchObject({ ...entry, action: 'archived' })
    expect(await audit(`resource=plan&thing_id=${id}&user_id=7`)).toEqual([])
  })

  test('that does not exist is 404', async () => {
    for (const [method, path] of [
      ['GET', ''],
      ['PUT', ''],
      ['DELETE', ''],
    ] as const) {
      const options = method === 'PUT' ? { body: { name: 'B' } } : {}
      expect(await call(method, `${PLANS}/999999${path}`, options)).toMatchObject({
        status: 404,
        body: { code: 'not_found' },
      })
    }
  })
})

test(`there are ${MAX_PLANS} plans at most; archived ones do not count`, async () => {
  await db.query({
    text: sql`insert into plan (shard, id, version, is_default, created_at, created_by, updated_at, updated_by)
           select 0, n, 1, false, now(), '1', now(), '1' from generate_series(1000, 1998) n`,
  })
  const refused = await call('POST', PLANS, { body: { name: 'One more', slots: [MONTHLY] } })
  expect(refused).toMatchObject({ status: 422, body: { code: 'too_many_plans' } })
  await db.query({ text: sql`update plan set archived_at = now() where id >= 1000` })
  const { body } = await create()
  expect(body.id).toBe(1999)
})
