import { Temporal } from 'temporal-polyfill'
import { describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { closedWindowsOf } from '../../src/db/quotas/history.ts'
import { findQuota } from '../../src/db/quotas/quotas.ts'
import type { UsageSums } from '../../src/db/usage/columns.ts'
import { sumUsage } from '../../src/db/usage/sums.ts'
import { verify } from '../../src/db/verify/verify.ts'
import type { Command } from '../../src/domain/command.ts'
import { roll } from '../../src/domain/quota.ts'
import type { DenialReason } from '../../src/domain/reservation.ts'
import { shardOf } from '../../src/domain/shard.ts'
import { DAY_MS, type EpochMs } from '../../src/domain/time.ts'
import type { UserUsageGroup } from '../../src/domain/usage.ts'
import { nextBoundary } from '../../src/domain/window.ts'
import { createRetention } from '../../src/jobs/retention.ts'
import { createJobRunner } from '../../src/jobs/runner.ts'
import { createSweeper } from '../../src/jobs/sweeper.ts'
import { createUsageRollup } from '../../src/jobs/usage-rollup.ts'
import {
  createBench,
  differences,
  draw,
  neighbours,
  openTransaction,
  reserve,
  settle,
  someone,
  usersOfTwoShards,
} from '../support/engine.ts'
import { seededRandom } from '../support/ledger.ts'
import { rawSql } from '../support/sql.ts'

const MINUTE = 60_000
const bench = await createBench()
const { db, clock } = bench
const engine = bench.engine()
const log = { info() {}, warn() {}, error() {} }
const createRollup = () => createUsageRollup({ db, log })
const NO_DENIALS = {
  denied: 0,
  denied_messages: 0,
  no_quota: 0,
  no_quota_messages: 0,
  cap_reached: 0,
  cap_reached_messages: 0,
  quota_exhausted: 0,
  quota_exhausted_messages: 0,
}
const NOTHING: UsageSums = {
  committed: 0,
  committed_messages: 0,
  refunded: 0,
  refunded_messages: 0,
  unfunded: 0,
  unfunded_messages: 0,
  ...NO_DENIALS,
}
const NAMES = Object.keys(NOTHING) as (keyof UsageSums)[]

/** All usage of a user by key: one key without a group. */
async function usageOf(user: number, group?: UserUsageGroup): Promise<Map<number | string | null, UsageSums>> {
  const rows = await sumUsage(db, user, { starts: [0], to: clock.now + DAY_MS }, group, 10_000)
  return new Map(rows.map(({ interval: _, key, ...sums }) => [key, sums]))
}

const totalOf = async (user: number) => (await usageOf(user)).get(null) ?? NOTHING

async function rollUpAll(): Promise<number> {
  const rollup = createRollup()
  let batches = 0
  for (;;) {
    const step = await rollup.rollUpOnce()
    batches += step.batches
    if (step.batches === 0) return batches
  }
}

async function retireAll(): Promise<number> {
  const retention = createRetention({ db, now: () => clock.now })
  let removed = 0
  for (;;) {
    const step = await retention.removeOnce(clock.now)
    removed += step.removed
    if (!step.isBehind) return removed
  }
}

/** Closes expired reservations, as the service does. */
async function sweepAll(): Promise<number> {
  const sweeper = createSweeper({ db, engine, now: () => clock.now, log })
  let closed = 0
  for (;;) {
    const sweep = await sweeper.sweepOnce(clock.now)
    closed += sweep.closed
    if (sweep.pending === 'none') return closed
  }
}

async function countOf(table: string): Promise<number> {
  const [row] = await db.query<{ count: number }>({ text: rawSql`select count(*) as count from ${table}` })
  return row?.count ?? Number.NaN
}

describe('usage', () => {
  test('is what was committed, refunded and denied, at the time of each', async () => {
    const user = someone()
    const { id } = await bench.quota({ user_id: user, limit: 100 })
    clock.now = Date.parse('2026-03-20T10:07:00Z')
    await engine.submit(reserve(user, 'campaign', 50, { country: 'DE', ttl_ms: DAY_MS }))
    expect(await totalOf(user)).toEqual(NOTHING)
    await engine.submit(settle('commit', user, 'campaign', 20))
    clock.now = Date.parse('2026-03-20T10:22:00Z')
    await engine.submit(settle('commit', user, 'campaign', 30))
    await engine.submit(settle('commit', user, 'campaign', 30))
    await engine.submit(settle('refund', user, 'campaign', 5))
    await engine.submit(settle('refund', user, 'campaign', 7))
    await engine.submit(settle('release', user, 'campaign'))
    await engine.submit(draw('consume', user, 'big', 500, { country: 'FR' }))
    await engine.submit(draw('check', user, '', 500))
    const expected = { ...NOTHING, committed: 30, committed_messages: 1, refunded: 7, refunded_messages: 1 }
    const denied = { denied: 500, denied_messages: 1, quota_exhausted: 500, quota_exhausted_messages: 1 }
    expect(await totalOf(user)).toEqual({ ...expected, ...denied })
    expect(await usageOf(user, 'quota')).toEqual(
      new Map<number | null, UsageSums>([
        [id, expected],
        [null, { ...NOTHING, ...denied }],
      ]),
    )
    expect([...(await usageOf(user, 'country')).keys()]).toEqual(['DE', 'FR'])
    const quarters = [0, 15, 30].map(minutes => Date.parse('2026-03-20T10:00:00Z') + minutes * MINUTE)
    const rows = await sumUsage(db, user, { starts: quarters.slice(0, 2), to: quarters[2] ?? 0 }, undefined, 10)
    expect(rows.map(row => [row.interval, row.committed, row.refunded, row.denied])).toEqual([
      [0, 20, 0, 0],
      [1, 10, 7, 500],
    ])
  })

  test('is unfunded if no grant pays, and a refund reduces that', async () => {
    const user = someone()
    await engine.submit(draw('consume', user, 'm', 5, { force: true }))
    await engine.submit(settle('refund', user, 'm', 2))
    expect(await totalOf(user)).toEqual({
      ...NOTHING,
      committed: 5,
      committed_messages: 1,
      unfunded: 5,
      unfunded_messages: 1,
      refunded: 2,
      refunded_messages: 1,
    })
  })

  test('belongs to the grants that paid, unit by unit, and not to caps; a message belongs to the first grant', async () => {
    const user = someone()
    const one = await bench.quota({ user_id: user, limit: 5, overage_limit: 10, priority: 1 })
    const two = await bench.quota({ user_id: user, limit: 5, priority: 2 })
    await bench.quota({ user_id: user, kind: 'cap', limit: 100 })
    // 5 of the first, 5 of the second, 3 of the first's overage: a refund starts at that end.
    await engine.submit(draw('consume', user, 'm', 13))
    await engine.submit(settle('refund', user, 'm', 4))
    const byQuota = await usageOf(user, 'quota')
    const refund = { refunded_messages: 0, refunded: 1 }
    expect(byQuota).toEqual(
      new Map([
        [one.id, { ...NOTHING, committed: 8, committed_messages: 1, refunded: 3, refunded_messages: 1 }],
        [two.id, { ...NOTHING, committed: 5, ...refund }],
      ]),
    )
  })

  test('includes reservations that commit on expiry, and excludes the opening units of a quota', async () => {
    const user = someone()
    await bench.quota({ user_id: user, limit: 100, opening_used: 40 })
    await engine.submit(reserve(user, 'm', 10, { ttl_ms: MINUTE, on_expiry: 'commit' }))
    clock.now += 2 * MINUTE
    await engine.submit({ op: 'expire', user_id: user, id: 'm' })
    expect(await totalOf(user)).toEqual({ ...NOTHING, committed: 10, committed_messages: 1 })
  })

  test('does not count repeated and rejected commands', async () => {
    const user = someone()
    await bench.quota({ user_id: user, limit: 100 })
    for (let n = 0; n < 3; n++) await engine.submit(draw('consume', user, 'm', 1))
    await engine.submit(draw('consume', user, 'm', 2))
    await engine.submit(settle('commit', user, 'unknown', 2))
    await engine.submit(settle('refund', user, 'm', 9))
    expect(await totalOf(user)).toEqual({ ...NOTHING, committed: 1, committed_messages: 1 })
  })
})

test('denials can be all that a batch writes', async () => {
  const user = someone()
  const { id } = await bench.quota({ user_id: user, limit: 10 })
  await engine.submit(draw('consume', user, 'm', 10))
  const before = await countOf('usage_pending')
  await engine.submit(draw('consume', user, 'n', 1))
  expect(await countOf('usage_pending')).toBe(before + 1)
  const byQuota = await usageOf(user, 'quota')
  expect([byQuota.get(id), byQuota.get(null)]).toMatchObject([
    { committed: 10, denied: 0 },
    { committed: 0, denied: 1 },
  ])
  await rollUpAll()
})

describe('the rollup', () => {
  test('by two processes, while batches come, loses nothing and counts nothing twice', async () => {
    await rollUpAll()
    const users = neighbours(4)
    for (const user_id of users) await bench.quota({ user_id, limit: 1_000_000 })
    let isOver = false
    const totals: number[] = []
    const send = async () => {
      for (let n = 0; n < 150; n++)
        await Promise.all(users.map(user => engine.submit(draw('consume', user, `f${n}`, 2))))
      isOver = true
    }
    const rollUp = async () => {
      let batches = 0
      while (!isOver) batches += await rollUpAll()
      return batches + (await rollUpAll())
    }
    const readTotals = async () => {
      while (!isOver) totals.push((await totalOf(users[0] ?? 0)).committed)
    }
    const [, one, other] = await Promise.all([send(), rollUp(), rollUp(), readTotals()])
    expect(one + other).toBeGreaterThan(50)
    expect(await countOf('usage_pending')).toBe(0)
    for (const user of users) expect(await totalOf(user)).toMatchObject({ committed: 300, committed_messages: 150 })
    // Concurrent readers see totals that only grow, by whole commits.
    expect(totals).toEqual(totals.toSorted((a, b) => a - b))
    expect(totals.filter(total => total % 2 !== 0)).toEqual([])
  })

  test('skips batches that another process is rolling up, without waiting for it', async () => {
    await rollUpAll()
    const user = someone()
    await bench.quota({ user_id: user, limit: 100 })
    await engine.submit(draw('consume', user, 'm', 1))
    const held = await openTransaction(db, tx =>
      tx.query({ text: sql`select from usage_pending where shard = $1 for update`, values: [shardOf(user)] }),
    )
    expect(await rollUpAll()).toBe(0)
    await held.commit()
    expect(await rollUpAll()).toBe(1)
    expect(await totalOf(user)).toMatchObject({ committed: 1 })
  })

  test('leaves a batch that cannot be added up, names it, and does all others', async () => {
    await rollUpAll()
    const [user = 0, bad = 0] = neighbours(2)
    const elsewhere = someone()
    await bench.quota({ user_id: user, limit: 1_000 })
    await bench.quota({ user_id: elsewhere, limit: 1_000 })
    const errors: unknown[] = []
    const rollup = createUsageRollup({ db, log: { ...log, error: fields => errors.push(fields) } })
    const send = async (id: string) => {
      for (const one of [user, elsewhere]) await engine.submit(draw('consume', one, id, 1))
    }
    for (let n = 0; n < 5; n++) await send(`a${n}`)
    const [planted] = await db.query<{ number: number }>({
      text: sql`insert into usage_pending values ($1, nextval('usage_number'), '2026-03-20', array[$2::bigint], '{1}',
        '{null}', '{null}', '{0}', '{-7}', '{1}') returning number`,
      values: [shardOf(bad), bad],
    })
    for (let n = 0; n < 5; n++) await send(`b${n}`)
    while ((await rollup.rollUpOnce()).isBehind);
    expect(errors).toMatchObject([{ shard: shardOf(bad), number: planted?.number }])
    expect(await db.query({ text: sql`select number from usage_pending` })).toEqual([planted])
    for (const one of [user, elsewhere]) expect(await totalOf(one)).toMatchObject({ committed: 10 })
    // It stays known, and costs the next steps nothing.
    await send('c')
    while ((await rollup.rollUpOnce()).isBehind);
    expect(errors).toHaveLength(1)
    expect(await countOf('usage_pending')).toBe(1)
    await db.query({ text: sql`truncate usage_pending` })
  })

  test('of a shard that fails does not hold up the others', async () => {
    await rollUpAll()
    const users = usersOfTwoShards()
    for (const user of users) {
      await bench.quota({ user_id: user, limit: 100 })
      await engine.submit(draw('consume', user, 'a', 1))
    }
    await rollUpAll()
    for (const user of users) await engine.submit(draw('consume', user, 'b', 1))
    const held = await openTransaction(db, tx =>
      tx.query({
        text: sql`select from usage where shard = $1 and user_id = $2 for update`,
        values: [shardOf(users[0] ?? 0), users[0] ?? 0],
      }),
    )
    await expect(createRollup().rollUpOnce()).rejects.toThrow('lock timeout')
    expect(await countOf('usage_pending')).toBe(1)
    await held.commit()
    await rollUpAll()
    for (const user of users) expect(await totalOf(user)).toMatchObject({ committed: 2 })
  })

  test('as a job it runs until the runner stops', async () => {
    const user = someone()
    await bench.quota({ user_id: user, limit: 100 })
    await engine.submit(draw('consume', user, 'm', 1))
    const rolledUp = Promise.withResolvers<void>()
    const rollup = createUsageRollup({ db, log, onRollup: ({ batches }) => batches > 0 && rolledUp.resolve() })
    const jobs = createJobRunner([rollup], { log })
    jobs.start()
    await rolledUp.promise
    await jobs.stop()
    expect(await countOf('usage_pending')).toBe(0)
  })
})

/* ── Random histories ───────────────────────────────────────────────────────────────────────────────────────────── */

const deniedFor = (reason: DenialReason, units: number) => ({
  denied: units,
  denied_messages: 1,
  [reason]: units,
  [`${reason}_messages`]: 1,
})

const ZONES = ['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'Asia/Kathmandu', 'America/St_Johns', 'Australia/Lord_Howe']
type Booking = { at: EpochMs; sums: UsageSums }

/** The sums of a user's ledger, written from the contract. The ledger has no denials. */
async function ledgerOf(user: number): Promise<UsageSums> {
  const [row] = await db.query<UsageSums>({
    text: sql`
      select coalesce(sum(committed), 0)::bigint as committed, count(*) filter (where committed > 0) as committed_messages,
        coalesce(sum(refunded), 0)::bigint as refunded, count(*) filter (where refunded > 0) as refunded_messages,
        coalesce(sum(committed) filter (where is_unfunded), 0)::bigint as unfunded,
        count(*) filter (where committed > 0 and is_unfunded) as unfunded_messages
      from (select *, not exists (select from generate_series(1, cardinality(draws), 6) i where draws[i + 1] = 0)
              as is_unfunded from reservation where user_id = $1 and id not like '\\_%') r`,
    values: [user],
  })
  return { ...NOTHING, ...row }
}

const difference = (one: UsageSums, other: UsageSums): UsageSums =>
  Object.fromEntries(NAMES.map(name => [name, one[name] - other[name]])) as unknown as UsageSums

const sumOf = (all: readonly UsageSums[]): UsageSums =>
  Object.fromEntries(NAMES.map(name => [name, all.reduce((sum, sums) => sum + sums[name], 0)])) as unknown as UsageSums

/** The used units of all windows of a quota, those in its history and the current one, without its opening units. */
async function usedOf(quotaId: number, opening: number): Promise<number> {
  const past = await closedWindowsOf(db, quotaId, Number.MAX_SAFE_INTEGER, 10_000, clock.now)
  const stored = await findQuota(db, quotaId)
  if (past === undefined || stored === undefined) throw new Error('there is no such quota')
  const used = past.items.map(window => window.used)
  return used.reduce((sum, units) => sum + units, roll(stored, clock.now).quota.used) - opening
}

test('in random histories usage equals the ledger and the windows, and verify finds no difference, in any zone and at any age', async () => {
  let closed = 0
  for (let seed = 1; seed <= 30; seed++) {
    const random = seededRandom(seed)
    const pick = <T>(choices: readonly T[]) => choices[Math.floor(random() * choices.length)] as T
    clock.now += Math.floor(random() * 40 * DAY_MS)
    const user = someone()
    const zone = pick(ZONES)
    const grants: { id: number; opening: number }[] = []
    for (let n = 0; n < 3; n++) {
      const opening = pick([0, 0, 3])
      const fields = {
        user_id: user,
        limit: pick([5, 20, 60]),
        priority: n,
        opening_used: opening,
        time_zone: pick(ZONES),
      }
      const overage_limit = pick([0, 4])
      const countries = pick([null, ['DE']])
      const period = pick([null, 'hour', 'day', 'week'] as const)
      const rollover_limit = period === null ? 0 : pick([0, 5])
      const { id } = await bench.quota({ ...fields, period, rollover_limit, overage_limit, countries })
      grants.push({ id, opening })
    }
    if (random() < 0.5) await bench.quota({ user_id: user, kind: 'cap', limit: 30, period: 'day' })
    const began = clock.now
    const bookings: Booking[] = []
    let ledger = await ledgerOf(user)
    for (let n = 0; n < 30; n++) {
      clock.now += Math.floor(random() * pick([0, MINUTE, 40 * MINUTE, 12 * 60 * MINUTE]))
      const id = `m${Math.floor(random() * 8)}`
      const units = 1 + Math.floor(random() * 12)
      const more = {
        country: pick([null, 'DE', 'FR']),
        message_type: pick([null, 'otp']),
        allow_partial: random() < 0.3,
      }
      const expiry = { ttl_ms: pick([MINUTE, DAY_MS]), on_expiry: pick(['release', 'commit'] as const) }
      const command: Command = pick<() => Command>([
        () => reserve(user, id, units, { ...more, ...expiry }),
        () => reserve(user, id, units, { ...more, ...expiry }),
        () => draw('consume', user, id, units, { ...more, force: random() < 0.3 }),
        () => ({ ...settle('commit', user, id, pick([null, 1, 4])), force: random() < 0.3 }),
        () => settle('refund', user, id, pick([null, 1, 2])),
        () => settle('release', user, id),
        () => ({ op: 'expire', user_id: user, id }),
      ])()
      const answer = await engine.submit(command)
      const after = await ledgerOf(user)
      const denied = answer.outcome === 'denied' && 'units' in command ? deniedFor(answer.reason, command.units) : {}
      bookings.push({ at: clock.now, sums: { ...difference(after, ledger), ...denied } })
      ledger = after
      if (random() < 0.2) await createRollup().rollUpOnce()
    }

    /** `kept`: whether the ledger still has everything, or it is archived. */
    const expectRight = async (kept: 'all' | 'archived') => {
      const total = await totalOf(user)
      expect(total, `seed ${seed}`).toEqual(sumOf(bookings.map(({ sums }) => sums)))
      const committed = { ...total, ...NO_DENIALS }
      expect(await ledgerOf(user), `seed ${seed}`).toEqual(kept === 'all' ? committed : NOTHING)
      expect([(await verify(db, { userId: user })).differences, await differences(db)], `seed ${seed}`).toEqual([
        [],
        [],
      ])
      const byQuota = await usageOf(user, 'quota')
      for (const { id, opening } of grants) {
        const { committed, refunded } = byQuota.get(id) ?? NOTHING
        expect(committed - refunded, `seed ${seed}`).toBe(await usedOf(id, opening))
      }
      // Days of the zone, by the dates that its clocks showed.
      const dateAt = (at: EpochMs) =>
        Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).toPlainDate().toString()
      const days = Map.groupBy(bookings, ({ at }) => dateAt(at))
      const starts = [nextBoundary('day', zone, began - 2 * DAY_MS)]
      while ((starts.at(-1) ?? 0) <= clock.now) starts.push(nextBoundary('day', zone, starts.at(-1) ?? 0))
      const end = starts.pop() ?? 0
      const rows = await sumUsage(db, user, { starts, to: end }, undefined, 10_000)
      const byDate = new Map(rows.map(({ interval, key: _, ...sums }) => [dateAt(starts[interval] ?? 0), sums]))
      for (const [date, all] of days) {
        expect(byDate.get(date) ?? NOTHING, `seed ${seed}, ${date} in ${zone}`).toEqual(
          sumOf(all.map(({ sums }) => sums)),
        )
      }
    }
    await expectRight('all')
    await rollUpAll()
    await expectRight('all')
    // A commit by expiry counts at the time at which the reservation was closed.
    clock.now += 2 * DAY_MS
    closed += await sweepAll()
    bookings.push({ at: clock.now, sums: difference(await ledgerOf(user), ledger) })
    await expectRight('all')
    await rollUpAll()
    await expectRight('all')
    clock.now += 40 * DAY_MS
    expect(await retireAll(), `seed ${seed}`).toBeGreaterThan(0)
    await expectRight('archived')
  }
  expect(closed).toBeGreaterThan(10)
})
