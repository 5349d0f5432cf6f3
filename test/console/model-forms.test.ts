/** What people type and what addresses say, as the API takes it. */
import { expect, test } from 'vitest'
import { blockUrl, messageUrl } from '../../console/src/model/addresses.ts'
import { type BulkInput, changeOf, EMPTY_INPUT, selectOf } from '../../console/src/model/bulk-change.ts'
import { denialsUrl, groupFilter, isFiltered, NO_FILTERS } from '../../console/src/model/denial-filters.ts'
import {
  changedCounting,
  changedSettings,
  copiedFormValues,
  createBodyOf,
  duplicateMetadataKey,
  emptyFormValues,
  type FormValues,
  formValuesOf,
  isBlocking,
  isSame,
  linkedFormValues,
  termsOf,
} from '../../console/src/model/quota-form.ts'
import {
  filterCount,
  filterOf,
  isSortedByUse,
  SORTS,
  searchOf,
  UNFILTERED,
} from '../../console/src/model/quota-lists.ts'
import { problemOfNumber, wholeNumber, withoutGroups } from '../../console/src/model/typed.ts'
import { count, cursor, day, oneOf, timestamp, uint } from '../../console/src/model/url-parameters.ts'
import { QUOTA } from './quota-fixture.ts'

const NOW = Date.parse('2026-03-10T12:00:00.000Z')

test.each([
  ['', ''],
  [' 42 ', 42],
  ['1 000', 1_000],
  ['1,000', 1_000],
  ['1.000.000', 1_000_000],
  ['1’000', 1_000],
  ['1,5', '1,5'],
  ['10,00', '10,00'],
  ['-1', '-1'],
  ['99999999999999999', '99999999999999999'],
])('the text %o is the number %o', (text, value) => {
  expect(wholeNumber(text)).toBe(value)
})

const values = (given: Partial<FormValues>): FormValues => ({ ...emptyFormValues(7), limit: '100', ...given })

test.each<[string, Partial<FormValues>, object]>([
  ['only what is no default', {}, { user_id: 7, limit: 100 }],
  ['no limit that is missing', { limit: '' }, { user_id: 7 }],
  ['a limit that is no number as it is', { limit: 'many' }, { user_id: 7, limit: 'many' }],
  [
    'no limit of an unlimited grant, and no overage',
    { is_unlimited: true, overage_limit: '5' },
    { user_id: 7, limit: null },
  ],
  [
    'a limit of a cap',
    { kind: 'cap', is_unlimited: true, overage_limit: '5' },
    { user_id: 7, limit: 100, kind: 'cap' },
  ],
  [
    'what a cap counts by itself, and no alerts',
    { kind: 'cap', period: 'minute', per: 'recipient', counts: 'messages', opening_used: '5' },
    { user_id: 7, limit: 100, kind: 'cap', period: 'minute', per: 'recipient' },
  ],
  [
    'units of such a cap, and messages of another one',
    { kind: 'cap', period: 'day', per: 'tag', counts: 'units' },
    { user_id: 7, limit: 100, kind: 'cap', period: 'day', per: 'tag', counts: 'units' },
  ],
  [
    'messages of a cap',
    { kind: 'cap', counts: 'messages' },
    { user_id: 7, limit: 100, kind: 'cap', counts: 'messages' },
  ],
  ['units of a grant', { per: 'tag', counts: 'messages' }, { user_id: 7, limit: 100 }],
  ['no rollover without a period', { rollover_limit: '5' }, { user_id: 7, limit: 100 }],
  [
    'rollover and time zone with a period',
    { rollover_limit: '5', period: 'month', time_zone: 'Europe/Berlin' },
    { user_id: 7, limit: 100, rollover_limit: 5, period: 'month', time_zone: 'Europe/Berlin' },
  ],
  [
    'a first day of months',
    { period: 'month', anchor: '15' },
    { user_id: 7, limit: 100, period: 'month', anchor: '15' },
  ],
  ['no first day of weeks', { period: 'week', anchor: '15' }, { user_id: 7, limit: 100, period: 'week' }],
  ['no first day that is not chosen', { period: 'year' }, { user_id: 7, limit: 100, period: 'year' }],
  ['scopes in order', { countries: ['DE', 'AT'] }, { user_id: 7, limit: 100, countries: ['AT', 'DE'] }],
  ['percents in order', { alert_at: '90%; 50' }, { user_id: 7, limit: 100, alert_at: [50, 90] }],
  [
    'keys with a value',
    {
      metadata: [
        { id: 0, key: 'a', value: 'b' },
        { id: 1, key: '', value: '' },
      ],
    },
    { user_id: 7, limit: 100, metadata: { a: 'b' } },
  ],
])('a new quota is sent with %s', (_title, given, body) => {
  expect(createBodyOf(values(given), 'Why')).toEqual(body)
})

test('a cap that counts each value by itself counts messages and resets, and only it does so by the minute', () => {
  const cap = values({ kind: 'cap' })
  expect(changedCounting(cap, { per: 'recipient' })).toEqual({ per: 'recipient', counts: 'messages', period: 'hour' })
  const each = { ...cap, per: 'tag', counts: 'units', period: 'minute' } as const
  expect(changedCounting(each, { per: 'country' })).toEqual({ per: 'country' })
  expect(changedCounting(each, { per: null })).toEqual({ per: null, counts: 'units', period: 'hour' })
  expect(changedCounting(each, { kind: 'grant' })).toEqual({ kind: 'grant', counts: 'units', period: 'hour' })
  expect(changedCounting(values({ period: 'month' }), { kind: 'cap' })).toEqual({ kind: 'cap' })
})

test('a block is sent with its reason', () => {
  const block = values({ kind: 'cap', limit: '0' })
  expect(createBodyOf(block, 'Pumping')).toEqual({ user_id: 7, kind: 'cap', limit: 0, metadata: { reason: 'Pumping' } })
  expect([isBlocking(block), isBlocking(values({ limit: '0' })), isBlocking(values({ kind: 'cap' }))]).toEqual([
    true,
    false,
    false,
  ])
})

test('a link fills the form, and one to a block makes it a block', () => {
  const none = {
    user_id: 7,
    copy: null,
    kind: 'grant',
    limit: null,
    period: null,
    countries: null,
    message_types: null,
  } as const
  expect(linkedFormValues(none)).toEqual(emptyFormValues(7))
  const block = linkedFormValues({ ...none, kind: 'cap', limit: 0, countries: 'NG,GH', message_types: 'otp' })
  expect(block).toMatchObject({ limit: '0', countries: ['NG', 'GH'], message_types: ['otp'] })
  expect(isBlocking(block)).toBe(true)
})

test('an edit sends what has changed, and keeps times that the fields cannot show', () => {
  const quota = { ...QUOTA, starts_at: '2026-03-01T00:00:00.123Z', metadata: { b: '2', a: '1' } }
  const unchanged = formValuesOf(quota)
  expect(changedSettings(unchanged, quota)).toEqual({})
  const metadata = unchanged.metadata.toReversed()
  expect(changedSettings({ ...unchanged, metadata, limit: '120', name: ' ' }, quota)).toEqual({ limit: 120 })
  expect(changedSettings({ ...unchanged, expires_at: '2026-03-11T00:00' }, quota)).toEqual({
    expires_at: new Date('2026-03-11T00:00').toISOString(),
  })
  expect([isSame({ a: 1, b: [2] }, { b: [2], a: 1 }), isSame([1, 2], [2, 1])]).toEqual([true, false])
})

test('a copy leaves out the reference, the start, and an end that has passed', () => {
  const quota = { ...QUOTA, external_ref: 'ref', name: 'Pack' }
  const end = (expires_at: string) => copiedFormValues({ ...quota, expires_at }, NOW).expires_at
  expect(copiedFormValues(quota, NOW)).toMatchObject({ name: 'Pack', external_ref: '', starts_at: '' })
  expect(end('2026-03-10T12:00:00.000Z')).toBe('')
  expect(end('2026-03-10T12:01:00.000Z')).not.toBe('')
})

test('the preview needs a limit, and names no start that has passed', () => {
  const starts_at = '2026-03-10T12:00:00.000Z'
  const original = { ...QUOTA, starts_at }
  const startOf = (now: number) => termsOf(formValuesOf(original), original, now)?.starts_at
  expect(termsOf(values({ limit: '' }), null, NOW)).toBe(null)
  expect(termsOf(values({ is_unlimited: true }), null, NOW)?.limit).toBe(null)
  expect([startOf(NOW), startOf(NOW - 1)]).toEqual([null, starts_at])
})

test('a key of metadata is used once', () => {
  const rows = (...keys: string[]) => values({ metadata: keys.map((key, id) => ({ id, key, value: '' })) })
  expect(duplicateMetadataKey(rows('a', '', '', 'b'))).toBe(null)
  expect(duplicateMetadataKey(rows('a', 'b', 'a'))).toBe('a')
})

test('addresses of the console', () => {
  expect(blockUrl({ user_id: 7, countries: 'NG' })).toBe('/quotas/new?kind=cap&limit=0&user_id=7&countries=NG')
  expect(messageUrl({ user_id: 7, isOwn: false }, 'a/b')).toBe('/users/7/messages/a%2Fb')
  expect(messageUrl({ user_id: 7, isOwn: true }, 'a')).toBe('/mine/messages/a')
  expect(denialsUrl({ country: 'NG', reason: null })).toBe('/messages?state=denied&country=NG')
  expect(denialsUrl({}, { user_id: 7, isOwn: false })).toBe('/users/7/denials')
  expect(denialsUrl({ ...groupFilter('country', null) }, { user_id: 7, isOwn: true })).toBe(
    '/mine/denials?without=country',
  )
  expect(groupFilter('sender', 's')).toEqual({ sender: 's' })
  expect([isFiltered(NO_FILTERS), isFiltered({ ...NO_FILTERS, sender: 's' })]).toEqual([false, true])
})

test.each([
  [uint, ['0', '42'], ['', '-1', '01', '1.5', '99999999999999999', 'x', null]],
  [cursor, ['abc_-9'], ['', 'a b', 'ü', null]],
  [day, ['2026-02-28'], ['2026-02-30', '2026-2-1', 'today', null]],
  [timestamp, ['2026-03-01T12:00:00.000Z'], ['2026-03-01', '2026-13-01T12:00:00Z', 'now', null]],
] as const)('parameters of an address that mean nothing count as absent', (read, valid, invalid) => {
  for (const text of valid) expect(String(read(text))).toBe(text)
  for (const text of invalid) expect(read(text)).toBe(null)
})

test('parameters of an address have defaults and bounds', () => {
  const page = count(25, 200)
  expect([page('200'), page('201'), page('0'), page(null)]).toEqual([200, 25, 25, 25])
  const kind = oneOf(['grant', 'cap'], null)
  expect([kind('cap'), kind('Cap'), kind(null)]).toEqual(['cap', null, null])
})

test('filters of lists become parameters of the API and of addresses', () => {
  expect(filterOf({ ...UNFILTERED, ends_within: '7' }, NOW)).toMatchObject({
    expires_after: '2026-03-10T12:00:00.000Z',
    expires_before: '2026-03-17T12:00:00.000Z',
  })
  expect(Object.keys(filterOf(UNFILTERED, NOW))).not.toContain('expires_after')
  expect(filterCount({ ...UNFILTERED, kind: 'cap', user_id: 7 })).toBe(2)
  expect(searchOf({ ...UNFILTERED, kind: 'cap', page: 3 })).toBe('kind=cap')
  expect(searchOf({ kind: 'cap', sort: 'name', page_size: 50 })).toBe('kind=cap&sort=name')
  expect(SORTS.filter(isSortedByUse)).toEqual(['remaining', '-remaining', 'used_percent', '-used_percent'])
})

test.each<[Parameters<typeof changeOf>[0], Partial<BulkInput>, object]>([
  ['suspend', { units: '5' }, { action: 'suspend' }],
  ['adjust', { units: '1.000', reason: 'Why' }, { action: 'adjust', delta: 1_000, reason: 'Why' }],
  ['adjust', { units: '5', isDecrease: true }, { action: 'adjust', delta: -5, reason: '' }],
  ['adjust', { units: 'few', isDecrease: true }, { action: 'adjust', delta: 'few', reason: '' }],
  ['extend', { by: '2', unit: 'W' }, { action: 'extend', by: 'P2W' }],
  ['extend', { end: 'never', day: '2026-03-01' }, { action: 'extend', expires_at: null }],
  [
    'extend',
    { end: 'to', day: '2026-03-01' },
    { action: 'extend', expires_at: new Date('2026-03-01T00:00:00').toISOString() },
  ],
])('to %s many with %o is the change %o', (action, input, change) => {
  expect(changeOf(action, { ...EMPTY_INPUT, ...input })).toEqual(change)
})

test('quotas are selected by their ids, or by filters as of now', () => {
  expect(selectOf({ by: 'ids', quotas: new Map([[3, QUOTA]]) }, NOW)).toEqual({ ids: [3] })
  const { sort: _, ...filters } = { ...UNFILTERED, kind: 'cap' as const, ends_within: '1' as const }
  expect(selectOf({ by: 'filters', filters, total: null }, NOW)).toEqual({
    kind: 'cap',
    expires_after: '2026-03-10T12:00:00.000Z',
    expires_before: '2026-03-11T12:00:00.000Z',
  })
})

test.each([
  ['+49 (151) 123-456.78', null],
  ['+4', 'incomplete'],
  ['+', 'incomplete'],
  ['0049 151', 'doubleZero'],
  ['0151123', 'noPlus'],
  ['+49x', 'format'],
  [`+${'9'.repeat(10_000)}`, 'format'],
  ['<script>alert(1)</script>', 'format'],
])('the number %o has the problem %o', (text, problem) => {
  expect(problemOfNumber(withoutGroups(text))).toBe(problem)
})
