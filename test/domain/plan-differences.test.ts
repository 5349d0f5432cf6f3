import { describe, expect, test } from 'vitest'
import { type PlanVersion, slotOf } from '../../src/domain/plans/plan.ts'
import { planDifferences } from '../../src/domain/plans/plan-differences.ts'
import type { QuotaPlan } from '../../src/domain/quotas/quota-plan.ts'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { aQuota, at } from './fixture.ts'

const slots = [slotOf({ slot: 'a', limit: 100, period: 'month' }), slotOf({ slot: 'b', limit: 5, lasts_days: 30 })]
const version: PlanVersion = { id: 3, version: 2, name: 'Basic', slots }
const held = { plan_id: 3, plan_version: 2 }
const of = (more: Partial<QuotaPlan> = {}): QuotaPlan => ({
  id: 3,
  name: 'Basic',
  version: 2,
  slot: 'a',
  kept: [],
  ...more,
})

describe('the quotas of a plan', () => {
  test('that are what it says, but for changes by hand, do not differ', () => {
    const trial = { period: null, limit: 5, expires_at: at('2026-01-01') + 30 * DAY_MS, plan: of({ slot: 'b' }) }
    const quotas = [aQuota({ plan: of({ kept: ['limit'] }), limit: 7, enabled: false }), aQuota({ id: 65, ...trial })]
    expect(planDifferences(held, quotas, version)).toEqual([])
    expect(planDifferences(held, [], version)).toEqual([])
    expect(planDifferences(null, [aQuota()], undefined)).toEqual([])
  })

  test('that have another way to write where windows begin do not differ: the version before had it', () => {
    const quota = aQuota({ plan: of(), anchor: '1', time_zone: 'Etc/UTC' })
    expect(planDifferences(held, [quota], version)).toEqual([])
    const [difference] = planDifferences(held, [{ ...quota, anchor: '2', time_zone: 'Europe/Paris' }], version)
    expect(difference?.message).toContain(': anchor, time_zone is not what')
  })

  test('may begin on any day where that is the one on which the user joined', () => {
    const slots = version.slots.map(slot => ({ ...slot, anchor: 'joined' }))
    expect(planDifferences(held, [aQuota({ plan: of(), anchor: '15' })], { ...version, slots })).toEqual([])
  })

  test.each([
    ['a user without a plan', null, [aQuota({ plan: of() })], 'it is of version 2 of plan 3, and the user has no plan'],
    [
      'an earlier version',
      held,
      [aQuota({ plan: of({ version: 1 }) })],
      'it is of version 1 of plan 3, and the user has version 2 of plan 3',
    ],
    [
      'another plan',
      held,
      [aQuota({ plan: of({ id: 4 }) })],
      'it is of version 2 of plan 4, and the user has version 2 of plan 3',
    ],
    [
      'a slot twice',
      held,
      [aQuota({ id: 1, plan: of() }), aQuota({ plan: of() })],
      'it has the slot "a", as quota 1 has',
    ],
    [
      'an unknown slot',
      held,
      [aQuota({ plan: of({ slot: 'c' }) })],
      'it is of version 2 of plan 3, which has no slot "c"',
    ],
    [
      'other fields',
      held,
      [aQuota({ plan: of({ kept: ['name'] }), name: 'x', limit: 7, priority: 3 })],
      'limit, priority is not what the slot "a" says, and was not changed by hand',
    ],
    [
      'another end',
      held,
      [aQuota({ plan: of(), expires_at: at('2027-01-01') })],
      'expires_at is not what the slot "a" says, and was not changed by hand',
    ],
    [
      'another name',
      held,
      [aQuota({ plan: of({ name: 'Old' }) })],
      'plan.name is not what the slot "a" says, and was not changed by hand',
    ],
  ])('differ by %s', (_what, plan, quotas, message) => {
    expect(planDifferences(plan, quotas, version)).toEqual([{ quota_id: 64, message: `Quota 64: ${message}.` }])
  })
})
