import { describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { pagesOf } from '../support/service.ts'
import { startSender } from './sender-fixture.ts'

const service = await startSender()
const { call, clock, allow, someone, ask } = service
const quotaUrl = (id: number | string) => `/api/sms/admin/quota/${id}`
const url = (id: number | string, what: string, query = '') => `${quotaUrl(id)}/${what}${query}`

describe('the history of a quota', () => {
  test('lists who changed what, when, why and by which call, newest first', async () => {
    const user = someone()
    const headers = { 'x-request-id': 'call-1' }
    const created = await call('POST', '/api/sms/admin/quota', { body: { user_id: user, limit: 100 }, headers })
    const { id } = created.body
    const at = clock.now
    clock.now += 1000
    const colleague = await service.token({ sub: 'colleague', roles: ['sms-quota:admin'] })
    const body = { limit: 200, metadata: { contract: 'K' } }
    const updated = await call('PUT', quotaUrl(id), { body, token: colleague })
    // An update without changes is not in the history.
    await call('PUT', quotaUrl(id), { body })
    const adjusted = await call('POST', url(id, 'adjust'), { body: { delta: 5, reason: 'Goodwill' } })
    await call('DELETE', quotaUrl(id))

    const { status, body: history } = await call('GET', url(id, 'history'))
    expect(status).toBe(200)
    expect(history).toMatchObject({ page_size: 20, next_cursor: null })
    const [deletion, adjustment, change, creation, ...more] = history.items
    expect(more).toEqual([])
    expect(creation).toEqual({
      version: 1,
      action: 'created',
      at: new Date(at).toISOString(),
      actor: '1',
      request_id: 'call-1',
      reason: null,
      transfer_id: null,
      before: null,
      after: created.body,
    })
    expect(change).toMatchObject({ version: 2, action: 'updated', actor: 'colleague', reason: null })
    expect(change.at).toBe(new Date(at + 1000).toISOString())
    expect([change.before, change.after]).toEqual([created.body, updated.body])
    expect(adjustment).toMatchObject({ version: 3, action: 'updated', reason: 'Goodwill', after: adjusted.body })
    expect(deletion).toMatchObject({ version: 4, action: 'deleted', after: { status: 'deleted' } })
    expect(deletion.before).toEqual(adjusted.body)
  })
})

describe('the past windows of a quota', () => {
  test('show what happened to the units of each', async () => {
    const user = someone()
    const id = await allow({
      user_id: user,
      limit: 100,
      period: 'day',
      rollover_limit: 20,
      overage_limit: 10,
      starts_at: '2026-03-15T00:00:00Z',
    })
    expect((await call('GET', url(id, 'windows'))).body).toEqual({ items: [], page_size: 20, next_cursor: null })
    await ask('consume', { user_id: user, id: 'a', units: 30 })
    await ask('reserve', { user_id: user, id: 'b', units: 10, ttl_seconds: 600_000 })

    // The window has ended, although no command has used the quota since.
    clock.now += DAY_MS
    const day = {
      window_no: 0,
      window_start: '2026-03-15T00:00:00.000Z',
      window_end: '2026-03-16T00:00:00.000Z',
      limit: 100,
      overage_limit: 10,
      rolled_over: 0,
      used: 30,
      reserved: 10,
      carried: 20,
      released: 40,
      overage: 0,
    }
    const unfiled = await call('GET', url(id, 'windows'))
    expect(unfiled.body.items).toEqual([day])
    await ask('consume', { user_id: user, id: 'c', units: 125 })
    const filed = await call('GET', url(id, 'windows'))
    expect(filed.body.items).toEqual([day])

    // Later settling corrects the past window and gives nothing back to the current one.
    await ask('commit', { user_id: user, id: 'b', total_units: 4 })
    await ask('release', { user_id: user, id: 'b' })
    await ask('refund', { user_id: user, id: 'a', total_units: 5 })
    const corrected = { ...day, used: 29, reserved: 0, released: 51 }
    expect((await call('GET', url(id, 'windows'))).body.items).toEqual([corrected])

    // Two days later: the window without activity is skipped.
    clock.now += 2 * DAY_MS
    const { items } = (await call('GET', url(id, 'windows'))).body
    expect(items).toEqual([
      {
        ...day,
        window_no: 1,
        window_start: '2026-03-16T00:00:00.000Z',
        window_end: '2026-03-17T00:00:00.000Z',
        rolled_over: 20,
        used: 125,
        reserved: 0,
        carried: 0,
        released: 0,
        overage: 5,
      },
      corrected,
    ])
    for (const { limit, rolled_over, overage, used, reserved, carried, released } of items)
      expect(limit + rolled_over + overage).toBe(used + reserved + carried + released)
  })

  test('of an unlimited quota have no released units', async () => {
    const user = someone()
    const id = await allow({ user_id: user, limit: null, period: 'day' })
    await ask('consume', { user_id: user, id: 'a', units: 3 })
    clock.now += DAY_MS
    const [window] = (await call('GET', url(id, 'windows'))).body.items
    expect(window).toMatchObject({ limit: null, used: 3, released: null, overage: 0, carried: 0 })
  })

  test('count units that retention has rolled up once', async () => {
    const user = someone()
    const id = await allow({ user_id: user, limit: 10, period: 'day' })
    await ask('consume', { user_id: user, id: 'a', units: 3 })
    await service.db.query({
      text: sql`insert into archive select shard, id, window_no, used from quota where id = $1`,
      values: [id],
    })
    await service.db.query({ text: sql`delete from reservation where user_id = $1`, values: [user] })
    clock.now += DAY_MS
    expect((await call('GET', url(id, 'windows'))).body.items).toMatchObject([{ used: 3, released: 7 }])
  })

  test('are read by cursor, each once, including one that is not stored yet; a deleted quota keeps them', async () => {
    const user = someone()
    const id = await allow({ user_id: user, limit: 10, period: 'day' })
    for (const name of ['a', 'b', 'c', 'd']) {
      await ask('consume', { user_id: user, id: name, units: 1 })
      clock.now += DAY_MS
    }
    const numbers = async (size: number) =>
      (await pagesOf(service, url(id, 'windows', `?page_size=${size}`))).map(({ items }) =>
        items.map(({ window_no }: { window_no: number }) => window_no),
      )
    expect(await numbers(1)).toEqual([[3], [2], [1], [0]])
    expect(await numbers(3)).toEqual([[3, 2, 1], [0]])
    expect(await numbers(4)).toEqual([[3, 2, 1, 0]])
    await call('DELETE', quotaUrl(id))
    clock.now += 10 * DAY_MS
    expect(await numbers(4)).toEqual([[3, 2, 1, 0]])
  })
})
