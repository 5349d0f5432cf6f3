/** Figures of customers: what they are made of, when they are made anew, and which users have none. */
import { describe, expect, test } from 'vitest'
import { updateProfile } from '../../src/admin/users/change-profile.ts'
import { requestErasure } from '../../src/admin/users/erase-user.ts'
import type { Database } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { timestampParam } from '../../src/db/connection/values.ts'
import { figuresWalkedAt, type StoredFigures } from '../../src/db/users/customer-figures.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
import { FIGURE_DAYS } from '../../src/domain/forecasts/customer-figures.ts'
import { DAY_MS, type EpochMs, HOUR_MS } from '../../src/domain/time/time.ts'
import { createCustomerFigures } from '../../src/jobs/customer-figures.ts'
import { createUsageRollup } from '../../src/jobs/usage-rollup.ts'
import { createBench, draw, settle } from '../support/engine.ts'

const bench = await createBench()
const { db, clock } = bench
const engine = bench.engine()

const SHARD = 5
let lastUser = 20_000
/** A user of one shard that no other test uses. */
function someone(): number {
  do lastUser += 1
  while (shardOf(lastUser) !== SHARD)
  return lastUser
}

const jobOn = (on: Database = db, pageSize = 100) => createCustomerFigures({ db: on, now: () => clock.now, pageSize })
/** A walk over all accounts, a minute later. */
async function renew(job = jobOn()): Promise<void> {
  clock.now += 60_000
  while ((await job.renewOnce(clock.now)).isBehind);
}

async function figuresOf(user: number): Promise<StoredFigures | undefined> {
  const [row] = await db.query<StoredFigures>({
    text: sql`select * from customer_figures where shard = $1 and user_id = $2`,
    values: [shardOf(user), user],
  })
  return row
}

/** Usage of a time that has passed, as the rollup would have left it. */
async function used(user: number, ago: number, sent: number, denied = 0, table: 'usage' | 'usage_day' = 'usage') {
  const insert = { usage: sql`usage`, usage_day: sql`usage_day` }[table]
  await db.query({
    text: sql`insert into ${insert} (shard, user_id, bucket, quota_id, committed, committed_messages, refunded, refunded_messages,
             denied, denied_messages, quota_exhausted, quota_exhausted_messages)
           values ($1, $2, date_bin('15 minutes', $3::timestamptz, 'epoch'), 1, $4, 1, 0, 0, $5, 1, $5, 1)`,
    values: [shardOf(user), user, timestampParam(clock.now - ago), sent, denied],
  })
}

test('are made of quotas, usage of two months, events and the profile', async () => {
  const user = someone()
  await bench.quota({ user_id: user, limit: 100, alert_at: [80] })
  await updateProfile(db, user, { ref: `ref-${user}`, name: 'Ärzte & Co' }, bench.author(), () => true)
  await used(user, 40 * DAY_MS, 50, 7, 'usage_day')
  await used(user, 3 * DAY_MS, 30, 5)
  clock.now += HOUR_MS
  await engine.submit(draw('consume', user, 'a', 90))
  await engine.submit(settle('refund', user, 'a', 3))
  await engine.submit(draw('consume', user, 'b', 20))
  const lastAt = clock.now
  await createUsageRollup({ db, log: console }).rollUpOnce()
  await renew()
  const figures = await figuresOf(user)
  expect(figures).toMatchObject({
    computed_at: clock.now,
    name_key: 'arzte & co',
    state: 'near_limit',
    used_share: 870_000,
    ...{ sent: 120, sent_before: 50, denied: 25, unmet: 25, growth: -12, denied_share: 172_413 },
    last_message_at: lastAt,
  })
  const daily = new Array(FIGURE_DAYS).fill(0)
  expect(figures?.daily).toEqual([...daily.slice(0, 26), 30, 0, 0, 90])
  // 40 days ago is more than four weeks: 117 units of the latest week weigh 4 of 10.
  expect(figures?.daily_rate).toBeCloseTo((117 * 4) / 10 / 7)
  expect(figures?.due_at).toBe(clock.now + DAY_MS)
})

describe('are made anew', () => {
  /** Whether the user's figures are made anew by the next walk after something. */
  async function isRenewed(user: number, something: () => unknown): Promise<boolean> {
    await renew()
    const before = await figuresOf(user)
    await something()
    await renew()
    const after = await figuresOf(user)
    expect([before?.computed_at, after?.computed_at]).not.toContain(undefined)
    return after?.computed_at !== before?.computed_at
  }
  const customer = async (limit = 100) => {
    const user = someone()
    await bench.quota({ user_id: user, limit })
    return user
  }

  test.each<[string, isRenewed: boolean, (user: number) => unknown]>([
    ['not while nothing happens', false, () => {}],
    ['not before the day is over', false, () => (clock.now += DAY_MS - 3 * 60_000)],
    ['once a day', true, () => (clock.now += DAY_MS - 60_000)],
    ['after a change of a quota', true, user => bench.quota({ user_id: user, limit: 5 })],
    [
      'after a change of the profile',
      true,
      user => updateProfile(db, user, { name: 'Bo' }, bench.author(), () => true),
    ],
    [
      'after usage, some minutes later',
      true,
      async user => {
        await used(user, 0, 1)
        clock.now += 5 * 60_000
      },
    ],
    ['not at once after usage', false, user => used(user, 0, 1)],
    [
      'not for usage that is older than they are',
      false,
      async user => {
        await used(user, HOUR_MS, 1)
        clock.now += 5 * 60_000
      },
    ],
  ])('%s', async (_when, expected, something) => {
    const user = await customer()
    expect(await isRenewed(user, () => something(user))).toBe(expected)
  })

  test('when a window ends', async () => {
    const user = someone()
    const { window_end } = await bench.quota({ user_id: user, period: 'hour', limit: 5 })
    expect(await isRenewed(user, () => (clock.now = (window_end ?? 0) - 60_000))).toBe(true)
  })

  test('soon after a clock was ahead', async () => {
    const user = await customer()
    await renew()
    const right = clock.now
    clock.now += 400 * DAY_MS
    await renew()
    clock.now = right
    expect((await figuresOf(user))?.computed_at).toBeGreaterThan(clock.now + DAY_MS)
    await renew()
    expect((await figuresOf(user))?.computed_at).toBe(clock.now)
  })
})

test('are made page by page, by several processes, and complete only after the last page', async () => {
  const users = Array.from({ length: 5 }, someone)
  for (const user_id of users) await bench.quota({ user_id })
  clock.now += 60_000
  const doneUntil = async () => {
    const [row] = await db.query<{ done_until: EpochMs | null }>({
      text: sql`select done_until from usage_upkeep where shard = $1 and task = 'figures'`,
      values: [SHARD],
    })
    return row?.done_until
  }
  const [one, other] = [jobOn(db, 2), jobOn(db, 2)]
  expect(await one.renewOnce(clock.now)).toMatchObject({ isBehind: true })
  expect(await doneUntil()).not.toBe(clock.now)
  for (let steps = 0; ; steps++) {
    expect(steps).toBeLessThan(10)
    const ends = await Promise.all([one.renewOnce(clock.now), other.renewOnce(clock.now)])
    if (ends.every(({ isBehind }) => !isBehind)) break
  }
  expect(await doneUntil()).toBe(clock.now)
  for (const user of users) expect(await figuresOf(user)).toMatchObject({ computed_at: clock.now, state: 'ok' })
})

test('go with their user, also if a version that does not know them has erased that one', async () => {
  const [gone, other] = [someone(), someone()]
  for (const user_id of [gone, other]) await bench.quota({ user_id })
  await renew()
  await db.query({ text: sql`delete from quota where shard = $1 and user_id = $2`, values: [SHARD, gone] })
  await db.query({ text: sql`delete from account where shard = $1 and user_id = $2`, values: [SHARD, gone] })
  await renew(jobOn(db, 1))
  expect(await Promise.all([gone, other].map(figuresOf))).toEqual([undefined, expect.objectContaining({ state: 'ok' })])
})

test('are not made of a user who is being erased, nor of one with a quota of a newer version', async () => {
  const [erased, newer, other] = [someone(), someone(), someone()]
  for (const user_id of [erased, newer, other]) await bench.quota({ user_id })
  await requestErasure(db, erased, false, bench.author())
  await db.query({
    text: sql`update quota set period = 'anchored_month', anchor = 'last' where shard = $1 and user_id = $2`,
    values: [SHARD, newer],
  })
  await renew()
  expect(await Promise.all([erased, newer, other].map(figuresOf))).toEqual([
    undefined,
    undefined,
    expect.objectContaining({ state: 'ok' }),
  ])
})

// Users of other tests have figures that are always due.
const quiet = await createBench()

test('walks that find nothing come less often, until there is something to do', async () => {
  const job = createCustomerFigures({ db: quiet.db, now: () => quiet.clock.now })
  const pauses: number[] = []
  const walk = async () => {
    for (;;) {
      quiet.clock.now += 60_000
      const { isBehind, pauseMs } = await job.step(new AbortController().signal)
      if (!isBehind) return pauses.push(pauseMs(0))
    }
  }
  await quiet.quota({ user_id: 7, limit: 100 })
  for (let walks = 0; walks < 4; walks++) await walk()
  await quiet.quota({ user_id: 7, limit: 200 })
  await walk()
  expect(pauses).toEqual([15_000, 30_000, 45_000, 45_000, 15_000])
  expect(await quiet.db.transaction(figuresWalkedAt)).toBe(quiet.clock.now)
})

test('a counter that cannot be read leaves its user without figures, who is named, and others have theirs', async () => {
  const own = await createBench()
  const users = [someone(), someone(), someone()]
  const [, broken = 0] = users
  for (const user_id of users) await own.quota({ user_id })
  await own.db.query({ text: sql`update quota set used = 9007199254740993 where user_id = $1`, values: [broken] })
  const job = createCustomerFigures({ db: own.db, now: () => own.clock.now, pageSize: 2 })
  const figured = async () => {
    const rows = await own.db.query<{ user_id: number }>({ text: sql`select user_id from customer_figures order by 1` })
    return rows.map(({ user_id }) => user_id)
  }
  await expect(job.renewOnce(own.clock.now)).rejects.toThrow(
    `no figures of user ${broken}: the database holds 9007199254740993`,
  )
  expect((await job.renewOnce(own.clock.now)).isBehind).toBe(false)
  expect(await figured()).toEqual(users.filter(user => user !== broken))
  await own.db.query({ text: sql`update quota set used = 0 where user_id = $1`, values: [broken] })
  own.clock.now += 60_000
  while ((await job.renewOnce(own.clock.now)).isBehind);
  expect(await figured()).toEqual(users)
})
