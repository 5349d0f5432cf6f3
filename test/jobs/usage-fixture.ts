/** What usage is reported of users, and histories of users in which it must equal the ledger and the windows. */
import { Temporal } from 'temporal-polyfill'
import { expect } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { closedWindowsOf } from '../../src/db/quotas/history.ts'
import { findQuota } from '../../src/db/quotas/quotas.ts'
import type { UsageSums } from '../../src/db/usage/columns.ts'
import { sumUsage } from '../../src/db/usage/sums.ts'
import { verify } from '../../src/db/verify/verify.ts'
import { roll } from '../../src/domain/quotas/quota.ts'
import { plainCalendar } from '../../src/domain/time/period.ts'
import { DAY_MS, type EpochMs } from '../../src/domain/time/time.ts'
import { nextBoundary } from '../../src/domain/time/window.ts'
import type { Command } from '../../src/domain/units/command.ts'
import type { DenialReason, Draw } from '../../src/domain/units/reservation.ts'
import type { UserUsageGroup } from '../../src/domain/units/usage.ts'
import { createRetention } from '../../src/jobs/retention.ts'
import { createSweeper } from '../../src/jobs/sweeper.ts'
import { createUsageRollup } from '../../src/jobs/usage-rollup.ts'
import { type Bench, differences, draw, reserve, settle, someone } from '../support/engine.ts'
import { seededRandom } from '../support/ledger.ts'

export const MINUTE = 60_000
const log = { info() {}, warn() {}, error() {} }
const NO_DENIALS = {
  denied: 0,
  denied_messages: 0,
  no_quota: 0,
  no_quota_messages: 0,
  cap_reached: 0,
  cap_reached_messages: 0,
  quota_exhausted: 0,
  quota_exhausted_messages: 0,
  destination_paused: 0,
  destination_paused_messages: 0,
}
export const NOTHING: UsageSums = {
  committed: 0,
  committed_messages: 0,
  refunded: 0,
  refunded_messages: 0,
  unfunded: 0,
  unfunded_messages: 0,
  verified_messages: 0,
  committed_segments: 0,
  ...NO_DENIALS,
}
const NAMES = Object.keys(NOTHING) as (keyof UsageSums)[]

const deniedFor = (reason: DenialReason, units: number) => ({
  denied: units,
  denied_messages: 1,
  [reason]: units,
  [`${reason}_messages`]: 1,
})

const ZONES = ['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'Asia/Kathmandu', 'America/St_Johns', 'Australia/Lord_Howe']
type Booking = { at: EpochMs; sums: UsageSums }

const difference = (one: UsageSums, other: UsageSums): UsageSums =>
  Object.fromEntries(NAMES.map(name => [name, one[name] - other[name]])) as unknown as UsageSums

const sumOf = (all: readonly UsageSums[]): UsageSums =>
  Object.fromEntries(NAMES.map(name => [name, all.reduce((sum, sums) => sum + sums[name], 0)])) as unknown as UsageSums

/**
 * What a forced commit takes again of what was refunded: in the ledger the refund is lower, in usage it stays in the report of its time, and
 * the units are committed once more; so is the message, when no unit is refunded any more.
 */
function retakenBy({ refunded, refunded_messages }: UsageSums, isUnfunded: boolean): UsageSums {
  const [units, messages] = [Math.max(0, -refunded), Math.max(0, -refunded_messages)]
  const both = { committed: units, committed_messages: messages, refunded: units, refunded_messages: messages }
  return { ...NOTHING, ...both, ...(isUnfunded ? { unfunded: units, unfunded_messages: messages } : {}) }
}

const isOfCap = ({ kind }: Draw) => kind === 'cap'

export function usageOn(bench: Bench) {
  const { db, clock } = bench
  const engine = bench.engine()
  const createRollup = () => createUsageRollup({ db, log })

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

  /** The sums of a user's ledger, written from the contract. The ledger has no denials. */
  async function ledgerOf(user: number): Promise<UsageSums> {
    const [row] = await db.query<UsageSums>({
      text: sql`
        select coalesce(sum(committed), 0)::bigint as committed, count(*) filter (where committed > 0) as committed_messages,
          coalesce(sum(refunded), 0)::bigint as refunded, count(*) filter (where refunded > 0) as refunded_messages,
          coalesce(sum(committed) filter (where is_unfunded), 0)::bigint as unfunded,
          count(*) filter (where committed > 0 and is_unfunded) as unfunded_messages,
          count(*) filter (where verified) as verified_messages
        from (select *, not exists (select from generate_series(1, cardinality(draws), 6) i where draws[i + 1] = 0)
                as is_unfunded from reservation where user_id = $1 and id not like '\\_%') r`,
      values: [user],
    })
    return { ...NOTHING, ...row }
  }

  /** The used units of all windows of a quota, those in its history and the current one, without its opening units. */
  async function usedOf(quotaId: number, opening: number): Promise<number> {
    const past = await closedWindowsOf(db, quotaId, { size: 10_000, now: clock.now })
    const stored = await findQuota(db, quotaId)
    if (past === undefined || stored === undefined) throw new Error('there is no such quota')
    const used = past.items.map(window => window.used)
    return used.reduce((sum, units) => sum + units, roll(stored, clock.now).quota.used) - opening
  }

  /** In any zone and at any age; `verify` must find no difference either. Resolves to how many reservations the sweeper closed. */
  async function expectRightInHistories(seeds: readonly number[]): Promise<number> {
    let closed = 0
    for (const seed of seeds) {
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
      const retaken: UsageSums[] = []
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
          () => ({
            ...settle('commit', user, id, pick([null, 1, 4])),
            ...{ force: random() < 0.3, verified: random() < 0.3 },
          }),
          () => ({ op: 'feedback', user_id: user, id }),
          () => settle('refund', user, id, pick([null, 1, 2])),
          () => settle('release', user, id),
          () => ({ op: 'expire', user_id: user, id }),
        ])()
        const answer = await engine.submit(command)
        const after = await ledgerOf(user)
        const denied = answer.outcome === 'denied' && 'units' in command ? deniedFor(answer.reason, command.units) : {}
        const change = difference(after, ledger)
        const again = retakenBy(change, answer.outcome === 'settled' && answer.reservation.draws.every(isOfCap))
        retaken.push(again)
        bookings.push({ at: clock.now, sums: { ...sumOf([change, again]), ...denied } })
        ledger = after
        if (random() < 0.2) await createRollup().rollUpOnce()
      }

      /** `kept`: whether the ledger still has everything, or it is archived. */
      const expectRight = async (kept: 'all' | 'archived') => {
        const total = await totalOf(user)
        expect(total, `seed ${seed}`).toEqual(sumOf(bookings.map(({ sums }) => sums)))
        const committed = { ...difference(total, sumOf(retaken)), ...NO_DENIALS }
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
        const starts = [nextBoundary(plainCalendar('day', zone), began - 2 * DAY_MS)]
        while ((starts.at(-1) ?? 0) <= clock.now)
          starts.push(nextBoundary(plainCalendar('day', zone), starts.at(-1) ?? 0))
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
      const rows = await db.query({ text: sql`select from reservation where user_id = $1`, values: [user] })
      expect(await retireAll(), `seed ${seed}`).toBeGreaterThanOrEqual(rows.length)
      await expectRight('archived')
    }
    return closed
  }

  return { engine, usageOf, totalOf, rollUpAll, expectRightInHistories }
}
