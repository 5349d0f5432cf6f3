import fc from 'fast-check'
import { Temporal } from 'temporal-polyfill'
import { describe, expect, test } from 'vitest'
import { applyBulkChange } from '../../src/domain/quotas/bulk-change.ts'
import { changeQuota, type Quota, type QuotaChange } from '../../src/domain/quotas/quota.ts'
import { runs } from '../support/runs.ts'
import { at, created } from './fixture.ts'

const NOW = at('2026-01-01')
const CONTEXT = { now: NOW, actor: 'ada' }

const ends = (expires_at: number, time_zone = 'UTC'): Quota =>
  created({ expires_at, time_zone, starts_at: Math.min(NOW, expires_at - 1) }, Math.min(NOW, expires_at - 1))

function quotaOf(change: QuotaChange): Quota {
  if (change.outcome === 'changed') return change.quota
  throw new Error(`not changed: ${change.outcome}`)
}
const extended = (quota: Quota, by: string) => quotaOf(applyBulkChange(quota, { action: 'extend', by }, CONTEXT))
const movedTo = (quota: Quota, expires_at: number | null) => quotaOf(changeQuota(quota, { expires_at }, CONTEXT))
const endOf = ({ expires_at, time_zone }: Quota) =>
  expires_at === null
    ? null
    : Temporal.Instant.fromEpochMilliseconds(expires_at).toZonedDateTimeISO(time_zone).toPlainDateTime().toString()

/** The ends after each of several extensions. */
function endsAfter(first: string, durations: readonly string[], timeZone = 'UTC'): (string | null)[] {
  let quota = ends(Temporal.PlainDateTime.from(first).toZonedDateTime(timeZone).epochMilliseconds, timeZone)
  return durations.map(by => {
    quota = extended(quota, by)
    return endOf(quota)
  })
}

describe('extensions keep to the day and the time of the first end', () => {
  test.each<[first: string, durations: string[], ends: string[], zone?: string]>([
    ['2026-01-31', ['P1M', 'P1M', 'P1M', 'P1M'], ['2026-02-28', '2026-03-31', '2026-04-30', '2026-05-31']],
    ['2026-01-30', ['P1M', 'P1M'], ['2026-02-28', '2026-03-30']],
    ['2026-01-29', ['P1M', 'P1M'], ['2026-02-28', '2026-03-29']],
    ['2028-01-31', ['P1M', 'P1M'], ['2028-02-29', '2028-03-31']],
    ['2026-02-28', ['P1M', 'P1M'], ['2026-03-28', '2026-04-28']],
    ['2028-02-29', ['P1Y', 'P1Y', 'P1Y', 'P1Y'], ['2029-02-28', '2030-02-28', '2031-02-28', '2032-02-29']],
    ['2026-08-31', ['P3M', 'P3M', 'P3M'], ['2026-11-30', '2027-02-28', '2027-05-31']],
    ['2026-01-31', ['P1M', 'P1Y', 'P1M'], ['2026-02-28', '2027-02-28', '2027-03-31']],
    // A duration in days moves the day.
    ['2026-01-31', ['P1M', 'P30D', 'P1M'], ['2026-02-28', '2026-03-30', '2026-04-30']],
    ['2026-01-31', ['P1M15D', 'P1M'], ['2026-03-15', '2026-04-15']],
    ['2026-01-31', ['P1M', 'P1W', 'P1M'], ['2026-02-28', '2026-03-07', '2026-04-07']],
  ])('%s %j', (first, durations, expected, zone) => {
    expect(endsAfter(`${first}T09:30:00`, durations, zone)).toEqual(expected.map(day => `${day}T09:30:00`))
  })

  test('also to a time that the clock skips once', () => {
    // On 29 March 2026, the clock in Berlin goes from 02:00 to 03:00.
    const times = ['2026-03-29T03:30:00', '2026-04-28T02:30:00', '2026-05-28T02:30:00']
    expect(endsAfter('2026-02-28T02:30:00', ['P29D', 'P30D', 'P1M'], 'Europe/Berlin')).toEqual(times)
    expect(endsAfter('2026-01-29T02:30:00', ['P2M', 'P1M'], 'Europe/Berlin')).toEqual([times[0], '2026-04-29T02:30:00'])
  })
})

describe('an end that is set directly', () => {
  const twice = extended(extended(ends(at('2026-01-31')), 'P1M'), 'P1M')

  test('to a later time is a new first one', () => {
    expect(endOf(extended(movedTo(twice, at('2027-02-28')), 'P1M'))).toBe('2027-03-28T00:00:00')
    const never = movedTo(twice, null)
    expect(endOf(extended(movedTo(never, at('2026-02-28')), 'P1M'))).toBe('2026-03-28T00:00:00')
  })

  test('back to the one before takes the extension back, with the day', () => {
    const undone = movedTo(twice, at('2026-02-28'))
    expect(endOf(extended(undone, 'P1M'))).toBe('2026-03-31T00:00:00')
    expect(endOf(extended(movedTo(undone, at('2026-01-31')), 'P1M'))).toBe('2026-02-28T00:00:00')
  })

  test('to a day that the anchor does not have is not moved from', () => {
    expect(endOf(extended(movedTo(twice, at('2026-03-15')), 'P1M'))).toBe('2026-04-15T00:00:00')
    expect(endOf(extended(movedTo(twice, at('2026-02-28 09:00')), 'P1M'))).toBe('2026-03-28T09:00:00')
  })

  test('or another change does not touch the anchor', () => {
    const renamed = quotaOf(changeQuota(extended(ends(at('2026-01-31')), 'P1M'), { name: 'x' }, CONTEXT))
    expect(endOf(extended(renamed, 'P1M'))).toBe('2026-03-31T00:00:00')
  })
})

test('n extensions by one unit are one by n units, from any end, in any zone', () => {
  const zones = ['UTC', 'Europe/Berlin', 'America/St_Johns', 'Australia/Lord_Howe', 'Pacific/Apia', 'Africa/Casablanca']
  const first = fc.oneof(
    fc.integer({ min: at('2005-01-01'), max: at('2030-01-01') }),
    // Ends of months, at times about which clocks change.
    fc
      .tuple(fc.integer({ min: 2005, max: 2030 }), fc.integer({ min: 0, max: 11 }), fc.integer({ min: 26, max: 31 }))
      .chain(([year, month, day]) => fc.nat(47).map(half => Date.UTC(year, month, day, 0, 30 * half))),
  )
  fc.assert(
    fc.property(
      first,
      fc.constantFrom(...zones),
      fc.constantFrom('M', 'Y', 'D', 'W'),
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 14 }),
      (end, zone, unit, step, times) => {
        // Samoa had no 30 December 2011: a day later than the 29th is the 31st, and so is a day later than that.
        fc.pre(zone !== 'Pacific/Apia' || end >= at('2012-01-01'))
        const quota = ends(end, zone)
        let stepped = quota
        for (let n = 0; n < times; n++) stepped = extended(stepped, `P${step}${unit}`)
        expect(endOf(stepped)).toBe(endOf(extended(quota, `P${step * times}${unit}`)))
        // As the calendar adds it once.
        const once = Temporal.Instant.fromEpochMilliseconds(end)
          .toZonedDateTimeISO(zone)
          .add(`P${step * times}${unit}`)
        expect(stepped.expires_at).toBe(once.epochMilliseconds)
      },
    ),
    { numRuns: runs(300) },
  )
})
