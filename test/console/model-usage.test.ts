/** Usage by day and group, and what is read again when. */
import { expect, test } from 'vitest'
import type { Api } from '../../console/src/api/types.ts'
import { dayIn, startOfDayIn } from '../../console/src/model/local-time.ts'
import { untilNextWindow } from '../../console/src/model/next-window.ts'
import { usageTone } from '../../console/src/model/quota-status.ts'
import { lastDay, lastHour, weekBefore, wholeQuarters } from '../../console/src/model/time-ranges.ts'
import { chartDataOf, daysAhead, enteredOf, maxOf, withForecast } from '../../console/src/model/usage-chart.ts'
import { dailyCapOf, periodOf, shownGroup } from '../../console/src/model/usage-report.ts'
import { DAY_MS, HOUR_MS } from '../../src/domain/time/time.ts'

type Usage = Api['Usage']
type Item = Usage['items'][number]

const NONE = { units: 0, messages: 0 }
const item = (start: string, units: number, group: Partial<Item> = {}): Item => ({
  start,
  end: start,
  exact: true,
  committed: { units, messages: 1 },
  committed_segments: 0,
  verified_messages: 0,
  refunded: NONE,
  denied: NONE,
  unfunded: NONE,
  denied_by_reason: { cap_reached: NONE, destination_paused: NONE, no_quota: NONE, quota_exhausted: NONE },
  ...group,
})
const [MONDAY, TUESDAY] = ['2026-03-09T00:00:00.000Z', '2026-03-10T00:00:00.000Z']
const report = (items: Item[]): Usage => ({
  from: MONDAY,
  rounded: false,
  to: TUESDAY,
  interval: 'day',
  time_zone: 'UTC',
  exact: true,
  items,
  total: item(MONDAY, 0),
})
/** The zone in which the test runs. */
const LOCAL = new Intl.DateTimeFormat().resolvedOptions().timeZone
/** Days are those of this zone. */
const noonOf = (day: number) => new Date(2026, 2, day, 12).toISOString()
const words = {
  label: (key: string | number | null) => String(key),
  others: (count: number) => `${count} others`,
  denied: 'Denied',
}

test('a chart has a series per group, the largest first, and one for the smaller ones', () => {
  const items = ['A', 'B', 'C', 'D', 'E', 'F', 'G'].flatMap((country, index) => [
    item(MONDAY, 10 + index, { country }),
    item(TUESDAY, index === 0 ? 100 : 0, { country }),
  ])
  const { series, rows } = chartDataOf(
    report([...items, item(TUESDAY, 0, { country: null })]),
    'committed',
    'country',
    words,
  )
  expect(series.map(({ label, total }) => [label, total])).toEqual([
    ['A', 110],
    ['G', 16],
    ['F', 15],
    ['E', 14],
    ['D', 13],
    ['2 others', 23],
  ])
  expect(rows).toEqual([
    { at: noonOf(9), part0: 10, part1: 16, part2: 15, part3: 14, part4: 13, part5: 23 },
    { at: noonOf(10), part0: 100, part1: 0, part2: 0, part3: 0, part4: 0, part5: 0 },
  ])
  expect(maxOf(rows)).toBe(100)
})

test('the forecast has a band, as wide as the days before today differ from it', () => {
  const rows = [70, 130, 90, 110, 5_000].map((part0, index) => ({ at: noonOf(index + 1), part0 }))
  const shown = withForecast(rows, 100, ['2026-03-06'])
  expect(shown.map(({ forecast, band }) => [forecast, band])).toEqual([
    ...Array.from({ length: 4 }, () => [undefined, undefined]),
    [100, [78, 122]],
    [100, [78, 122]],
  ])
  expect(shown.at(-1)).toMatchObject({ at: noonOf(6) })
  expect(
    maxOf(
      withForecast(
        [
          { at: noonOf(1), part0: 0 },
          { at: noonOf(2), part0: 0 },
        ],
        10,
        [],
      ),
    ),
  ).toBe(20)
})

test('what was denied stands on what was committed, unless there are groups', () => {
  const items = [{ ...item(MONDAY, 5), denied: { units: 7, messages: 1 } }, item(TUESDAY, 0)]
  const { series, rows } = chartDataOf(report(items), 'committed', null, words)
  expect(series.map(({ label, total }) => [label, total])).toEqual([
    ['null', 5],
    ['Denied', 7],
  ])
  expect(rows.map(({ part0, part1 }) => [part0, part1])).toEqual([
    [5, 7],
    [0, 0],
  ])
  const grouped = chartDataOf(report([{ ...item(MONDAY, 5, { country: 'DE' }) }]), 'committed', 'country', words)
  expect(grouped.series).toHaveLength(1)
})

test('a chart counts the days of the cap that stops all messages first', () => {
  type Cap = Api['QuotaSummary']['caps'][number]
  const cap: Cap = {
    ...{ quota_id: 1, name: null, limit: 100, used: 0, reserved: 0, remaining: 100, window_end: null, anchor: null },
    ...{ period: 'day', time_zone: 'Asia/Tokyo', counts: 'units', countries: null, message_types: null, alert_at: [] },
  }
  const of = (...caps: Partial<Cap>[]) => dailyCapOf({ caps: caps.map(other => ({ ...cap, ...other })) })
  expect(of({ limit: 200 }, {}, { limit: null })).toMatchObject({ limit: 100, time_zone: 'Asia/Tokyo' })
  expect(of({ period: 'week' }, { counts: 'messages' }, { countries: ['NG'] }, { message_types: ['otp'] })).toBe(
    undefined,
  )
})

test.each([
  ['Asia/Tokyo', '2026-03-10', '2026-03-09T15:00:00.000Z'],
  ['America/Los_Angeles', '2026-03-10', '2026-03-10T07:00:00.000Z'],
  // The clocks change on this day.
  ['Europe/Berlin', '2026-03-29', '2026-03-28T23:00:00.000Z'],
  ['Europe/Berlin', '2026-03-30', '2026-03-29T22:00:00.000Z'],
  // They skip midnight.
  ['Africa/Cairo', '2026-04-24', '2026-04-23T22:00:00.000Z'],
])('in %s, %s begins at %s', (zone, day, start) => {
  expect(startOfDayIn(zone, day)).toBe(start)
  expect(dayIn(zone, start)).toBe(day)
})

test('six groups are a series each', () => {
  const items = ['A', 'B', 'C', 'D', 'E', 'F'].map(country => item(MONDAY, 10, { country }))
  const { series } = chartDataOf(report(items), 'committed', 'country', words)
  expect(series.map(({ label }) => label)).toEqual(['A', 'B', 'C', 'D', 'E', 'F'])
})

test('a chart without groups has one series, and none without units', () => {
  expect(chartDataOf(report([item(MONDAY, 5)]), 'committed', null, words).series).toMatchObject([{ total: 5 }])
  expect(chartDataOf(report([item(MONDAY, 5)]), 'denied', null, words).series).toEqual([])
})

test('codes that were entered are counted by group, where there are any', () => {
  const items = [
    item(MONDAY, 1, { country: 'FR', verified_messages: 1 }),
    item(TUESDAY, 1, { country: 'FR' }),
    item(TUESDAY, 9, { country: 'DE' }),
  ]
  expect(enteredOf({ items }, 'country')).toEqual([{ key: 'FR', messages: 2, verified: 1 }])
  expect(enteredOf({ items }, null)).toEqual([{ key: null, messages: 3, verified: 1 }])
  expect(enteredOf({ items: items.slice(1) }, null)).toEqual([])
})

test('the forecast covers a quarter of the period, until the units run out', () => {
  const ahead = (shown: number, runs_out_at: string | null) =>
    daysAhead(shown, { daily_rate: 10, runs_out_at, units_run_out_at: null }, noonOf(10), LOCAL)
  expect(ahead(8, null)).toEqual(['2026-03-11', '2026-03-12'])
  expect(ahead(30, noonOf(12))).toEqual(['2026-03-11', '2026-03-12'])
  expect(ahead(30, noonOf(10))).toEqual([])
})

test.each([
  [{ country: 'DE' }, 'country'],
  [{ message_type: null }, 'message_type'],
  [{ quota_id: 1 }, 'quota'],
  [{}, null],
] as const)('a report with %o is grouped by %s', (group, shown) => {
  expect(shownGroup(report([item(MONDAY, 1, group)]), 'country')).toBe(shown)
  expect(shownGroup(report([]), 'quota')).toBe('quota')
})

test.each([
  [{ from: null, to: null }, '2026-03-04', '2026-03-10'],
  [{ from: '2026-01-01', to: null }, '2026-01-01', '2026-03-10'],
  [{ from: null, to: '2026-02-07' }, '2026-02-01', '2026-02-07'],
  [{ days: 'month', from: null, to: null }, '2026-03-01', '2026-03-10'],
] as const)('7 days, or what is chosen, with %o are from %s to %s', (range, first, last) => {
  const state = { days: '7', measure: 'committed', group_by: null, as: 'chart', ...range } as const
  expect(periodOf(state, noonOf(10), LOCAL)).toEqual({ first, last })
})

test('ranges end with the quarter of an hour, which the service stores', () => {
  const now = new Date('2026-03-10T12:07:00.000Z')
  expect(lastHour(now)).toEqual({ from: '2026-03-10T11:15:00.000Z', to: '2026-03-10T12:15:00.000Z' })
  const { from, to } = lastDay(now)
  expect([new Date(from).getMinutes(), to]).toEqual([0, '2026-03-10T12:15:00.000Z'])
  expect(Date.parse(to) - Date.parse(from)).toBeLessThanOrEqual(24.25 * HOUR_MS)
  expect(weekBefore(now)).toEqual({ from: new Date(Date.parse(from) - 7 * DAY_MS).toISOString(), to: from })
  expect(wholeQuarters('2026-03-10T11:50:00.000Z', '2026-03-10T12:00:00.000Z')).toEqual({
    from: '2026-03-10T11:45:00.000Z',
    to: '2026-03-10T12:00:00.000Z',
  })
})

test.each([
  ['none ends', [], false],
  ['one has ended', [{ status: 'expired', window_end: '2026-03-10T12:00:05.000Z' }], false],
  [
    'one ends in five seconds',
    [{ window_end: '2026-03-10T12:00:05.000Z' }, { window_end: '2026-03-11T00:00:00.000Z' }],
    6_000,
  ],
  [
    'one starts in five seconds',
    [{ status: 'scheduled', window_start: '2026-03-10T12:00:05.000Z', window_end: null }],
    6_000,
  ],
  ['one should have ended', [{ window_end: '2026-03-10T11:59:00.000Z' }], 30_000],
  ['one ends next year', [{ window_end: '2027-03-10T12:00:00.000Z' }], 86_400_000],
] as const)('quotas are read again in time where %s', (_title, quotas, ms) => {
  const all = quotas.map(quota => ({ status: 'active' as const, window_start: MONDAY, ...quota }))
  expect(untilNextWindow(all, Date.parse('2026-03-10T12:00:00.000Z'))).toBe(ms)
})

test.each([
  [99, [], 'near'],
  [99, [100], 'near'],
  [94, [100], undefined],
  [80, [80, 100], 'near'],
  [50, [50, 100], 'near'],
  [79, [80, 100], undefined],
  [100, [], 'full'],
] as const)('a quota of which %i of 100 are used, with alerts at %j, is %s', (taken, alerts, tone) => {
  expect(usageTone(taken, 100, alerts)).toBe(tone)
})
