/** Which denials the engine logs, and with which transaction. */
import { expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { formatTimestamp, HOUR_MS } from '../../src/domain/time/time.ts'
import type { TestEngine } from '../support/engine.ts'
import { createBench, draw, makeLocked, reserve, settle, someone } from '../support/engine.ts'
import { rawSql } from '../support/sql.ts'

const bench = await createBench()
const { db, clock } = bench

/** The logged denials of a user in their order. */
function logged(user: number, columns: string): Promise<Record<string, unknown>[]> {
  return db.query({
    text: rawSql`select ${columns} from denial where user_id = $1 order by at, number`,
    values: [user],
  })
}

test('a denied reserve and a denied consume are logged with the request and the answer, and a check is not', async () => {
  const engine = bench.engine()
  const user = someone()
  const period = { period: 'hour' as const, starts_at: clock.now }
  const grant = await bench.quota({ user_id: user, limit: 5, ...period })
  const cap = await bench.quota({ user_id: user, kind: 'cap', limit: 4, ...period })
  const asked = { country: 'DE', message_type: 'otp' }
  await engine.submit(draw('consume', user, 'earlier', 1))
  await engine.submit(draw('check', user, '', 4, asked))
  const outcome = await engine.submit(reserve(user, 'a', 4, asked))
  expect(outcome).toMatchObject({ outcome: 'denied', reason: 'cap_reached' })
  await engine.submit(draw('consume', user, 'granted', 6, { allow_partial: true }))
  await engine.submit(draw('consume', user, 'c', 1, { allow_partial: true }))
  const columns = `id, op, at, units, country, message_type, allow_partial, reason, remaining, limiting_quota_id, retry_at,
    skipped, explanation`
  const retryAt = clock.now + HOUR_MS
  expect(await logged(user, columns)).toEqual([
    {
      ...{ id: 'a', op: 'reserve', at: clock.now, units: 4, ...asked, allow_partial: false },
      ...{ reason: 'cap_reached', remaining: 3, limiting_quota_id: cap.id, retry_at: retryAt, skipped: 0 },
      explanation: [
        { quota_id: cap.id, kind: 'cap', verdict: 'blocks', units: 0 },
        { quota_id: grant.id, kind: 'grant', verdict: 'has_headroom', units: 0 },
      ],
    },
    {
      ...{ id: 'c', op: 'consume', at: clock.now, units: 1, country: null, message_type: null, allow_partial: true },
      ...{ reason: 'cap_reached', remaining: 0, limiting_quota_id: cap.id, retry_at: retryAt, skipped: 0 },
      explanation: [
        { quota_id: cap.id, kind: 'cap', verdict: 'blocks', units: 0 },
        { quota_id: grant.id, kind: 'grant', verdict: 'has_headroom', units: 0 },
      ],
    },
  ])
})

test('the explanation is as of the denial, though later commands of its batch change the quota', async () => {
  const engine = bench.engine()
  const user = someone()
  const { id } = await bench.quota({ user_id: user, limit: 5 })
  await engine.submit(reserve(user, 'first', 5))
  await Promise.all([engine.submit(reserve(user, 'denied', 2)), engine.submit(settle('release', user, 'first'))])
  expect(await logged(user, 'remaining, explanation')).toEqual([
    { remaining: 0, explanation: [{ quota_id: id, kind: 'grant', verdict: 'exhausted', units: 0 }] },
  ])
})

test('an explanation has 20 lines at most, and names quotas that ended if the command asked for one', async () => {
  const engine = bench.engine()
  const user = someone()
  for (let n = 0; n < 22; n++) await bench.quota({ user_id: user, limit: n, priority: n, countries: ['AT'] })
  const [day, hour] = [clock.now - 24 * HOUR_MS, clock.now - HOUR_MS]
  await engine.submit(reserve(user, 'many', 1))
  const other = someone()
  const ended = await bench.quota({ user_id: other, starts_at: day, expires_at: hour })
  await engine.submit(reserve(other, 'asked', 1, { explain: true }))
  await engine.submit(reserve(other, 'not asked', 1))
  const [many] = await logged(user, 'jsonb_array_length(explanation) as lines')
  expect(many).toEqual({ lines: 20 })
  const line = { quota_id: ended.id, kind: 'grant', verdict: 'expired', units: 0, expires_at: formatTimestamp(hour) }
  expect(await logged(other, 'explanation')).toEqual([{ explanation: [line] }, { explanation: [] }])
})

test('denials of one batch and one id have rows of their own', async () => {
  const engine = bench.engine()
  const users = [someone(), someone()]
  await Promise.all([...users, ...users, ...users].map(user => engine.submit(reserve(user, 'm', 1))))
  expect(engine.reports.length).toBe(1)
  for (const user of users) expect(await logged(user, 'id')).toEqual([{ id: 'm' }, { id: 'm' }, { id: 'm' }])
})

test('in locked mode, too', async () => {
  const engine = bench.engine()
  await makeLocked(engine, bench)
  const user = someone()
  const ended = await bench.quota({ user_id: user, starts_at: clock.now - HOUR_MS, expires_at: clock.now })
  const explanation = [{ quota_id: ended.id, kind: 'grant', verdict: 'expired', units: 0, expires_at: clock.now }]
  expect(await engine.submit(reserve(user, 'm', 1, { explain: true }))).toMatchObject({
    outcome: 'denied',
    explanation,
  })
  expect(engine.reports.at(-1)?.mode).toBe('locked')
  expect(await logged(user, 'id, reason, skipped')).toEqual([{ id: 'm', reason: 'no_quota', skipped: 0 }])
})

test('a forced consume and what observe mode grants are no denials', async () => {
  const user = someone()
  await bench.engine({ observe: true }).submit(reserve(user, 'observed', 1))
  const engine = bench.engine()
  await engine.submit(draw('consume', user, 'forced', 1, { force: true }))
  await engine.submit(reserve(user, 'forced', 2))
  expect(await logged(user, 'id')).toEqual([])
})

/** Denies a user's message this many times, one after the other. */
async function deny(engine: TestEngine, user: number, times: number): Promise<void> {
  for (let n = 0; n < times; n++) {
    expect(await engine.submit(reserve(user, `m${n}`, 1))).toMatchObject({ outcome: 'denied' })
  }
}

test('beyond the bounds a denial is answered and counted as usage, and the next logged one says how many were left out', async () => {
  const engine = bench.engine()
  const user = someone()
  await deny(engine, user, 40)
  expect((await logged(user, 'id')).length).toBe(30)
  clock.now += HOUR_MS
  await deny(engine, user, 1)
  const skipped = (await logged(user, 'skipped')).map(row => row.skipped)
  expect(skipped).toEqual([...Array.from({ length: 30 }, () => 0), 10])
  const [usage] = await db.query({
    text: sql`select count(*) as denied from usage_pending, unnest(users, kinds) e (user_id, kind) where e.user_id = $1`,
    values: [user],
  })
  expect(usage).toEqual({ denied: 41 })
})

test('several processes have bounds of their own: each logs 60 an hour of a user at most, and counts what it left out', async () => {
  const engines = [bench.engine(), bench.engine(), bench.engine()]
  const user = someone()
  for (const engine of engines) await deny(engine, user, 40)
  expect((await logged(user, 'id')).length).toBe(3 * 30)
  // The rest of the hour: one more every two minutes of each.
  for (let minute = 0; minute < 60; minute += 2) {
    clock.now += 120_000
    for (const engine of engines) await deny(engine, user, 2)
  }
  const skipped = (await logged(user, 'skipped')).map(row => Number(row.skipped))
  expect(skipped.length).toBe(3 * 60)
  // Of 3 * (40 + 60) denials, all but the last of each process are logged, or counted by a later one.
  expect(skipped.length + skipped.reduce((sum, count) => sum + count, 0)).toBe(3 * (40 + 60 - 1))
})

test('a denial whose batch fails is logged once, and none is lost', async () => {
  const [engine, other] = [bench.engine(), bench.engine()]
  const user = someone()
  await bench.quota({ user_id: user, limit: 1 })
  await engine.submit(reserve(user, 'first', 1))
  await deny(engine, user, 33)
  // The engine remembers a quota that another process has written since.
  await other.submit(settle('commit', user, 'first'))
  clock.now += HOUR_MS
  await deny(engine, user, 1)
  expect(engine.reports.at(-1)).toMatchObject({ retries: 1 })
  expect((await logged(user, 'skipped')).slice(29)).toEqual([{ skipped: 0 }, { skipped: 3 }])
})
