import { describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { createAlertCleaner } from '../../src/jobs/cleaners.ts'
import { startSender } from './sender-fixture.ts'

const ALERTS = '/api/sms/admin/quota/alerts'
const service = await startSender()
const { call, clock, allow, someone, ask } = service

interface Listed {
  id: number
  percent: number
  at: string
}

async function alerts(query = ''): Promise<Listed[]> {
  const { status, body } = await call('GET', `${ALERTS}${query}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body.items.map(({ quota, ...item }: { quota: { id: number } }) => ({ id: quota.id, ...item }))
}

const of = async (id: number) => (await alerts('?limit=100')).filter(alert => alert.id === id)
const shownNow = () => new Date(clock.now).toISOString()

let messages = 0
async function consume(user: number, units: number): Promise<string> {
  messages += 1
  clock.now += 1_000
  const { status, body } = await ask('consume', { user_id: user, id: `m${messages}`, units })
  expect([status, body.granted]).toEqual([200, true])
  return `m${messages}`
}

describe('a quota is listed', () => {
  test('once it reaches a percentage: the highest, when it was reached, and the current state', async () => {
    const user = someone()
    const id = await allow({ user_id: user, limit: 100, name: 'Package' })
    await consume(user, 79)
    expect(await of(id)).toEqual([])
    await consume(user, 1)
    const at = shownNow()
    await consume(user, 5)
    expect(await of(id)).toEqual([{ id, percent: 80, at: at }])
    const { body } = await call('GET', ALERTS)
    expect(body.items[0].quota).toEqual((await call('GET', `/api/sms/admin/quota/${id}`)).body)
    expect(body.items[0].quota).toMatchObject({ name: 'Package', used: 85, remaining: 15 })
    await consume(user, 15)
    expect(await of(id)).toEqual([{ id, percent: 100, at: shownNow() }])
  })

  test('with the highest percentage if one draw reaches several', async () => {
    const user = someone()
    const id = await allow({ user_id: user, limit: 100, alert_at: [10, 50, 90] })
    await consume(user, 60)
    expect(await of(id)).toEqual([{ id, percent: 50, at: shownNow() }])
  })

  test('after a lowered limit reaches the percentage', async () => {
    const user = someone()
    const id = await allow({ user_id: user, limit: 100 })
    await consume(user, 50)
    clock.now += 1_000
    await call('PUT', `/api/sms/admin/quota/${id}`, { body: { limit: 60 } })
    expect(await of(id)).toEqual([{ id, percent: 80, at: shownNow() }])
  })

  test('for caps and grants, of equal percentages the latest first, up to the limit', async () => {
    const [user, other] = [someone(), someone()]
    await allow({ user_id: user, limit: 1_000 })
    const cap = await allow({ user_id: user, limit: 50, kind: 'cap', period: 'day' })
    const grant = await allow({ user_id: other, limit: 100 })
    await consume(user, 40)
    const first = shownNow()
    await consume(other, 85)
    const second = shownNow()
    expect(first < second).toBe(true)
    const all = await alerts('?limit=100')
    expect(all.filter(({ percent }) => percent === 80).slice(0, 2)).toEqual([
      { id: grant, percent: 80, at: second },
      { id: cap, percent: 80, at: first },
    ])
    expect(await alerts('?limit=1')).toEqual(all.slice(0, 1))
  })

  test('the highest percentage first, on pages that a cursor continues', async () => {
    for (const units of [85, 100, 90, 100]) {
      const user = someone()
      await allow({ user_id: user, limit: 100 })
      await consume(user, units)
    }
    const all = await alerts('?limit=100')
    const order = (one: Listed, other: Listed) => other.percent - one.percent || (one.at < other.at ? 1 : -1)
    expect(all).toEqual(all.toSorted(order))
    const paged: Listed[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await call('GET', `${ALERTS}?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`)
      paged.push(...body.items.map(({ quota, ...item }: { quota: { id: number } }) => ({ id: quota.id, ...item })))
      cursor = body.next_cursor
    }
    expect(paged).toEqual(all)
    expect(await alerts('?below_percent=100&limit=100')).toEqual(all.filter(({ percent }) => percent < 100))
  })

  test('however many others have reached percentages since', async () => {
    const user = someone()
    const id = await allow({ user_id: user, limit: 100, period: 'month' })
    await consume(user, 80)
    const at = shownNow()
    await service.db.query({
      text: sql`insert into event (shard, number, type, at, data)
             select 0, 1000000 + n, 'quota.threshold_reached', $1, '{"percent": 80}' from generate_series(1, 6000) n`,
      values: [new Date(clock.now + 1_000).toISOString()],
    })
    expect(await of(id)).toEqual([{ id, percent: 80, at }])
  })

  test('at a lower percentage, with its time, once units came back', async () => {
    const user = someone()
    const id = await allow({ user_id: user, limit: 100 })
    await consume(user, 85)
    const at = shownNow()
    const message = await consume(user, 15)
    expect(await of(id)).toEqual([{ id, percent: 100, at: shownNow() }])
    await ask('refund', { user_id: user, id: message, total_units: 1 })
    expect(await of(id)).toEqual([{ id, percent: 80, at }])
  })

  test('again after it had expired and was revived, although its mark was removed', async () => {
    const user = someone()
    const id = await allow({ user_id: user, limit: 100, expires_at: new Date(clock.now + DAY_MS).toISOString() })
    await consume(user, 90)
    clock.now += 2 * DAY_MS
    await createAlertCleaner({ db: service.db, now: () => clock.now }).removeOnce(clock.now)
    expect(await service.db.query({ text: sql`select 1 from quota_alert where quota_id = $1`, values: [id] })).toEqual(
      [],
    )
    expect(await of(id)).toEqual([])
    await call('PUT', `/api/sms/admin/quota/${id}`, { body: { expires_at: null } })
    expect(await of(id)).toEqual([{ id, percent: 80, at: shownNow() }])
  })
})

describe('a quota is no longer listed', () => {
  /** A quota with 90 of 100 units used. */
  async function alarmed(more: object = {}): Promise<{ user: number; id: number; message: string; at: string }> {
    const user = someone()
    const id = await allow({ user_id: user, limit: 100, ...more })
    const message = await consume(user, 90)
    expect(await of(id)).toMatchObject([{ id, percent: 80 }])
    return { user, id, message, at: shownNow() }
  }
  const update = (id: number, body: object) => call('PUT', `/api/sms/admin/quota/${id}`, { body })

  test('after its window has ended, until the next window reaches the percentage', async () => {
    const { user, id } = await alarmed({ period: 'day' })
    clock.now += DAY_MS
    expect(await of(id)).toEqual([])
    await consume(user, 1)
    expect(await of(id)).toEqual([])
    await consume(user, 90)
    expect(await of(id)).toEqual([{ id, percent: 80, at: shownNow() }])
  })

  test('after its limit is raised or units are refunded, until it reaches the percentage again', async () => {
    const { user, id } = await alarmed()
    await update(id, { limit: 200 })
    expect(await of(id)).toEqual([])
    const other = await alarmed()
    await ask('refund', { user_id: other.user, id: other.message, total_units: 50 })
    expect(await of(other.id)).toEqual([])
    // A percentage is emitted once per window, so the time is still that of the first event.
    await consume(other.user, 45)
    expect(await of(other.id)).toEqual([{ id: other.id, percent: 80, at: other.at }])
    await consume(user, 80)
    expect(await of(id)).toMatchObject([{ id, percent: 80 }])
  })

  test.each([
    ['is deleted', (id: number) => call('DELETE', `/api/sms/admin/quota/${id}`)],
    ['is suspended', (id: number) => update(id, { enabled: false })],
    ['has expired', (id: number) => update(id, { expires_at: new Date(clock.now).toISOString() })],
    ['becomes unlimited', (id: number) => update(id, { limit: null })],
    ['gets other percentages', (id: number) => update(id, { alert_at: [95] })],
    ['gets no percentages', (id: number) => update(id, { alert_at: [] })],
  ])('when it %s', async (_, change) => {
    const { id } = await alarmed()
    expect((await change(id)).status).toBeLessThan(300)
    expect(await of(id)).toEqual([])
  })
})

test.each(['limit=0', 'limit=101', 'limit=x', 'page=1', 'cursor=nonsense', 'cursor=a.b'])(
  '%s is refused',
  async query => {
    const { status, body } = await call('GET', `${ALERTS}?${query}`)
    expect([status, body.code]).toEqual([400, 'invalid_request'])
  },
)
