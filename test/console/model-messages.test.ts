/** The list of all messages: two lists of the service as one, and the words with which the search finds a day of it. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NO_FILTERS } from '../../console/src/model/denial-filters.ts'
import { histogramPeriod, timeOfBars } from '../../console/src/model/message-histogram.ts'
import {
  CSV_COLUMNS,
  csvValues,
  listsOf,
  MESSAGES_STATE,
  mergedPage,
  type Part,
  type Place,
  placeOf,
  placeText,
} from '../../console/src/model/messages.ts'
import { spokenDays } from '../../console/src/model/spoken-days.ts'
import type { DenialRecord } from '../../src/contract/denials.ts'
import type { ReservationRecord } from '../../src/contract/reservations.ts'
import { formatTimestamp, HOUR_MS } from '../../src/domain/time/time.ts'
import { runs } from '../support/runs.ts'

const AT = Date.parse('2026-03-10T12:00:00.000Z')

const RESERVATION: ReservationRecord = {
  id: 'm1',
  user_id: 7,
  user_name: '=Acme',
  state: 'refunded',
  units: 2,
  committed: 2,
  released: 0,
  refunded: 2,
  segments: null,
  rate: null,
  unfunded: 0,
  verified: false,
  draws: [],
  expires_at: null,
  op: 'consume',
  asked: 2,
  country: 'FR',
  message_type: 'otp',
  allow_partial: false,
  force: false,
  on_expiry: 'release',
  created_at: formatTimestamp(AT),
  made_by: 'gateway',
  settled_by: null,
}
const DENIAL: DenialRecord = {
  denial_id: 'den_7_1_1',
  at: formatTimestamp(AT),
  user_id: 7,
  id: 'd1',
  op: 'reserve',
  units: 3,
  country: null,
  message_type: null,
  allow_partial: false,
  reason: 'cap_reached',
  remaining: 0,
  limiting_quota_id: 2,
  retry_at: null,
  skipped: 0,
  sender: 'gateway',
}

/** A row of a list: when it was made, and whether the filters select it. */
interface Made {
  at: number
  isSelected: boolean
}
interface Bounds {
  size: number
  maxScanned: number
}

/** A page of a list, as the service reads it: a cursor is the place in the list. */
function read<Row>(
  list: readonly (Made & { row: Row })[],
  { size, maxScanned }: Bounds,
  from: { before: string | undefined; cursor: string | null },
): Part<Row> {
  const before = from.before === undefined ? Number.POSITIVE_INFINITY : Date.parse(from.before)
  const rest = list.map((made, index) => ({ ...made, index })).filter(({ at }) => at < before)
  const left = from.cursor === null ? rest : list.map((made, index) => ({ ...made, index })).slice(Number(from.cursor))
  const scanned = left.slice(0, maxScanned)
  const selected = scanned.filter(({ isSelected }) => isSelected)
  const items = selected.slice(0, size).map(({ row }) => row)
  const end = selected.length > size ? selected[size - 1] : left.length > maxScanned ? scanned.at(-1) : undefined
  if (end === undefined) return { items, next_cursor: null, scanned_until: null }
  return { items, next_cursor: String(end.index + 1), scanned_until: formatTimestamp(end.at) }
}

const rows = fc
  .array(fc.record({ at: fc.integer({ min: AT, max: AT + 6 }), isSelected: fc.boolean() }), { maxLength: 14 })
  .map(made => made.toSorted((one, other) => other.at - one.at))
const bounds = fc.record({ size: fc.integer({ min: 1, max: 3 }), maxScanned: fc.integer({ min: 1, max: 5 }) })

test('pages of both lists have each message once, newest first', () => {
  fc.assert(
    fc.property(rows, rows, bounds, bounds, (sentRows, deniedRows, ofSent, ofDenied) => {
      const sent = sentRows.map((made, index) => ({
        ...made,
        row: { ...RESERVATION, id: `s${index}`, created_at: formatTimestamp(made.at) },
      }))
      const denied = deniedRows.map((made, index) => ({
        ...made,
        row: { ...DENIAL, id: `d${index}`, at: formatTimestamp(made.at) },
      }))
      const shown: { at: string; id: string }[] = []
      let place: Place | null = null
      do {
        const { before, sent: sentCursor, denied: deniedCursor }: Partial<Place> = place ?? {}
        const page = mergedPage(
          read(sent, ofSent, { before, cursor: sentCursor ?? null }),
          read(denied, ofDenied, { before, cursor: deniedCursor ?? null }),
        )
        shown.push(...page.rows.map(({ at, record: { id } }) => ({ at, id })))
        place = page.next === null ? null : placeOf(placeText(page.next))
      } while (place !== null)
      const all = [...sent, ...denied].filter(({ isSelected }) => isSelected)
      expect(shown.map(({ id }) => id).toSorted()).toEqual(all.map(({ row }) => row.id).toSorted())
      expect(shown.map(({ at }) => at)).toEqual(
        all
          .map(({ at }) => formatTimestamp(at))
          .toSorted()
          .toReversed(),
      )
    }),
    { numRuns: runs(500) },
  )
})

test('a place in the list is a parameter of the URL', () => {
  for (const place of [
    { before: formatTimestamp(AT), sent: 'a-_9', denied: null },
    { before: formatTimestamp(0), sent: null, denied: 'Zm9v' },
  ]) {
    const text = placeText(place)
    expect(MESSAGES_STATE.cursor(text)).toBe(text)
    expect(placeOf(text)).toEqual(place)
  }
  for (const text of ['', '1.a', 'x..', '1.a.b.c', `1.${'a'.repeat(5001)}.`])
    expect(MESSAGES_STATE.cursor(text)).toBe(null)
})

test('filters select from the lists that know them', () => {
  const none = { state: null, ...NO_FILTERS }
  expect(listsOf({ ...none, country: 'FR' })).toEqual({ sent: true, denied: true })
  expect(listsOf({ ...none, state: 'denied' })).toEqual({ sent: false, denied: true })
  expect(listsOf({ ...none, state: 'refunded' })).toEqual({ sent: true, denied: false })
  for (const filter of [{ reason: 'cap_reached' }, { id: 'm1' }, { without: 'country' }] as const) {
    expect(listsOf({ ...none, ...filter })).toEqual({ sent: false, denied: true })
    expect(listsOf({ ...none, ...filter, state: 'refunded' })).toEqual({ sent: false, denied: false })
  }
})

test('the time of the filters has bars, and a drag over some chooses theirs', () => {
  const none = { state: null, ...NO_FILTERS }
  const now = new Date(AT + 5 * 60_000)
  const hours = (from: number, to: number) => ({
    from: formatTimestamp(AT + from * HOUR_MS),
    to: formatTimestamp(AT + to * HOUR_MS),
  })
  expect(histogramPeriod(none, now)).toEqual({ ...hours(-24, 0.25), interval: 'hour' })
  expect(histogramPeriod({ ...none, ...hours(-50.1, 0) }, now)).toEqual({ ...hours(-50.25, 0), interval: 'hour' })
  // What is to come has no bars.
  expect(histogramPeriod({ ...none, ...hours(-24 * 7, 24) }, now)).toEqual({ ...hours(-24 * 7, 0.25), interval: 'day' })
  expect(histogramPeriod({ ...none, ...hours(-24 * 400, 0) }, now)).toMatchObject({ interval: 'week' })
  for (const filter of [
    { sender: 's' },
    { id: 'm1' },
    { without: 'country' },
    { state: 'refunded' },
    hours(1, 2),
  ] as const)
    expect(histogramPeriod({ ...none, ...filter }, now)).toBe(null)

  const bars = [-2, -1, 0].map(hour => ({ start: hours(hour, 0).from, end: hours(0, hour + 1).to, sent: 1, denied: 0 }))
  expect(timeOfBars(bars, [1, 0], none)).toEqual(hours(-2, 0))
  expect(timeOfBars(bars, [2, 2], { ...none, ...hours(-1.5, 0.1) })).toEqual(hours(0, 0.1))
  expect(timeOfBars(bars, [0, 0], { ...none, ...hours(-1.5, 0.1) })).toEqual(hours(-1.5, -1))
  expect(timeOfBars([], [0, 0], none)).toBe(null)
})

test('a file has the same columns for both kinds of messages', () => {
  const at = formatTimestamp(AT)
  const cellsOf = (message: Parameters<typeof csvValues>[0]) =>
    Object.fromEntries(
      csvValues(message).flatMap((value, index) => (value === null ? [] : [[CSV_COLUMNS[index], value]])),
    )
  expect(cellsOf({ kind: 'sent', at, record: RESERVATION })).toEqual({
    at,
    user_id: 7,
    user_name: '=Acme',
    id: 'm1',
    state: 'refunded',
    units: 2,
    committed: 2,
    refunded: 2,
    country: 'FR',
    message_type: 'otp',
    sender: 'gateway',
  })
  expect(cellsOf({ kind: 'denied', at, record: DENIAL })).toEqual({
    at,
    user_id: 7,
    id: 'd1',
    state: 'denied',
    reason: 'cap_reached',
    units: 3,
    sender: 'gateway',
  })
})

test.each<[string, string, string]>([
  ['France last Tuesday', '2026-11-24', 'France'],
  ['france tuesday', '2026-11-24', 'france'],
  ['last Tuesday, France', '2026-11-24', 'France'],
  ['messages to United States on Monday', '2026-11-23', 'United States'],
  ['on Monday to FR', '2026-11-23', 'FR'],
  ['FR today', '2026-11-27', 'FR'],
  ['yesterday +33', '2026-11-26', '+33'],
  // That day is a Friday.
  ['France Friday', '2026-11-27', 'France'],
  ['France last Friday', '2026-11-20', 'France'],
  ['France Sat', '2026-11-21', 'France'],
  ['Frankreich letzten Dienstag', '2026-11-24', 'Frankreich'],
  ['letzten Dienstag nach Frankreich', '2026-11-24', 'Frankreich'],
  ['Nachrichten nach Österreich am Mi', '2026-11-25', 'Österreich'],
  ['DE vorgestern', '2026-11-25', 'DE'],
  ['gestern', '2026-11-26', ''],
])('"%s" is %s and "%s"', (text, day, rest) => {
  expect(spokenDays(text, '2026-11-27')).toContainEqual({ day, rest })
})

test.each(['', 'France', 'last', 'France last', 'France last week', 'last France', 'Tuesdays', 'on', '2 days ago'])(
  '"%s" says no day',
  text => {
    expect(spokenDays(text, '2026-11-27')).toEqual([])
  },
)
