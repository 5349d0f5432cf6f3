import { describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { createUsageRollup } from '../../src/jobs/usage-rollup.ts'
import { rawSql } from '../support/sql.ts'
import { startSender } from './sender-fixture.ts'

const USERS = '/api/sms/admin/users'

describe('the directory', async () => {
  const { call, allow, ask, clock, db } = await startSender()
  await allow({ user_id: 3, limit: 10 })
  await allow({ user_id: 3, limit: 10, expires_at: new Date(clock.now + 1_000).toISOString() })
  const gone = await allow({ user_id: 3, limit: 10 })
  await call('DELETE', `/api/sms/admin/quota/${gone}`)
  await allow({ user_id: 0, limit: 10 })
  await allow({ user_id: 9_007_199_254_740_991, limit: 10 })
  clock.now += 5_000
  await ask('consume', { user_id: 3, id: 'm', units: 1 })
  await ask('consume', { user_id: 40, id: 'denied', units: 1 })
  await ask('consume', { user_id: 41, id: 'forced', units: 1, force: true })
  const at = new Date(clock.now).toISOString()
  let lastUser = 60
  await createUsageRollup({ db, log: console }).rollUpOnce()

  test('lists everyone with quotas or usage by id, with totals', async () => {
    const { status, body } = await call('GET', USERS)
    expect(status).toBe(200)
    expect(body).toEqual({
      items: [
        { user_id: 0, quotas: 1, last_activity_at: null },
        { user_id: 3, quotas: 1, last_activity_at: at },
        { user_id: 40, quotas: 0, last_activity_at: '2026-03-15T12:00:00.000Z' },
        { user_id: 41, quotas: 0, last_activity_at: at },
        { user_id: 9_007_199_254_740_991, quotas: 1, last_activity_at: null },
      ],
      page_size: 20,
      next_cursor: null,
    })
  })

  test.each([
    ['page=2', 'page is unknown'],
    ['page_size=201', 'page_size must be'],
    ['cursor=abc', 'cursor must be the next_cursor'],
  ])('refuses "%s"', async (query, detail) => {
    const { status, body } = await call('GET', `${USERS}?${query}`)
    expect(status).toBe(400)
    expect(body.detail).toContain(detail)
  })

  test('shows one user', async () => {
    const { body } = await call('GET', `${USERS}/3`)
    expect(body).toEqual({
      user_id: 3,
      quotas: { unexpired: 1, expired: 1, deleted: 1 },
      last_activity_at: at,
      erasure: null,
    })
  })

  test('tells a user without data from one that was never there', async () => {
    const quota = await allow({ user_id: 50, limit: 1 })
    await call('DELETE', `/api/sms/admin/quota/${quota}`)
    const left = await call('GET', `${USERS}/50`)
    expect(left.body).toMatchObject({ quotas: { unexpired: 0, expired: 0, deleted: 1 }, last_activity_at: null })
    const unknown = await call('GET', `${USERS}/51`)
    expect([unknown.status, unknown.body.code]).toEqual([404, 'not_found'])
    // A denial counts at once, before it is rolled up.
    await ask('reserve', { user_id: 52, id: 'm', units: 1 })
    expect((await call('GET', `${USERS}/52`)).status).toBe(200)
  })

  const SUMS = 'null, null, null, 1, 1, 0, 0, 0, 0'
  test.each([
    ['usage_day', `$3, ${SUMS}`, '2025-11-03T00:00:00.000Z'],
    ['usage_month', `$3, ${SUMS}`, '2025-11-03T00:00:00.000Z'],
    ['denial', `$3, 1, 'm', 'reserve', 1, null, null, false, 'no_quota', 0, null, null, '[]', null`, null],
    ['event_sequence', 'extract(epoch from $3::timestamptz)', null],
  ])('knows a user with nothing but %s', async (table, columns, last_activity_at) => {
    const user = lastUser++
    expect((await call('GET', `${USERS}/${user}`)).status).toBe(404)
    await db.query({
      text: rawSql`insert into ${table} select $1, $2, ${columns}`,
      values: [shardOf(user), user, '2025-11-03T00:00:00.000Z'],
    })
    const { status, body } = await call('GET', `${USERS}/${user}`)
    expect([status, body.last_activity_at]).toEqual([200, last_activity_at])
    expect((await call('DELETE', `${USERS}/${user}/data`)).status).toBe(202)
  })

  test.each(['01', '-1', '1.0', '9007199254740992', 'x'])('refuses the id %s', async id => {
    expect((await call('GET', `${USERS}/${id}`)).status).toBe(400)
  })
})

test('a creation that is refused leaves no user behind', async () => {
  const { call } = await startSender()
  const refused = await call('POST', '/api/sms/admin/quota', {
    body: { user_id: 4_711, limit: 1, expires_at: '1970-01-01T00:00:00Z' },
  })
  expect(refused.status).toBe(400)
  const headers = { 'content-type': 'application/x-ndjson' }
  const row = { user_id: 4_712, external_ref: 'K-1', limit: 1, expires_at: '1970-01-01T00:00:00Z' }
  const imported = await call('POST', '/api/sms/admin/quota/import', { headers, body: JSON.stringify(row) })
  expect(imported.status).toBe(200)
  expect((await call('GET', `${USERS}/4711`)).status).toBe(404)
  expect((await call('GET', USERS)).body.items).toEqual([])
})

describe('an export', async () => {
  const { call, allow, ask, clock, db } = await startSender()
  const user = 200
  const quota = await allow({ user_id: user, limit: 1_000, period: 'hour', name: 'Päckchen' })
  await call('POST', `/api/sms/admin/quota/${quota}/adjust`, { body: { delta: 5, reason: 'Goodwill' } })
  const deleted = await allow({ user_id: user, limit: 5, kind: 'cap' })
  await call('DELETE', `/api/sms/admin/quota/${deleted}`)
  for (let n = 0; n < 450; n++) await ask('consume', { user_id: user, id: `m${n}`, units: 1, country: 'DE' })
  clock.now += DAY_MS
  await ask('reserve', { user_id: user, id: 'open', units: 2 })
  await ask('consume', { user_id: user, id: 'denied', units: 5_000 })
  await allow({ user_id: user + 1, limit: 5, name: 'of another user' })
  const rollup = createUsageRollup({ db, log: console })
  while ((await rollup.rollUpOnce()).batches > 0);
  await db.query({
    text: sql`insert into denial select $1, $2, $3, n, 'm', 'reserve', 1, null, null, false, 'no_quota', 0, null, null, '[]', null
           from generate_series(1, 450) n`,
    values: [shardOf(user), user, '2026-03-15T12:00:00.000Z'],
  })
  await db.query({
    text: sql`insert into event (shard, number, type, at, user_id, sequence, data)
           select $1, 1000000 + n, 'quota.updated', $3, $2, 4 + n, '{}' from generate_series(1, 450) n`,
    values: [shardOf(user), user, '2026-03-15T12:00:00.000Z'],
  })
  // What compaction has left of long ago.
  for (const [table, days] of [
    ['usage_day', 250],
    ['usage_month', 3],
  ] as const)
    await db.query({
      text: rawSql`insert into ${table} select $1, $2, $3::timestamptz - n * interval '1 day', $4, 'FR', 'otp', 5, 4, 3, 2, 7, 6, 7, 6, null, null, null, null
             from generate_series(1, ${days}) n`,
      values: [shardOf(user), user, '2025-12-01T00:00:00.000Z', quota],
    })

  const answer = await call('GET', `${USERS}/${user}/data`)
  const lines: { record: string; [field: string]: unknown }[] = String(answer.body)
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
  const of = (record: string) => lines.filter(line => line.record === record)

  test('is a file of lines, from `export` to `end`', () => {
    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toBe('application/x-ndjson')
    expect(answer.headers['content-disposition']).toBe('attachment; filename="user-200.ndjson"')
    expect(lines[0]).toEqual({ record: 'export', user_id: user, as_of: new Date(clock.now).toISOString() })
    expect(lines.at(-1)).toEqual({ record: 'end', records: lines.length - 2 })
  })

  test('has quotas with windows and changes', () => {
    expect(of('quota')).toMatchObject([
      { id: quota, name: 'Päckchen', status: 'active', deleted_at: null },
      { id: deleted, status: 'deleted', deleted_at: expect.stringMatching(/^2026/) },
    ])
    expect(of('quota_window')).toMatchObject([{ quota_id: quota, window_no: 0, used: 450 }])
    const changes = of('quota_change').map(({ quota_id, action, reason }) => [quota_id, action, reason])
    expect(changes).toEqual([
      [quota, 'updated', 'Goodwill'],
      [quota, 'created', null],
      [deleted, 'deleted', null],
      [deleted, 'created', null],
    ])
  })

  test('has every reservation, over several pages, and usage and events', () => {
    const ids = of('reservation').map(({ id }) => id)
    expect(new Set(ids)).toEqual(new Set(['open', ...Array.from({ length: 450 }, (_, n) => `m${n}`)]))
    expect(ids).toHaveLength(451)
    expect(of('usage')).toMatchObject([
      { quota_id: quota, country: 'DE', committed: { units: 450, messages: 450 } },
      { quota_id: null, country: null, denied: { units: 5_000, messages: 1 } },
    ])
    const none = { units: 0, messages: 0 }
    for (const [record, days] of [
      ['usage_day', 250],
      ['usage_month', 3],
    ] as const) {
      expect(new Set(of(record).map(({ start }) => start)).size).toBe(days)
      expect(of(record).at(-1)).toEqual({
        record,
        start: '2025-11-30T00:00:00.000Z',
        quota_id: quota,
        country: 'FR',
        message_type: 'otp',
        committed: { units: 5, messages: 4 },
        committed_segments: 0,
        verified_messages: 0,
        refunded: { units: 3, messages: 2 },
        unfunded: none,
        denied: { units: 7, messages: 6 },
        denied_by_reason: {
          no_quota: { units: 7, messages: 6 },
          destination_paused: none,
          cap_reached: none,
          quota_exhausted: none,
        },
      })
    }
    const types = ['quota.created', 'quota.updated', 'quota.created', 'quota.deleted']
    expect(of('event').map(({ type, sequence }) => [type, sequence])).toEqual(
      [...types, ...Array(450).fill('quota.updated')].map((type, n) => [type, n + 1]),
    )
  })

  test('has every denial, with its explanation', async () => {
    const [denial] = (await call('GET', `/api/sms/admin/denials?user_id=${user}&id=denied`)).body.items
    const { body: detail } = await call('GET', `/api/sms/admin/denials/${denial.denial_id}`)
    expect(detail.explain).toHaveLength(1)
    const denials = of('denial')
    // As users read it: who asked is the operator's.
    const { sender, ...own } = detail
    expect(sender).toBe('gateway')
    expect(denials.at(-1)).toEqual({ record: 'denial', ...own })
    expect(new Set(denials.map(({ denial_id }) => denial_id)).size).toBe(451)
  })

  test('has nothing of another user', () => {
    expect(String(answer.body)).not.toContain('of another user')
  })

  test('of a user that was never there is 404', async () => {
    expect((await call('GET', `${USERS}/999/data`)).status).toBe(404)
  })
})
