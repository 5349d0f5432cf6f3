import { describe, expect, test } from 'vitest'
import { eventsOfChange } from '../../src/domain/events/outbox-event.ts'
import { alertedBy, EXHAUSTED, newAlerts, usedShareOf } from '../../src/domain/quotas/alerts.ts'
import { changeQuota, type Quota, type QuotaPatch, roll } from '../../src/domain/quotas/quota.ts'
import { aQuota, at, created } from './fixture.ts'

const NOW = at('2026-01-10 12:00')
/** The expiry notifier has emitted nothing. */
const NONE = { at: Number.NEGATIVE_INFINITY, id: 0 }

describe('a change that adds units', () => {
  const raised = (fields: Partial<Quota>, patch: QuotaPatch) => {
    const result = changeQuota(aQuota(fields), patch, { now: NOW, actor: 'ada' })
    if (result.outcome !== 'changed') throw new Error(JSON.stringify(result))
    return result.quota
  }

  test.each<[string, Partial<Quota>, QuotaPatch, number[]]>([
    ['forgets what is above the new share', { used: 100, alerted: [80, 100, EXHAUSTED] }, { limit: 130 }, [EXHAUSTED]],
    ['keeps what is not', { used: 100, alerted: [80, 100] }, { limit: 125 }, [80]],
    [
      '… also if it is no unit too few',
      { limit: 3, used: 2, alert_at: [50, 66], alerted: [50, 66] },
      { limit: 4 },
      [50],
    ],
    ['counts what rolled over', { used: 104, rolled_over: 30, alerted: [80] }, { limit: 101 }, []],
    ['… and keeps', { used: 130, rolled_over: 30, alerted: [80, 100] }, { limit: 130 }, [80]],
    [
      'forgets percents that alert_at no longer has',
      { used: 60, alerted: [50, 80] },
      { limit: 130, alert_at: [80] },
      [],
    ],
    ['to no limit forgets all', { used: 100, alerted: [80, 100] }, { limit: null }, []],
    [
      'of overage forgets none',
      { used: 100, alerted: [80, 100, EXHAUSTED] },
      { overage_limit: 9 },
      [80, 100, EXHAUSTED],
    ],
    ['and lowers nothing else', { used: 90, alerted: [80] }, { limit: 100, name: 'Other' }, [80]],
    ['not, but takes some, keeps all', { used: 50, alerted: [50, 80], alert_at: [50, 80] }, { limit: 90 }, [50, 80]],
  ])('%s', (_what, fields, patch, alerted) => {
    expect(raised(fields, patch).alerted).toEqual(alerted)
  })

  test('each percent is emitted again by the use that reaches it again, and not by one before that', () => {
    let quota = aQuota({ period: null, window_end: null, used: 100, alerted: [80, 100, EXHAUSTED] })
    const emitted = []
    for (const [used, limit] of [
      [100, 200],
      [159, 200],
      [160, 200],
      [150, 200],
      [170, 200],
      [200, 200],
      [200, 300],
      [240, 300],
    ] as const) {
      const before = quota.limit === limit ? quota : raised(quota, { limit })
      quota = { ...before, used, alerted: alertedBy({ ...before, used }) }
      emitted.push(newAlerts(before, quota).filter(mark => mark !== EXHAUSTED))
    }
    expect(emitted).toEqual([[], [], [80], [], [], [100], [], [80]])
  })
})

describe('alertedBy', () => {
  test.each<[string, Partial<Quota>, number[]]>([
    ['none below the first', { used: 79 }, []],
    ['a percentage at its unit', { used: 80 }, [80]],
    ['several at once', { used: 100, overage_limit: 1 }, [80, 100]],
    ['past the limit', { used: 129, overage_limit: 30 }, [80, 100]],
    ['not for reserved units', { used: 79, reserved: 20 }, []],
    ['that nothing is left, reserved units included', { used: 79, reserved: 21 }, [EXHAUSTED]],
    ['… overage included', { used: 130, overage_limit: 30 }, [80, 100, EXHAUSTED]],
    ['… and not while a unit is left', { used: 79, reserved: 20 }, []],
    ['… once', { used: 79, reserved: 21, alerted: [EXHAUSTED] }, [EXHAUSTED]],
    ['… of a lowered limit of 0 already while carried units are left', { limit: 0, rolled_over: 5 }, [EXHAUSTED]],
    ['of limit + rolled_over', { used: 100, rolled_over: 30 }, []],
    ['of limit + rolled_over, reached', { used: 104, rolled_over: 30 }, [80]],
    ['no unit too early if a percentage is a fraction of a unit', { limit: 3, used: 2 }, []],
    ['… and no unit too late', { limit: 3, used: 2, alert_at: [66] }, [66]],
    ['the largest limits exactly', { limit: 10 ** 12, rolled_over: 10 ** 12, used: 1.6 * 10 ** 12 - 1 }, []],
    ['… at their unit', { limit: 10 ** 12, rolled_over: 10 ** 12, used: 1.6 * 10 ** 12 }, [80]],
    ['none of an unlimited quota', { limit: null, used: 10 ** 12 }, []],
    ['no percentage of a limit of 0', { limit: 0 }, [EXHAUSTED]],
    ['all of a limit of 0 once a unit is used', { limit: 0, used: 1 }, [80, 100, EXHAUSTED]],
    ['none of a deleted quota', { used: 100, deleted_at: NOW }, []],
    ['none without alert_at', { used: 99, alert_at: [] }, []],
    ['caps like grants', { kind: 'cap', used: 80 }, [80]],
    ['emitted ones stay when units are refunded', { used: 0, alerted: [80] }, [80]],
    ['emitted ones that alert_at no longer has', { used: 100, alerted: [50], alert_at: [100] }, [50, 100, EXHAUSTED]],
    ['a lower one that was added later', { used: 85, alerted: [80], alert_at: [50, 80, 100] }, [50, 80]],
  ])('%s: %j', (_, fields, alerted) => {
    expect(alertedBy(aQuota(fields))).toEqual(alerted)
  })

  test('returns the same list if there is nothing new', () => {
    const quota = aQuota({ used: 85, alerted: [80] })
    expect(alertedBy(quota)).toBe(quota.alerted)
  })
})

test.each<[Partial<Quota>, number]>([
  [{ used: 0 }, 0],
  [{ used: 50 }, 500_000],
  [{ used: 50, rolled_over: 100 }, 250_000],
  [{ used: 150 }, 1_500_000],
  [{ limit: null, used: 50 }, 0],
  [{ limit: 0 }, 0],
  [{ limit: 0, used: 1 }, Number.MAX_SAFE_INTEGER],
])('the used share of %j is %d millionths', (fields, share) => {
  expect(usedShareOf(aQuota(fields))).toBe(share)
})

test('a new window begins without emitted percentages', () => {
  const { quota } = roll(aQuota({ used: 100, alerted: [80, 100] }), at('2026-02-01'))
  expect(quota.alerted).toEqual([])
  expect(newAlerts(aQuota({ alerted: [80] }), { ...quota, alerted: [80] })).toEqual([80])
})

describe('an update', () => {
  const changed = (fields: Partial<Quota>, patch: QuotaPatch, position = NONE): string[] => {
    const before = aQuota(fields)
    const change = changeQuota(before, patch, { now: NOW, actor: 'ada' })
    if (change.outcome !== 'changed') throw new Error(change.outcome)
    return eventsOfChange({ action: 'updated', before, after: change.quota }, NOW, position, []).map(
      ({ type, data }) => ('percent' in data ? `${type} ${data.percent}` : type),
    )
  }
  const UPDATED = 'quota.updated'
  const EXPIRED = 'quota.expired'
  const past = at('2026-01-05')
  const threshold = (percent: number) => `quota.threshold_reached ${percent}`
  test.each<[string, Partial<Quota>, QuotaPatch, string[]]>([
    ['of the name', { used: 50 }, { name: 'x' }, [UPDATED]],
    ['that lowers the limit below one percentage', { used: 50 }, { limit: 60 }, [UPDATED, threshold(80)]],
    ['… below both', { used: 50 }, { limit: 50 }, [UPDATED, threshold(80), threshold(100)]],
    ['… below an emitted one', { used: 50, alerted: [80] }, { limit: 60 }, [UPDATED]],
    ['… to 0', { used: 5 }, { limit: 0, allow_below_usage: true }, [UPDATED, threshold(80), threshold(100)]],
    ['that raises it', { used: 85, alerted: [80] }, { limit: 1_000 }, [UPDATED]],
    ['that makes it limited', { limit: null, used: 85 }, { limit: 100 }, [UPDATED, threshold(80)]],
    ['of alert_at', { used: 50 }, { alert_at: [40, 80] }, [UPDATED, threshold(40)]],
    ['that ends the quota', {}, { expires_at: NOW }, [UPDATED, EXPIRED]],
    ['… in the past', {}, { expires_at: past }, [UPDATED, EXPIRED]],
    ['of a quota whose expiry was emitted', { expires_at: past, expiry_emitted: true }, { name: 'x' }, [UPDATED]],
    ['of a quota whose expiry was not emitted yet', { expires_at: past }, { name: 'x' }, [EXPIRED, UPDATED]],
    ['that revives a quota', { expires_at: past, expiry_emitted: true }, { expires_at: null }, [UPDATED]],
    [
      'that revives a quota before its expiry was emitted',
      { expires_at: past },
      { expires_at: null },
      [EXPIRED, UPDATED],
    ],
    ['that moves an expiry of the past', { expires_at: past, expiry_emitted: true }, { expires_at: NOW }, [UPDATED]],
  ])('%s: %j %j', (_, fields, patch, events) => {
    expect(changed(fields, patch)).toEqual(events)
  })

  test('that revives a quota lets its expiry be emitted again', () => {
    const before = aQuota({ expires_at: past, expiry_emitted: true })
    const change = changeQuota(before, { expires_at: NOW + 1 }, { now: NOW, actor: 'ada' })
    expect(change).toMatchObject({ quota: { expiry_emitted: false } })
  })

  test.each<[string, number, number, string[]]>([
    ['before the end', past - 1, 1, [EXPIRED, UPDATED]],
    ['at the same time, before the id', past, 0, [EXPIRED, UPDATED]],
    ['at the end', past, 1, [UPDATED]],
    ['after the end', past + 1, 0, [UPDATED]],
  ])('of a quota that expired, with the notifier %s', (_, position, id, events) => {
    const reached = { at: position, id }
    expect(changed({ id: 1, expires_at: past }, { name: 'x' }, reached)).toEqual(events)
    expect(changed({ id: 1, expires_at: past }, { expires_at: null }, reached)).toEqual(events)
  })

  test('by a process whose clock is behind the notifier’s: each expiry is emitted once', () => {
    const ahead = { at: NOW + 500, id: 1 }
    expect(changed({ id: 1, expires_at: NOW + 400 }, { expires_at: null }, ahead)).toEqual([UPDATED])
    expect(changed({ id: 1 }, { expires_at: NOW + 400 }, ahead)).toEqual([UPDATED, EXPIRED])
    const before = aQuota({ id: 1 })
    const after = { ...before, expires_at: NOW + 400 }
    expect(eventsOfChange({ action: 'updated', before, after }, NOW, ahead, [])).toMatchObject([
      { data: { quota: { status: 'active' } } },
      { data: { quota: { status: 'expired' } } },
    ])
  })

  test('that deletes a quota emits nothing else but an expiry that was not emitted', () => {
    const types = (fields: Partial<Quota>, position = NONE) => {
      const before = aQuota({ id: 1, used: 100, ...fields })
      const change = { action: 'deleted', before, after: { ...before, deleted_at: NOW } } as const
      return eventsOfChange(change, NOW, position, []).map(({ type }) => type)
    }
    expect(types({})).toEqual(['quota.deleted'])
    expect(types({ expires_at: NOW + 1 })).toEqual(['quota.deleted'])
    expect(types({ expires_at: past, expiry_emitted: true })).toEqual(['quota.deleted'])
    expect(types({ expires_at: past }, { at: past, id: 1 })).toEqual(['quota.deleted'])
    expect(types({ expires_at: past })).toEqual(['quota.expired', 'quota.deleted'])
  })
})

test('a quota that is created used or expired emits this after its creation', () => {
  const types = (quota: Quota) =>
    eventsOfChange({ action: 'created', before: null, after: quota }, NOW, NONE, []).map(({ type }) => type)
  expect(types(created({ opening_used: 85 }, NOW))).toEqual(['quota.created', 'quota.threshold_reached'])
  const over = created({ starts_at: at('2026-01-01'), expires_at: NOW }, NOW)
  expect([over.expiry_emitted, types(over)]).toEqual([true, ['quota.created', 'quota.expired']])
})
