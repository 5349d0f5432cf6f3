import { describe, expect, test } from 'vitest'
import { changeQuota, deleteQuota, type Quota, type QuotaPatch } from '../../src/domain/quotas/quota.ts'
import { aQuota, at, created } from './fixture.ts'

const NOW = at('2026-01-10 12:00')
const change = (quota: Quota, patch: QuotaPatch, now = NOW) => changeQuota(quota, patch, { now, actor: 'bob' })

/** The changed quota; throws if the change is refused or changes nothing. */
function changed(quota: Quota, patch: QuotaPatch, now = NOW): Quota {
  const result = change(quota, patch, now)
  if (result.outcome !== 'changed') throw new Error(JSON.stringify(result))
  return result.quota
}

const full = aQuota({
  name: 'January',
  expires_at: at('2027-01-01'),
  countries: ['AT', 'DE'],
  message_types: ['otp'],
  external_ref: 'order-1',
  metadata: { tier: 'gold', shop: 'a' },
})

describe('a change sets', () => {
  test.each<[QuotaPatch]>([
    [{ name: 'February' }],
    [{ limit: 200 }],
    [{ rollover_limit: 5 }],
    [{ overage_limit: 5 }],
    [{ priority: 0 }],
    [{ expires_at: at('2028-01-01') }],
    [{ countries: ['FR'] }],
    [{ message_types: ['marketing'] }],
    [{ alert_at: [50] }],
    [{ enabled: false }],
    [{ external_ref: 'order-2' }],
    [{ metadata: { tier: 'silver' } }],
    [{ metadata: {} }],
    // Null clears nullable fields.
    [{ name: null }],
    [{ limit: null }],
    [{ expires_at: null }],
    [{ countries: null }],
    [{ message_types: null }],
    [{ external_ref: null }],
    [{ name: 'February', priority: 1, enabled: false }],
  ])('%j, and nothing else but version and author', patch => {
    expect(changed(full, patch)).toEqual({ ...full, ...patch, version: 2, updated_at: NOW, updated_by: 'bob' })
  })

  test('does not keep allow_below_usage', () => {
    expect(changed(full, { limit: 5, allow_below_usage: true })).not.toHaveProperty('allow_below_usage')
  })

  test.each<[string, QuotaPatch]>([
    ['nothing', {}],
    ['fields with their current values', { name: 'January', limit: 100, enabled: true, starts_at: full.starts_at }],
    ['equal lists and maps', { countries: ['AT', 'DE'], alert_at: [80, 100], metadata: { shop: 'a', tier: 'gold' } }],
    ['equal immutable fields', { user_id: 7, kind: 'grant', period: 'month', time_zone: 'UTC' }],
    ['another name of the zone', { time_zone: 'Etc/UTC' }],
    ['only allow_below_usage', { allow_below_usage: true }],
  ])('changes nothing for %s', (_, patch) => {
    expect(change(full, patch)).toEqual({ outcome: 'unchanged' })
  })

  test('changes nothing, not even the window, if all fields are equal in a later month', () => {
    expect(change(full, { limit: 100 }, at('2026-05-01'))).toEqual({ outcome: 'unchanged' })
  })
})

describe('a change is refused', () => {
  test.each<[string, QuotaPatch, string[]]>([
    ['the user', { user_id: 8 }, ['/user_id']],
    ['the kind', { kind: 'cap' }, ['/kind']],
    ['the period', { period: 'day' }, ['/period']],
    ['the period, cleared', { period: null }, ['/period']],
    ['the time zone', { time_zone: 'Europe/Berlin' }, ['/time_zone']],
    ['a start that is reached', { starts_at: at('2026-01-20') }, ['/starts_at']],
    ['all at once', { user_id: 8, kind: 'cap', starts_at: 0, name: 'x' }, ['/user_id', '/kind', '/starts_at']],
  ])('for %s', (_, patch, paths) => {
    const result = change(full, patch)
    expect(result.outcome === 'immutable_field' && result.issues.map(issue => issue.path)).toEqual(paths)
  })

  test.each<[string, Partial<Quota>, QuotaPatch, string[]]>([
    ['a cap loses its limit', { kind: 'cap' }, { limit: null }, ['/limit']],
    ['a cap rolls over', { kind: 'cap' }, { rollover_limit: 1 }, ['/rollover_limit']],
    ['a cap gets overage', { kind: 'cap' }, { overage_limit: 1 }, ['/overage_limit']],
    ['a single window rolls over', { period: null, window_end: null }, { rollover_limit: 1 }, ['/rollover_limit']],
    ['a quota made unlimited rolls over', { rollover_limit: 9 }, { limit: null }, ['/rollover_limit']],
    ['a quota made unlimited has overage', { overage_limit: 9 }, { limit: null }, ['/overage_limit']],
    ['it would end before it starts', {}, { expires_at: at('2025-12-31') }, ['/expires_at']],
    ['it would end when it starts', {}, { expires_at: at('2026-01-01') }, ['/expires_at']],
  ])('when %s', (_, fields, patch, paths) => {
    const result = change(aQuota(fields), patch)
    expect(result.outcome === 'invalid' && result.issues.map(issue => issue.path)).toEqual(paths)
  })

  test('unless the same change corrects the other field', () => {
    expect(
      changed(aQuota({ rollover_limit: 9, overage_limit: 9 }), { limit: null, rollover_limit: 0, overage_limit: 0 })
        .limit,
    ).toBeNull()
  })
})

describe('the start of a scheduled quota', () => {
  const scheduled = created({ period: 'month', starts_at: at('2026-03-05') }, NOW)

  test.each<[string, string, string]>([
    ['2026-02-20', '2026-02-20', '2026-03-01'],
    ['2026-06-01', '2026-06-01', '2026-07-01'],
    ['2026-01-10 12:00', '2026-01-10 12:00', '2026-02-01'],
    // A start in the past opens the window that contains now.
    ['2025-06-15', '2026-01-01', '2026-02-01'],
  ])('moves to %s', (starts, start, end) => {
    const quota = changed(scheduled, { starts_at: at(starts) })
    expect(quota).toMatchObject({ starts_at: at(starts), window_start: at(start), window_end: at(end), window_no: 0 })
  })

  test('can change until it is reached', () => {
    const before = at('2026-03-05') - 1
    expect(changed(scheduled, { starts_at: at('2026-04-01') }, before).starts_at).toBe(at('2026-04-01'))
    expect(change(scheduled, { starts_at: at('2026-04-01') }, before + 1).outcome).toBe('immutable_field')
  })

  test.each([['month'], [null]] as const)('moves with the opening units of its first window (period %s)', period => {
    // The ledger holds them as a draw on window 0: counters without them would differ from it for ever.
    const opened = { ...created({ period, starts_at: at('2026-03-05') }, NOW), used: 30 }
    const quota = changed(opened, { starts_at: at('2026-06-01') })
    expect(quota).toMatchObject({ window_no: 0, window_start: at('2026-06-01'), used: 30 })
    expect(change(opened, { starts_at: at('2026-06-01'), limit: 20 }).outcome).toBe('below_usage')
  })

  test('must stay before the expiry', () => {
    const ending = { ...scheduled, expires_at: at('2026-04-01') }
    expect(change(ending, { starts_at: at('2026-04-01') }).outcome).toBe('invalid')
    expect(changed(ending, { starts_at: at('2026-04-01'), expires_at: at('2026-04-02') }).window_start).toBe(
      at('2026-04-01'),
    )
  })
})

describe('a limit below what is used', () => {
  const drawn = { used: 50, reserved: 30 }
  test.each<[string, Partial<Quota>, QuotaPatch, string]>([
    ['down to what is used and reserved', drawn, { limit: 80 }, 'changed'],
    ['below it', drawn, { limit: 79 }, 'below_usage'],
    ['below it, but for what rolled over', { ...drawn, rolled_over: 1 }, { limit: 79 }, 'changed'],
    ['below it, but for overage', { ...drawn, overage_limit: 1 }, { limit: 79 }, 'changed'],
    ['below it, with as much overage', drawn, { limit: 79, overage_limit: 1 }, 'changed'],
    ['overage below what is drawn', { used: 110, overage_limit: 20 }, { overage_limit: 9 }, 'below_usage'],
    ['overage down to what is drawn', { used: 110, overage_limit: 20 }, { overage_limit: 10 }, 'changed'],
    // A change that adds room is never refused for it.
    ['raised, but not by enough', { used: 150 }, { limit: 149 }, 'changed'],
    ['more overage, but not enough', { used: 150 }, { overage_limit: 9 }, 'changed'],
    [
      'raised by more than the overage shrinks',
      { used: 150, overage_limit: 9 },
      { limit: 110, overage_limit: 0 },
      'changed',
    ],
    [
      'raised by as much as the overage shrinks',
      { used: 150, overage_limit: 9 },
      { limit: 109, overage_limit: 0 },
      'below_usage',
    ],
    [
      'raised by less than the overage shrinks',
      { used: 150, overage_limit: 9 },
      { limit: 105, overage_limit: 0 },
      'below_usage',
    ],
    ['raised by enough', { used: 150 }, { limit: 150 }, 'changed'],
    ['lifted', { used: 150 }, { limit: null }, 'changed'],
    ['set for the first time', { limit: null, used: 150 }, { limit: 149 }, 'below_usage'],
    ['left alone, while something else changes', { used: 150 }, { name: 'x', limit: 100 }, 'changed'],
    ['below it, on purpose', drawn, { limit: 0, allow_below_usage: true }, 'changed'],
    ['of a cap', { ...drawn, kind: 'cap' }, { limit: 79 }, 'below_usage'],
  ])('%s', (_, fields, patch, outcome) => {
    expect(change(aQuota(fields), patch).outcome).toBe(outcome)
  })

  test('takes no units back if it is allowed', () => {
    expect(changed(aQuota(drawn), { limit: 10, allow_below_usage: true })).toMatchObject({ limit: 10, ...drawn })
  })

  test('names the units in use', () => {
    expect(change(aQuota(drawn), { limit: 79 })).toMatchObject({ detail: expect.stringContaining('80 units') })
  })

  test('is compared with the current window, not with the last one drawn in', () => {
    expect(change(aQuota(drawn), { limit: 10 }, at('2026-02-10')).outcome).toBe('changed')
  })
})

describe('a change first rolls', () => {
  test('January closes with January’s limits, and February opens with the new ones', () => {
    const result = change(aQuota({ used: 40, rollover_limit: 50 }), { limit: 10, rollover_limit: 5 }, at('2026-02-10'))
    expect(result).toMatchObject({
      outcome: 'changed',
      quota: { limit: 10, rollover_limit: 5, window_no: 1, window_start: at('2026-02-01'), used: 0, rolled_over: 50 },
      closed: [{ window_no: 0, limit: 100, used: 40, carried: 50 }],
    })
  })

  test('closes nothing within a window', () => {
    expect(change(aQuota({ used: 40 }), { limit: 50 })).toMatchObject({ closed: [], quota: { used: 40, window_no: 0 } })
  })
})

describe('an expiry set', () => {
  const ended = aQuota({ expires_at: at('2026-02-15'), used: 40, rollover_limit: 500 })

  test.each<[string]>([['2026-01-05'], ['2026-01-10 12:00']])('to %s ends the quota in its window', expires => {
    expect(changed(aQuota({ used: 40 }), { expires_at: at(expires) })).toMatchObject({ used: 40, window_no: 0 })
  })

  test('to before the current window keeps that window', () => {
    const quota = changed(aQuota({ used: 40 }), { expires_at: at('2026-01-20') }, at('2026-04-10'))
    expect(quota).toMatchObject({ window_no: 3, window_start: at('2026-04-01'), used: 0 })
  })

  test('to later revives the quota, and the gap counts as idle windows', () => {
    // 60 of January, then 100 each of February, March and April.
    expect(change(ended, { expires_at: null }, at('2026-05-10'))).toMatchObject({
      quota: { window_no: 4, window_start: at('2026-05-01'), used: 0, rolled_over: 360 },
      closed: [
        { window_no: 0, window_start: at('2026-01-01'), used: 40, carried: 60 },
        { window_no: 1, window_start: at('2026-02-01'), used: 0, rolled_over: 60, carried: 160 },
      ],
    })
  })

  test('to later within the last window revives the quota unchanged', () => {
    expect(changed({ ...ended, expires_at: at('2026-01-05') }, { expires_at: null })).toMatchObject({
      used: 40,
      window_no: 0,
    })
  })

  test('to later, but not after now, opens the windows up to it', () => {
    const quota = changed(ended, { expires_at: at('2026-03-15') }, at('2026-05-10'))
    expect(quota).toMatchObject({ window_no: 2, window_start: at('2026-03-01'), rolled_over: 160 })
  })
})

describe('deleteQuota', () => {
  test('marks the quota in the window that contains now, and returns the window it closes', () => {
    const quota = aQuota({ used: 40, reserved: 5, version: 3 })
    const result = deleteQuota(quota, { now: at('2026-02-10'), actor: 'bob' })
    expect(result.closed).toMatchObject([{ window_no: 0, used: 40, reserved: 5 }])
    expect(result.quota).toEqual({
      ...quota,
      window_no: 1,
      window_start: at('2026-02-01'),
      window_end: at('2026-03-01'),
      used: 0,
      reserved: 0,
      version: 4,
      updated_at: at('2026-02-10'),
      updated_by: 'bob',
      deleted_at: at('2026-02-10'),
    })
  })

  test('closes nothing within a window', () => {
    const { quota, closed } = deleteQuota(aQuota({ used: 40 }), { now: NOW, actor: 'bob' })
    expect(closed).toEqual([])
    expect(quota).toMatchObject({ used: 40, window_no: 0, deleted_at: NOW })
  })
})

test('another name of the time zone changes nothing, and another zone is refused', () => {
  const before = aQuota({ time_zone: 'Europe/Kiev' })
  const renamed = changeQuota(
    before,
    { limit: 7, time_zone: 'Europe/Kyiv' },
    { now: before.window_start, actor: 'ada' },
  )
  expect(renamed).toMatchObject({ outcome: 'changed', quota: { limit: 7, time_zone: 'Europe/Kiev' } })
  for (const time_zone of ['Europe/Bucharest', 'Etc/GMT-2'])
    expect(changeQuota(before, { time_zone }, { now: before.window_start, actor: 'ada' }).outcome).toBe(
      'immutable_field',
    )
})
