/** The exhausted quotas of all users are found by the marks that sends and changes leave. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { roll, statusOf } from '../../src/domain/quotas/quota.ts'
import { DAY_MS, HOUR_MS } from '../../src/domain/time/time.ts'
import { createAlertCleaner } from '../../src/jobs/cleaners.ts'
import { listed } from '../support/quota-lists.ts'
import { runs } from '../support/runs.ts'
import { START } from '../support/service.ts'
import { startSender } from './sender-fixture.ts'

const service = await startSender()
const { call, clock, db, allow, someone, ask } = service
const cleaner = createAlertCleaner({ db, now: () => clock.now })

async function exhausted(query = ''): Promise<number[]> {
  const { status, body } = await call('GET', `/api/sms/admin/quota/list?status=exhausted&sort=id&page_size=200${query}`)
  expect(status, JSON.stringify(body)).toBe(200)
  expect(body.total).toBe(body.items.length)
  return body.items.map(({ id }: { id: number }) => id)
}

const update = (id: number, body: object) => call('PUT', `/api/sms/admin/quota/${id}`, { body })

test('a quota is listed while it is exhausted: by sends, and by changes of administrators', async () => {
  const user = someone()
  const id = await allow({ user_id: user, limit: 10, period: 'day', overage_limit: 5 })
  await ask('reserve', { user_id: user, id: 'a', units: 10 })
  expect(await exhausted()).toEqual([])
  await ask('reserve', { user_id: user, id: 'b', units: 5 })
  expect(await exhausted()).toEqual([id])
  await ask('release', { user_id: user, id: 'b' })
  expect(await exhausted()).toEqual([])
  await ask('reserve', { user_id: user, id: 'c', units: 5 })
  expect(await exhausted()).toEqual([id])

  await update(id, { limit: 20 })
  expect(await exhausted()).toEqual([])
  await update(id, { limit: 10 })
  expect(await exhausted()).toEqual([id])
  await update(id, { enabled: false })
  expect(await exhausted()).toEqual([])
  await update(id, { enabled: true })
  clock.now += DAY_MS
  expect(await exhausted()).toEqual([])
})

test('a quota without units is exhausted in every window, from its creation', async () => {
  const user = someone()
  const id = await allow({ user_id: user, limit: 0, period: 'hour' })
  for (const hours of [0, 5, 24]) {
    clock.now += hours * HOUR_MS
    await ask('reserve', { user_id: user, id: `m${hours}`, units: 1 })
    await cleaner.removeOnce(clock.now)
    expect(await exhausted()).toEqual([id])
  }
  await update(id, { limit: 1 })
  expect(await exhausted()).toEqual([])
  expect((await call('DELETE', `/api/sms/admin/quota/${id}`)).status).toBe(204)
  expect(await exhausted()).toEqual([])
})

test('a quota that is exhausted writes one mark per window', async () => {
  const user = someone()
  const id = await allow({ user_id: user, limit: 1 })
  const marked = () =>
    db.query<{ xmin: string }>({ text: sql`select xmin::text from quota_alert where quota_id = $1`, values: [id] })
  await ask('reserve', { user_id: user, id: 'a', units: 1 })
  const first = await marked()
  expect(first).toHaveLength(1)
  for (const message of ['b', 'c']) {
    await ask('release', { user_id: user, id: message === 'b' ? 'a' : 'b' })
    await ask('reserve', { user_id: user, id: message, units: 1 })
  }
  expect(await marked()).toEqual(first)
  const { body } = await call('GET', '/api/sms/admin/events?last=5')
  expect(body.items.map(({ type }: { type: string }) => type)).not.toContain('quota.threshold_reached')
  expect((await call('DELETE', `/api/sms/admin/quota/${id}`)).status).toBe(204)
})

test('the list is what the status of each quota says, after any sends, changes and times', async () => {
  const units = fc.integer({ min: 0, max: 3 })
  const quota = fc.record({
    limit: fc.option(units, { freq: 6 }),
    period: fc.constantFrom('hour', 'day', null),
    rollover_limit: units,
    overage_limit: fc.integer({ min: 0, max: 1 }),
    opening_used: fc.constantFrom(0, 0, 0, 2),
    starts_in: fc.constantFrom(-30, -30, 2),
    expires_in: fc.constantFrom(null, null, 3, 40),
  })
  const step = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ op: fc.constantFrom('reserve', 'consume'), units: fc.integer({ min: 1, max: 3 }) }),
    },
    fc.record({ op: fc.constantFrom('release', 'refund', 'commit'), of: fc.nat(9) }),
    fc.record({ op: fc.constant('wait'), hours: fc.constantFrom(1, 24, 50) }),
    fc.record({
      op: fc.constant('change'),
      patch: fc.oneof(
        fc.record({ limit: units, rollover_limit: units, allow_below_usage: fc.constant(true) }, { requiredKeys: [] }),
        fc.record({ expires_at: fc.constantFrom(null, -1, 10) }),
        fc.record({ enabled: fc.boolean() }),
      ),
    }),
    fc.record({ op: fc.constant('clean') }),
  )
  const inHours = (hours: number | null) =>
    hours === null ? null : new Date(clock.now + hours * HOUR_MS).toISOString()

  await fc.assert(
    fc.asyncProperty(
      fc.array(quota, { minLength: 1, maxLength: 2 }),
      fc.array(step, { maxLength: 12 }),
      async (quotas, steps) => {
        clock.now = Math.max(clock.now, START) + DAY_MS
        const user = someone()
        const ids: number[] = []
        for (const { starts_in, expires_in, rollover_limit, overage_limit, ...rest } of quotas) {
          const body = { ...rest, user_id: user, starts_at: inHours(starts_in), expires_at: inHours(expires_in) }
          const grant =
            rest.limit === null ? {} : { overage_limit, ...(rest.period === null ? {} : { rollover_limit }) }
          const { status, body: made } = await call('POST', '/api/sms/admin/quota', { body: { ...body, ...grant } })
          if (status === 201) ids.push(made.id)
        }
        const messages: string[] = []
        for (const one of steps) {
          if ('units' in one) {
            const id = `m${messages.length}`
            const { body } = await ask(one.op, { user_id: user, id, units: one.units, ttl_seconds: 600_000 })
            if (body.granted) messages.push(id)
          } else if ('of' in one) {
            const id = messages[one.of % Math.max(1, messages.length)]
            if (id !== undefined) await ask(one.op, { user_id: user, id })
          } else if ('hours' in one) clock.now += one.hours * HOUR_MS
          else if ('patch' in one) {
            const { expires_at, ...patch } = { expires_at: undefined, ...one.patch }
            const body = expires_at === undefined ? patch : { expires_at: inHours(expires_at) }
            if (ids[0] !== undefined) await update(ids[0], body)
          } else await cleaner.removeOnce(clock.now)

          const all = (
            await listed(db, { filter: { user_id: user }, order: { by: 'id', descending: false } }, clock.now)
          ).items
          const expected = all.filter(stored => statusOf(roll(stored, clock.now).quota, clock.now) === 'exhausted')
          const found = (await exhausted()).filter(id => ids.includes(id))
          expect(found).toEqual(expected.map(({ id }) => id))
        }
        for (const id of ids) await call('DELETE', `/api/sms/admin/quota/${id}`)
      },
    ),
    { numRuns: runs(30) },
  )
  const left = await db.query({
    text: sql`select 1 from quota_alert a join quota q on q.shard = a.shard and q.id = a.quota_id where deleted_at is not null`,
  })
  expect(left).toEqual([])
})
