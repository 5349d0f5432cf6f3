/** What a quota of a plan begins with that is made while a window of an earlier one of its slot is open. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { givePlan, type Manner } from '../../src/domain/plans/give-plan.ts'
import { type PlanVersion, type SlotDraft, slotOf } from '../../src/domain/plans/plan.ts'
import { withoutReturned } from '../../src/domain/plans/used-before.ts'
import { deleteQuota, headroomOf, isLive, type Quota, roll } from '../../src/domain/quotas/quota.ts'
import { calendarOf } from '../../src/domain/time/period.ts'
import { DAY_MS, type EpochMs, HOUR_MS } from '../../src/domain/time/time.ts'
import { lastBoundary } from '../../src/domain/time/window.ts'
import { runs } from '../support/runs.ts'
import { at } from './fixture.ts'

const NOW = at('2026-03-15 12:00:00')

/** What left, of which window of which quota. */
interface Left {
  at: EpochMs
  quota_id: number
  window_no: number
  units: number
  isTransfer: boolean
}

/** A user of one slot, and the log of what was sent. */
function aUser() {
  let quotas: Quota[] = []
  let version = 0
  const log: Left[] = []
  const put = (quota: Quota) => {
    quotas = [...quotas.filter(({ id }) => id !== quota.id), quota].sort((one, other) => one.id - other.id)
  }
  const sentSince = (since: EpochMs) =>
    log
      .filter(sent => sent.at >= since)
      .map(({ quota_id, units, isTransfer }) => ({
        quota_id,
        units: isTransfer ? 0 : units,
        messages: isTransfer ? 0 : 1,
        handed_on: isTransfer ? units : 0,
      }))
  return {
    log,
    get quotas() {
      return quotas
    },
    /** @param slot null: the plan is taken away */
    give(slot: Partial<SlotDraft> | null, now: EpochMs, manner: Manner = {}) {
      const slots = slot === null ? [] : [slotOf({ slot: 'main', limit: 1000, period: 'month', ...slot })]
      const plan: PlanVersion | null = slot && { id: 1, version: ++version, name: 'Plan', slots }
      const planned = quotas.filter(quota => quota.plan !== null && quota.deleted_at === null)
      const earlier = quotas.filter(quota => !planned.includes(quota))
      const nextId = () => 1 + Math.max(0, ...quotas.map(({ id }) => id))
      const given = givePlan(planned, plan, manner, { now, actor: 'ada', userId: 7, nextId, earlier, sentSince })
      if (given.outcome !== 'given') throw new Error(given.outcome)
      for (const { change } of given.changes) put(change.after)
      return given
    },
    get current(): Quota | undefined {
      return quotas.find(quota => quota.plan !== null && quota.deleted_at === null)
    },
    /** Sends or hands on as much of this as the quota has. */
    send(units: number, now: EpochMs, isTransfer = false): number {
      const { current } = this
      if (current === undefined) return 0
      const { quota } = roll(current, now)
      const sent = isLive(quota, now) ? Math.min(units, headroomOf(quota)) : 0
      if (sent <= 0) return 0
      log.push({ at: now, quota_id: quota.id, window_no: quota.window_no, units: sent, isTransfer })
      put({ ...quota, used: quota.used + sent })
      return sent
    },
    /** Of what was handed on, units come back. */
    takeBack(index: number, units: number, now: EpochMs) {
      const entry = log.filter(({ isTransfer }) => isTransfer)[index]
      const stored = quotas.find(({ id }) => id === entry?.quota_id)
      if (entry === undefined || stored === undefined) return
      const back = Math.min(units, entry.units)
      entry.units -= back
      const { quota } = roll(stored, now)
      const giver = { ...quota, used: quota.used - (quota.window_no === entry.window_no ? back : 0) }
      put(giver)
      const lowered: Quota[] = []
      for (const later of quotas.map(one => roll(one, now).quota)) {
        const without = withoutReturned(later, giver, entry, back, lowered)
        if (without === null) continue
        lowered.push(later)
        put(without.quota)
      }
    },
    /** Of a message, units come back. */
    refund(index: number, units: number, now: EpochMs) {
      const entry = log.filter(({ isTransfer }) => !isTransfer)[index]
      const stored = quotas.find(({ id }) => id === entry?.quota_id)
      if (entry === undefined || stored === undefined) return
      const back = Math.min(units, entry.units)
      entry.units -= back
      const { quota } = roll(stored, now)
      put({ ...quota, used: quota.used - (quota.window_no === entry.window_no ? back : 0) })
    },
    reserve(reserved: number) {
      if (this.current !== undefined) put({ ...this.current, reserved })
    },
    release() {
      for (const quota of quotas) put({ ...quota, reserved: 0 })
    },
    delete(now: EpochMs) {
      if (this.current !== undefined) put(deleteQuota(this.current, { now, actor: 'bob' }).quota)
    },
  }
}

/** A user who has sent 700 of 1000 units, of a monthly grant if nothing else is said. */
function sender(first: Partial<SlotDraft> = {}) {
  const user = aUser()
  user.give(first, NOW)
  user.send(700, NOW)
  return user
}

describe('a quota that replaces another begins with what that one has used', () => {
  test.each<[string, Partial<SlotDraft>, Partial<SlotDraft>, number]>([
    ['another time zone', {}, { time_zone: 'Asia/Tokyo' }, 700],
    ['another day', {}, { anchor: '16' }, 700],
    ['a longer period', { period: 'day' }, {}, 700],
    ['a year', { period: null }, { period: 'year' }, 700],
    ['one window', {}, { period: null }, 700],
    ['a lower limit, and less than was used', {}, { limit: 500, anchor: '16' }, 700],
    ['no limit before', { limit: null }, { anchor: '16' }, 700],
    ['messages', { kind: 'cap', counts: 'messages' }, { kind: 'cap', counts: 'messages', anchor: '16' }, 700],
    ['the same scope', { countries: ['DE'] }, { countries: ['DE'], anchor: '16' }, 700],
    ['another scope', {}, { countries: ['DE'], anchor: '16' }, 0],
    ['another message type', { message_types: ['otp'] }, { anchor: '16' }, 0],
    ['another kind', {}, { kind: 'cap' }, 0],
    ['messages in place of units', { kind: 'cap' }, { kind: 'cap', counts: 'messages' }, 0],
    [
      'each value by itself',
      { kind: 'cap', per: 'recipient', counts: 'messages', alert_at: [], period: 'day' },
      { kind: 'cap', per: 'recipient', counts: 'messages', alert_at: [], period: 'hour' },
      0,
    ],
  ])('%s', (_what, first, second, used) => {
    const user = sender(first)
    const given = user.give(second, NOW + HOUR_MS)
    expect(given.slots).toMatchObject([{ outcome: 'replaced', carried: used, again: 0, quota: { used } }])
    const booked = given.changes.at(-1)?.booking
    expect(booked?.units).toBe(used === 0 ? undefined : used)
    // The same again books nothing.
    expect(user.give(second, NOW + HOUR_MS).changes.filter(({ booking }) => booking)).toEqual([])
  })

  test('and reserved: what is given back later is not in the new one', () => {
    const user = sender()
    user.reserve(200)
    expect(user.give({ anchor: '16' }, NOW + HOUR_MS).slots).toMatchObject([{ carried: 900, quota: { used: 900 } }])
  })

  test.each([['day'], ['month'], [null]] as const)(
    'less what came back since another one of period %s began with it, as long as the window is open that it is of',
    period => {
      const user = sender()
      user.give({ period, anchor: period === 'month' ? '16' : null }, NOW + HOUR_MS)
      user.give(null, NOW + 2 * HOUR_MS)
      user.refund(0, 300, NOW + 2 * HOUR_MS)
      const given = user.give({ period, time_zone: 'Asia/Tokyo' }, NOW + 3 * HOUR_MS)
      expect(given.slots).toMatchObject([{ carried: 400, quota: { used: 400 } }])
    },
  )

  test('and what came back after the window that it is of is not known any more: the units count as used', () => {
    const user = sender({ period: 'hour' })
    user.give({ period: null }, NOW + 1)
    user.give(null, NOW + 2 * HOUR_MS)
    user.refund(0, 300, NOW + 2 * HOUR_MS)
    expect(user.give({ period: null }, NOW + 3 * HOUR_MS).slots).toMatchObject([{ carried: 700 }])
  })

  test('but of a longer window only what was sent since its own began, and what is reserved', () => {
    const user = sender()
    user.send(50, NOW + DAY_MS)
    user.reserve(20)
    const given = user.give({ period: 'day', limit: 100 }, NOW + DAY_MS + HOUR_MS)
    expect(given.slots).toMatchObject([{ carried: 70, quota: { used: 70 } }])
    expect(user.send(100, NOW + DAY_MS + HOUR_MS)).toBe(30)
  })

  test('what was handed on since its own window began counts as what was sent', () => {
    const user = sender()
    user.send(80, NOW + DAY_MS, true)
    user.send(15, NOW + DAY_MS)
    for (const period of ['day', 'hour', 'day', 'month'] as const) {
      const [slot] = user.give({ period, limit: 100 }, NOW + DAY_MS + 1).slots
      expect([period, slot?.carried]).toEqual([period, period === 'month' ? 795 : 95])
    }
  })

  test('a cap knows what all sent: at most what it has counted', () => {
    const user = sender({ kind: 'cap' })
    user.log.push({ at: NOW + DAY_MS, quota_id: 99, window_no: 0, units: 40, isTransfer: false })
    user.log.push({ at: NOW + DAY_MS, quota_id: 99, window_no: 0, units: 30, isTransfer: true })
    const hourly = { kind: 'cap', period: 'day' } as const
    expect(user.give(hourly, NOW + DAY_MS + HOUR_MS).slots).toMatchObject([{ carried: 40 }])
  })
})

describe('a plan that is taken away and given again', () => {
  test('goes on in the same window, and begins anew in the next', () => {
    for (const [later, used] of [
      [HOUR_MS, 700],
      [16 * DAY_MS, 700],
      [17 * DAY_MS, 0],
    ] as const) {
      const user = sender()
      user.give(null, NOW + 1)
      expect(user.give({}, NOW + later).slots).toMatchObject([{ outcome: 'made', carried: used, quota: { used } }])
    }
  })

  test('any number of times counts each unit once', () => {
    const user = sender()
    for (let round = 1; round <= 3; round++) {
      user.give(null, NOW + round * HOUR_MS)
      user.give({}, NOW + round * HOUR_MS + 1)
      user.send(50, NOW + round * HOUR_MS + 2)
    }
    expect(user.current?.used).toBe(850)
  })

  test('counts a deleted quota, too, and one that gave units back meanwhile with what is left', () => {
    const user = sender()
    user.reserve(100)
    user.delete(NOW + 1)
    user.release()
    expect(user.give({}, NOW + HOUR_MS).slots).toMatchObject([{ outcome: 'made', carried: 700 }])
  })

  test('is not open longer than the days of the slot', () => {
    const week = { period: null, lasts_days: 7 }
    for (const [later, used] of [
      [6 * DAY_MS, 700],
      [7 * DAY_MS, 0],
    ] as const) {
      const user = sender(week)
      user.give(null, NOW + 1)
      expect(user.give(week, NOW + later).slots).toMatchObject([{ carried: used }])
    }
  })

  test('by way of another period counts all that was used', () => {
    const user = sender()
    user.give({ period: 'day' }, NOW + DAY_MS)
    user.send(60, NOW + DAY_MS)
    expect(user.give({}, NOW + DAY_MS + HOUR_MS).slots).toMatchObject([{ carried: 760 }])
  })

  test('counts what a quota began with as long as its window is open, which may be longer than that of those before', () => {
    const user = sender({ period: 'day' })
    user.give({}, NOW + HOUR_MS)
    user.send(200, NOW + HOUR_MS)
    for (const round of [1, 2, 3]) {
      user.give(null, NOW + round * DAY_MS)
      const [slot] = user.give({}, NOW + round * DAY_MS + 1).slots
      expect([round, slot?.carried]).toEqual([round, 900])
    }
    expect(user.give({ period: 'day' }, NOW + 4 * DAY_MS).slots).toMatchObject([{ carried: 0 }])
  })
})

test('what was handed on and comes back is less also where it came by way of a quota of another day', () => {
  const user = sender({ period: null })
  user.send(100, NOW + 5 * DAY_MS, true)
  user.give({ anchor: '16' }, NOW + 9 * DAY_MS)
  expect(user.give({}, NOW + 19 * DAY_MS).slots).toMatchObject([{ carried: 100 }])
  user.takeBack(0, 100, NOW + 20 * DAY_MS)
  expect(user.current?.used).toBe(0)
})

test('what was handed on and comes back stays in one that counts only what was sent since', () => {
  const user = sender({ period: 'day' })
  user.send(100, NOW + HOUR_MS, true)
  user.send(50, NOW + 4 * HOUR_MS)
  user.give({ period: null }, NOW + 5 * HOUR_MS)
  const [slot] = user.give({ period: 'day', time_zone: 'Asia/Tokyo' }, NOW + 20 * HOUR_MS).slots
  expect(slot).toMatchObject({ carried: 50 })
  user.takeBack(0, 100, NOW + 21 * HOUR_MS)
  expect(user.current?.used).toBe(50)
})

test('and in one that began with what such a one counted', () => {
  const user = sender()
  user.send(100, NOW + HOUR_MS, true)
  user.send(50, NOW + 16 * DAY_MS)
  user.give({ period: 'week' }, NOW + 16 * DAY_MS + HOUR_MS)
  expect(user.give({ period: null }, NOW + 21 * DAY_MS).slots).toMatchObject([{ carried: 50 }])
  user.takeBack(0, 100, NOW + 21 * DAY_MS)
  expect(user.current?.used).toBe(50)
})

describe('a fresh start', () => {
  test('gives the units again, says how many, and what was before counts no more', () => {
    const user = sender()
    const given = user.give({ anchor: '16' }, NOW + HOUR_MS, { fresh: true })
    expect(given.slots).toMatchObject([{ outcome: 'replaced', carried: 0, again: 700, quota: { used: 0 } }])
    expect(given.changes.some(({ booking }) => booking)).toBe(false)
    user.send(50, NOW + HOUR_MS)
    expect(user.give({ anchor: '17' }, NOW + 2 * HOUR_MS).slots).toMatchObject([{ carried: 50 }])
  })

  test('leaves a quota that stays', () => {
    const user = sender()
    expect(user.give({ limit: 900 }, NOW + HOUR_MS, { fresh: true }).slots).toMatchObject([
      { outcome: 'changed', again: 0, quota: { used: 700 } },
    ])
  })
})

/* ── Against a log of all messages ──────────────────────────────────────────────────────────────────────────────── */

const DAYS: Record<string, number> = { hour: 1 / 24, day: 1, week: 7, month: 30, year: 365, null: 1e9 }

const anyChangeWith = (refunds: number) =>
  fc.record({
    after: fc.constantFrom(0, 1, HOUR_MS, 20 * HOUR_MS, 5 * DAY_MS, 40 * DAY_MS),
    slot: fc.option(
      fc
        .record({
          period: fc.constantFrom(null, 'hour', 'day', 'week', 'month', 'year'),
          time_zone: fc.constantFrom('UTC', 'Asia/Tokyo'),
          day: fc.constantFrom(null, '1', '16', '31'),
          limit: fc.constantFrom(10, 100),
        })
        .map(({ day, ...slot }) => ({ ...slot, anchor: slot.period === 'month' ? day : null })),
      { freq: 4 },
    ),
    fresh: fc.boolean(),
    sends: fc.array(
      fc.record({ after: fc.constantFrom(0, HOUR_MS, 9 * DAY_MS), units: fc.nat(60), isTransfer: fc.boolean() }),
      { maxLength: 3 },
    ),
    returns: fc.array(fc.record({ of: fc.nat(5), units: fc.nat(60) }), { maxLength: 2 }),
    refunds: fc.array(fc.record({ of: fc.nat(5), units: fc.nat(60) }), { maxLength: refunds }),
  })

test.each([
  ['is', 0],
  ['is, without what was refunded, at least', 2],
])(
  'what a quota begins with %s what left of earlier ones, or counted in them, in windows that are open',
  (_, refunded) => {
    const expectUnits = (actual: number, expected: number) =>
      refunded === 0 ? expect(actual).toBe(expected) : expect(actual).toBeGreaterThanOrEqual(expected)
    fc.assert(
      fc.property(fc.array(anyChangeWith(refunded), { maxLength: 7 }), changes => {
        const user = aUser()
        let now = NOW
        /** Quotas that have ended, with the window that was open then, and the entries of the log that counted in it. */
        let over: { until: EpochMs; days: number; counted: Set<Left> }[] = []
        /** What the first window of a quota began with. */
        const begunWith = new Map<number, Set<Left>>()
        for (const { after, slot, fresh, sends, returns, refunds } of changes) {
          now += after
          const before = user.current
          const given = user.give(slot, now, { fresh })
          const [made] = given.slots.filter(({ outcome }) => outcome === 'made' || outcome === 'replaced')
          if (before !== undefined && user.current?.id !== before.id) {
            const { quota } = roll(before, now)
            const days = DAYS[String(quota.period)] ?? 0
            const own = user.log.filter(one => one.quota_id === quota.id && one.window_no === quota.window_no)
            const counted = new Set<Left>([...own, ...(quota.window_no === 0 ? (begunWith.get(quota.id) ?? []) : [])])
            over.push({ until: quota.window_end ?? Infinity, days, counted })
          }
          if (made !== undefined) {
            const calendar = calendarOf(made.quota)
            const begins = calendar === null ? 0 : lastBoundary(calendar, now)
            const isLonger = ({ days }: { days: number }) =>
              calendar !== null && calendar.period !== 'year' && days > (DAYS[calendar.period] ?? 0)
            const open = over.filter(({ until }) => until > now)
            const expected = user.log.filter(entry =>
              open.some(one => one.counted.has(entry) && (!isLonger(one) || entry.at >= begins)),
            )
            const units = expected.reduce((all, entry) => all + entry.units, 0)
            expectUnits(made.carried + made.again, units)
            expect(made.again > 0 && made.carried > 0).toBe(false)
            expect(made.quota.used).toBe(made.carried)
            if (made.again > 0) over = []
            begunWith.set(made.quota.id, new Set(made.again > 0 ? [] : expected))
          }
          for (const { after: wait, units, isTransfer } of sends) {
            now += wait
            user.send(units, now, isTransfer)
          }
          for (const { of, units } of returns) user.takeBack(of, units, now)
          for (const { of, units } of refunds) user.refund(of, units, now)
          const { current } = user
          if (current === undefined) continue
          const { quota } = roll(current, now)
          const own = user.log.filter(one => one.quota_id === quota.id && one.window_no === quota.window_no)
          const began = quota.window_no === 0 ? [...(begunWith.get(quota.id) ?? [])] : []
          expectUnits(
            quota.used,
            [...own, ...began].reduce((all, { units }) => all + units, 0),
          )
        }
      }),
      { numRuns: runs(500) },
    )
  },
)
