import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Giving, givePlan, type Manner } from '../../src/domain/plans/give-plan.ts'
import { type PlanVersion, plannedFieldsOf, type SlotDraft, slotIssues, slotOf } from '../../src/domain/plans/plan.ts'
import type { Sent } from '../../src/domain/plans/used-before.ts'
import { changeQuota, deleteQuota, type Quota, type QuotaPatch, statusOf } from '../../src/domain/quotas/quota.ts'
import { DAY_MS, HOUR_MS } from '../../src/domain/time/time.ts'
import { runs } from '../support/runs.ts'
import { at } from './fixture.ts'

const NOW = at('2026-03-15 12:00:00')
const plan = (version: number, slots: SlotDraft[], id = 1): PlanVersion => ({
  id,
  version,
  name: `Plan ${id}`,
  slots: slots.map(slotOf),
})
const MONTHLY: SlotDraft = { slot: 'monthly', limit: 1000, period: 'month' }
const DAILY: SlotDraft = { slot: 'daily', kind: 'cap', limit: 200, period: 'day' }
const TRIAL: SlotDraft = { slot: 'trial', limit: 100, lasts_days: 30 }

/** A user's quotas while plans are given. */
function user() {
  let quotas: Quota[] = []
  let lastId = 0
  const put = (quota: Quota) => {
    quotas = [...quotas.filter(({ id }) => id !== quota.id), quota]
  }
  return {
    get quotas() {
      return quotas
    },
    give(version: PlanVersion | null, now = NOW, manner: Manner = {}, sent: readonly Sent[] = []): Giving {
      const planned = quotas.filter(quota => quota.plan !== null && quota.deleted_at === null)
      const earlier = quotas.filter(quota => !planned.includes(quota)).sort((one, other) => one.id - other.id)
      const context = { now, actor: 'ada', userId: 7, nextId: () => ++lastId, earlier, sentSince: () => sent }
      const given = givePlan(planned, version, manner, context)
      if (given.outcome !== 'given') throw new Error(given.outcome)
      for (const { change } of given.changes) put(change.after)
      return given
    },
    slot(name: string): Quota {
      const quota = quotas.find(({ plan: of, deleted_at }) => of?.slot === name && deleted_at === null)
      if (quota === undefined) throw new Error(`no quota has the slot ${name}`)
      return quota
    },
    /** What an administrator does. */
    change(name: string, patch: QuotaPatch, now = NOW) {
      const changed = changeQuota(this.slot(name), patch, { now, actor: 'bob' })
      if (changed.outcome !== 'changed') throw new Error(JSON.stringify(changed))
      put(changed.quota)
    },
    use(name: string, used: number) {
      put({ ...this.slot(name), used })
    },
    delete(name: string) {
      put(deleteQuota(this.slot(name), { now: NOW, actor: 'bob' }).quota)
    },
  }
}

const outcomesOf = ({ slots }: Giving) => Object.fromEntries(slots.map(({ slot, outcome }) => [slot, outcome]))

describe('a plan that is given', () => {
  test('makes the quotas that the user lacks', () => {
    const ann = user()
    const given = ann.give(plan(1, [MONTHLY, DAILY, TRIAL]))
    expect(outcomesOf(given)).toEqual({ monthly: 'made', daily: 'made', trial: 'made' })
    expect(given.ended).toEqual([])
    expect(ann.slot('monthly')).toMatchObject({
      user_id: 7,
      limit: 1000,
      period: 'month',
      expires_at: null,
      starts_at: NOW,
      plan: { id: 1, name: 'Plan 1', version: 1, slot: 'monthly', kept: [] },
    })
    expect(ann.slot('trial').expires_at).toBe(NOW + 30 * DAY_MS)
  })

  test('again changes nothing, also when a slot of it has expired', () => {
    const ann = user()
    const basic = plan(1, [MONTHLY, TRIAL])
    ann.give(basic)
    for (const now of [NOW, NOW + HOUR_MS, NOW + 40 * DAY_MS]) {
      const again = ann.give(basic, now)
      expect(again.changes).toEqual([])
      expect(outcomesOf(again)).toEqual({ monthly: 'stays', trial: 'stays' })
    }
  })

  test.each<[string, SlotDraft, SlotDraft, 'changed' | 'stays', object]>([
    // What, slot of v1, slot of v2, what becomes of it, and what a quota is then that has used 700.
    ['a higher limit', MONTHLY, { ...MONTHLY, limit: 2000 }, 'changed', { limit: 2000, used: 700 }],
    ['a limit below what is used', MONTHLY, { ...MONTHLY, limit: 500 }, 'changed', { limit: 500, used: 700 }],
    ['no limit', MONTHLY, { ...MONTHLY, limit: null }, 'changed', { limit: null, used: 700 }],
    [
      'other lists',
      MONTHLY,
      { ...MONTHLY, countries: ['DE'], metadata: { a: 'b' } },
      'changed',
      { countries: ['DE'], metadata: { a: 'b' } },
    ],
    [
      'the same zone by another name',
      { ...MONTHLY, time_zone: 'Asia/Calcutta' },
      { ...MONTHLY, time_zone: 'Asia/Kolkata' },
      'stays',
      { used: 700 },
    ],
    ['a longer time', TRIAL, { ...TRIAL, lasts_days: 60 }, 'changed', { expires_at: NOW + 60 * DAY_MS, used: 700 }],
    ['no end', TRIAL, { ...TRIAL, lasts_days: null }, 'changed', { expires_at: null, used: 700 }],
  ])('with %s keeps the quota in place', (_what, first, second, outcome, expected) => {
    const ann = user()
    ann.give(plan(1, [first]))
    ann.use(first.slot, 700)
    const { id } = ann.slot(first.slot)
    const given = ann.give(plan(2, [second]), NOW + HOUR_MS)
    expect(outcomesOf(given)).toEqual({ [first.slot]: outcome })
    expect(ann.slot(first.slot)).toMatchObject({ id, plan: { version: 2 }, ...expected })
  })

  test.each<[string, Partial<SlotDraft>, number]>([
    ['kind', { kind: 'cap' }, 0],
    ['period', { period: 'year' }, 700],
    ['anchor', { anchor: '15' }, 700],
    ['time_zone', { time_zone: 'Europe/Berlin' }, 700],
  ])('with another %s ends the quota and makes one', (_field, other, used) => {
    const ann = user()
    ann.give(plan(1, [MONTHLY, DAILY]))
    ann.use('monthly', 700)
    const before = ann.slot('monthly')
    const now = NOW + HOUR_MS
    const given = ann.give(plan(2, [{ ...MONTHLY, ...other }, DAILY]), now)
    expect(outcomesOf(given)).toEqual({ monthly: 'replaced', daily: 'stays' })
    const [ended] = given.ended
    // No sender whose clock lags may draw on both.
    expect(ended).toMatchObject({ id: before.id, expires_at: now, enabled: false, plan: null, used: 700 })
    expect(ann.slot('monthly')).toMatchObject({ used, ...other })
    // The end makes room before the new quota is added.
    expect(given.changes[0]?.change.after.id).toBe(before.id)
  })

  test('ends what it does not have any more, and what is gone is made again if it comes back', () => {
    const ann = user()
    ann.give(plan(1, [MONTHLY, DAILY]))
    const given = ann.give(plan(2, [MONTHLY]), NOW + HOUR_MS)
    expect(given.ended).toMatchObject([{ kind: 'cap', expires_at: NOW + HOUR_MS, plan: null }])
    expect(outcomesOf(ann.give(plan(3, [MONTHLY, DAILY]), NOW + 2 * HOUR_MS))).toEqual({
      monthly: 'stays',
      daily: 'made',
    })
  })

  test('makes anew what an administrator has deleted', () => {
    const ann = user()
    ann.give(plan(1, [MONTHLY]))
    ann.delete('monthly')
    expect(outcomesOf(ann.give(plan(1, [MONTHLY])))).toEqual({ monthly: 'made' })
  })

  test('of another id takes over the slots of the same name', () => {
    const ann = user()
    ann.give(plan(1, [MONTHLY, DAILY]))
    ann.use('monthly', 700)
    const given = ann.give(plan(1, [{ ...MONTHLY, limit: 5000 }, TRIAL], 2))
    expect(outcomesOf(given)).toEqual({ monthly: 'changed', trial: 'made' })
    expect(ann.slot('monthly')).toMatchObject({ limit: 5000, used: 700, plan: { id: 2, version: 1 } })
    expect(given.ended).toHaveLength(1)
  })

  test('and is taken away at once ends after a millisecond: a quota ends after its start', () => {
    const ann = user()
    ann.give(plan(1, [MONTHLY]))
    const { ended } = ann.give(null)
    expect(ended).toMatchObject([{ expires_at: NOW + 1, enabled: false, plan: null }])
  })

  test('by a clock that was ahead and is taken away later pays for nothing until its end', () => {
    const ann = user()
    ann.give(plan(1, [MONTHLY]), NOW + DAY_MS)
    const [ended] = ann.give(null, NOW).ended
    expect(ended).toMatchObject({ expires_at: NOW + DAY_MS + 1, enabled: false })
  })

  test('and is taken away leaves the end of what has expired', () => {
    const ann = user()
    ann.give(plan(1, [TRIAL]))
    const { ended } = ann.give(null, NOW + 40 * DAY_MS)
    expect(ended).toMatchObject([{ expires_at: NOW + 30 * DAY_MS, plan: null }])
    expect(ann.give(null, NOW + 41 * DAY_MS).changes).toEqual([])
  })
})

describe('a field that was changed by hand', () => {
  test('stays through versions, and is reported each time; a reset gives it up', () => {
    const ann = user()
    ann.give(plan(1, [MONTHLY]))
    ann.change('monthly', { limit: 1500, priority: 5 })
    for (const version of [2, 3]) {
      const { slots } = ann.give(plan(version, [{ ...MONTHLY, limit: 1000 * version, name: `v${version}` }]))
      expect(slots).toMatchObject([{ outcome: 'changed', kept: ['limit', 'priority'] }])
      expect(ann.slot('monthly')).toMatchObject({ limit: 1500, priority: 5, name: `v${version}`, plan: { version } })
    }
    const { slots } = ann.give(plan(3, [{ ...MONTHLY, limit: 3000, name: 'v3' }]), NOW, { reset: true })
    expect(slots).toMatchObject([{ outcome: 'changed', kept: [] }])
    expect(ann.slot('monthly')).toMatchObject({ limit: 3000, priority: 100, plan: { kept: [] } })
  })

  test('stays although it was set back to what the plan said', () => {
    const ann = user()
    ann.give(plan(1, [MONTHLY]))
    ann.change('monthly', { limit: 1500 })
    ann.change('monthly', { limit: 1000 })
    ann.give(plan(2, [{ ...MONTHLY, limit: 2000 }]))
    expect(ann.slot('monthly').limit).toBe(1000)
  })

  test('may be the expiry', () => {
    const ann = user()
    ann.give(plan(1, [TRIAL]))
    ann.change('trial', { expires_at: NOW + 90 * DAY_MS })
    expect(ann.give(plan(2, [{ ...TRIAL, lasts_days: 10 }])).slots).toMatchObject([{ kept: ['expires_at'] }])
    expect(ann.slot('trial').expires_at).toBe(NOW + 90 * DAY_MS)
  })

  test('is none if a plan does not say it: a suspension stays, and is not reported', () => {
    const ann = user()
    ann.give(plan(1, [MONTHLY]))
    ann.change('monthly', { enabled: false, external_ref: 'K-1' })
    expect(ann.give(plan(2, [{ ...MONTHLY, limit: 5 }])).slots).toMatchObject([{ kept: [] }])
    expect(ann.slot('monthly')).toMatchObject({ enabled: false, external_ref: 'K-1', limit: 5 })
  })

  test('is given up where the new version contradicts it', () => {
    const ann = user()
    ann.give(plan(1, [MONTHLY]))
    ann.change('monthly', { rollover_limit: 50 })
    expect(ann.give(plan(2, [{ ...MONTHLY, limit: null }])).slots).toMatchObject([{ outcome: 'changed', kept: [] }])
    expect(ann.slot('monthly')).toMatchObject({ limit: null, rollover_limit: 0 })
  })
})

describe('the anchor "joined"', () => {
  const JOINED: SlotDraft = { ...MONTHLY, anchor: 'joined' }
  /** The anchor of the user's quota, and what has become of it. */
  const anchorAfter = (user_: ReturnType<typeof user>, version: PlanVersion, now: number) => {
    const [slot] = user_.give(version, now).slots
    return [slot?.quota.anchor, slot?.outcome]
  }

  test.each<[string, Partial<SlotDraft>, string, string, string]>([
    // The time at which the user gets it, the anchor, and the end of the window of the day after.
    ['a day of the month', {}, '2026-03-15 12:00:00', '15', '2026-04-15'],
    ['the last day of a month', {}, '2026-01-31 12:00:00', '31', '2026-02-28'],
    ['the day in the time zone', { time_zone: 'Asia/Tokyo' }, '2026-03-15 20:00:00', '16', '2026-04-15 15:00:00'],
    ['a date of the year', { period: 'year' }, '2026-03-05 12:00:00', '03-05', '2027-03-05'],
    ['a leap day', { period: 'year' }, '2028-02-29 12:00:00', '02-29', '2029-02-28'],
  ])('is %s', (_what, fields, time, anchor, end) => {
    const ann = user()
    expect(anchorAfter(ann, plan(1, [{ ...JOINED, ...fields }]), at(time))).toEqual([anchor, 'made'])
    expect(ann.slot('monthly').window_end).toBe(at(end))
    expect(anchorAfter(ann, plan(1, [{ ...JOINED, ...fields }]), at(time) + DAY_MS)).toEqual([anchor, 'stays'])
  })

  test('stays through later versions, other plans and other time zones', () => {
    const ann = user()
    ann.give(plan(1, [JOINED]))
    expect(anchorAfter(ann, plan(2, [{ ...JOINED, limit: 5 }]), NOW + 5 * DAY_MS)).toEqual(['15', 'changed'])
    expect(anchorAfter(ann, plan(1, [JOINED], 2), NOW + 6 * DAY_MS)).toEqual(['15', 'changed'])
    const tokyo = plan(2, [{ ...JOINED, time_zone: 'Asia/Tokyo' }], 2)
    expect(anchorAfter(ann, tokyo, NOW + 7 * DAY_MS)).toEqual(['15', 'replaced'])
  })

  test('is the day that a quota has already, and else that on which the user got the plan, in any version', () => {
    const [ann, ben] = [user(), user()]
    ann.give(plan(1, [{ ...MONTHLY, anchor: '7' }]))
    expect(anchorAfter(ann, plan(2, [JOINED]), NOW + 5 * DAY_MS)).toEqual(['7', 'stays'])
    ben.give(plan(1, [MONTHLY]))
    // A slot that comes later begins later, and the user had the plan before.
    ben.give(plan(2, [{ ...MONTHLY, time_zone: 'Asia/Tokyo' }]), NOW + 5 * DAY_MS)
    expect(anchorAfter(ben, plan(3, [JOINED]), NOW + 6 * DAY_MS)).toEqual(['15', 'replaced'])
  })

  test('is a new day in another plan whose quotas had none, and once the plan was taken away', () => {
    const ann = user()
    ann.give(plan(1, [MONTHLY]))
    ann.give(plan(1, [MONTHLY], 2), NOW + 2 * DAY_MS)
    expect(anchorAfter(ann, plan(2, [JOINED], 2), NOW + 3 * DAY_MS)).toEqual(['17', 'replaced'])
    ann.give(null, NOW + 4 * DAY_MS)
    expect(anchorAfter(ann, plan(2, [JOINED], 2), NOW + 5 * DAY_MS)).toEqual(['20', 'made'])
  })

  test('is for months and years', () => {
    const wrong = { message: 'must be null unless the period is month or year' }
    for (const period of [null, 'day', 'week'] as const)
      expect(slotIssues([slotOf({ ...JOINED, period })])).toMatchObject([{ path: '/slots/0/anchor', ...wrong }])
    expect(slotIssues([slotOf(JOINED), slotOf({ ...JOINED, slot: 'b', period: 'year' })])).toEqual([])
  })
})

/* ── For any plans ──────────────────────────────────────────────────────────────────────────────────────────────── */

const anySlot: fc.Arbitrary<SlotDraft> = fc
  .record({
    slot: fc.constantFrom('a', 'b', 'c'),
    kind: fc.constantFrom('grant', 'cap'),
    limit: fc.nat(5),
    period: fc.constantFrom(null, 'day', 'month'),
    time_zone: fc.constantFrom('UTC', 'Europe/Berlin'),
    overage_limit: fc.nat(2),
    priority: fc.nat(2),
    countries: fc.constantFrom(null, ['DE']),
    lasts_days: fc.constantFrom(null, 1, 30),
  })
  .map(slot => (slot.kind === 'cap' ? { ...slot, overage_limit: 0 } : slot))
const anySlots = fc.uniqueArray(anySlot, { minLength: 1, maxLength: 3, selector: ({ slot }) => slot })
const anyPlan = fc.record({ id: fc.integer({ min: 1, max: 2 }), slots: anySlots })
const anyStep = fc.record({
  given: fc.option(anyPlan, { freq: 4 }),
  after: fc.constantFrom(0, 1, HOUR_MS, 2 * DAY_MS, 40 * DAY_MS),
  used: fc.nat(4),
  /** An administrator's change before it, of the first slot. */
  hand: fc.option(fc.record({ limit: fc.nat(5) })),
})

const marksOf = ({ plan }: Quota) => {
  const { id, version, slot, kept } = plan ?? {}
  return { id, version, slot, kept }
}

/** What a plan says of a user's quotas: without ids, counters, versions, and the time at which it was given. */
const said = (quotas: readonly Quota[]) =>
  quotas
    .filter(quota => quota.plan !== null)
    .map(quota => ({
      ...plannedFieldsOf({ ...quota, slot: '', lasts_days: null }),
      lasts: quota.expires_at === null ? null : quota.expires_at - quota.starts_at,
      plan: marksOf(quota),
    }))
    .sort((one, other) => ((one.plan?.slot ?? '') < (other.plan?.slot ?? '') ? -1 : 1))

test('after any history of plans, a plan gives what it gives to a user without one, and again nothing', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 5 }), anyPlan, fc.boolean(), (history, last, reset) => {
      const ann = user()
      let now = NOW
      let version = 0
      let changedByHand = false
      for (const { given, after, used, hand } of history) {
        now += after
        const planned = ann.quotas.find(quota => quota.plan !== null)
        if (hand !== null && planned?.plan) {
          const changed = changeQuota(planned, { ...hand, allow_below_usage: true }, { now, actor: 'bob' })
          if (changed.outcome === 'changed') {
            ann.change(planned.plan.slot, { ...hand, allow_below_usage: true }, now)
            changedByHand = true
          }
        }
        ann.give(given && plan(++version, given.slots, given.id), now)
        for (const quota of ann.quotas) if (quota.plan !== null) ann.use(quota.plan.slot, used)
      }
      const target = plan(++version, last.slots, last.id)
      const ben = user()
      ben.give(target, now)
      const before = ann.quotas
      const given = ann.give(target, now, { reset })
      // Each slot once, nothing else of the plan, and what ended is over and the user's own.
      expect(ann.quotas.filter(quota => quota.plan !== null)).toHaveLength(last.slots.length)
      for (const quota of given.ended) expect([quota.plan, statusOf(quota, now + 1)]).toEqual([null, 'expired'])
      if (reset || !changedByHand) expect(said(ann.quotas)).toEqual(said(ben.quotas))
      for (const { quota, kept } of given.slots) {
        const theirs = ben.quotas.find(one => one.plan?.slot === quota.plan?.slot)
        expect(quota).toMatchObject(kept.includes('limit') ? {} : { limit: theirs?.limit })
        expect(kept).toEqual(quota.plan?.kept)
      }
      // Quotas that were not of a plan stay as they are.
      const own = (quotas: readonly Quota[]) =>
        quotas.filter(quota => before.some(({ id, plan: of }) => id === quota.id && of === null))
      expect(own(ann.quotas)).toEqual(own(before))
      expect(ann.give(target, now, { reset }).changes).toEqual([])
      const { changes } = ann.give(null, now)
      expect(changes).toHaveLength(last.slots.length)
      expect(ann.quotas.filter(quota => quota.plan !== null)).toEqual([])
      expect(ann.give(null, now).changes).toEqual([])
    }),
    { numRuns: runs(300) },
  )
})
