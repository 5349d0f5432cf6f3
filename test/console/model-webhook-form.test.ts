import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { PROJECT } from '../support/paths.ts'

// Its types need the DOM.
const { changedSettings, inputOf, lowIn, presetOf, settingsOf, typesAfter, webhookRequest } = await import(
  join(PROJECT, 'console/src/model/webhook-form.ts')
)
const { takenLately } = await import(join(PROJECT, 'console/src/model/would-receive.ts'))
const { webhooks: english } = await import(join(PROJECT, 'console/src/texts/en/webhooks.tsx'))
const DIGEST = { hour: 9, time_zone: 'Europe/Berlin' }

test('a new webhook is asked for with what its kind needs', () => {
  const values = { url: 'https://example.com', addresses: [' a@example.com ', ''], types: null }
  expect(webhookRequest({ kind: 'email', ...values })).toEqual({
    kind: 'email',
    addresses: ['a@example.com'],
    types: null,
  })
  for (const kind of ['webhook', 'slack', 'teams'])
    expect(webhookRequest({ kind, ...values })).toEqual({ kind, url: 'https://example.com', types: null })
  expect(webhookRequest({ kind: 'users', ...values })).toEqual({ kind: 'users', types: null })
})

test('a secret URL is changed only by another one', () => {
  expect(changedSettings('slack', { url: '', types: null })).toEqual({ types: null })
  expect(changedSettings('slack', { url: 'https://example.com/new' })).toEqual({ url: 'https://example.com/new' })
  expect(changedSettings('webhook', { url: '' })).toEqual({ url: '' })
})

test('addresses are what the lines hold', () => {
  expect(settingsOf({ addresses: ['a@example.com', ' ', ' b@example.com'] })).toEqual({
    addresses: ['a@example.com', 'b@example.com'],
  })
})

test('only people get a digest', () => {
  const values = { url: 'https://example.com', digest: DIGEST }
  expect(webhookRequest({ kind: 'slack', ...values })).toEqual({ kind: 'slack', ...values })
  expect(webhookRequest({ kind: 'webhook', ...values })).toEqual({ kind: 'webhook', url: values.url })
})

test.each([
  [
    { units: '1,000', share: '12,5' },
    { units: 1_000, share: 0.125 },
  ],
  [{ units: '', share: '7' }, { share: 0.07 }],
  [{ units: 'few', share: ' ' }, { units: 'few' }],
  [{ units: '', share: '' }, {}],
])('what is little, %j, is sent as %j', (only_when_low, sent) => {
  expect(settingsOf({ only_when_low })).toEqual({ only_when_low: sent })
})

test('a form shows what is saved, and sends it as it is', () => {
  const saved = {
    ...{ url: null, addresses: ['a@example.com'], language: 'de', user_ids: [7], types: null, description: null },
    ...{ only_when_low: { share: 0.07 }, digest: DIGEST, id: 3, enabled: true },
  }
  const input = inputOf(saved)
  expect(input.only_when_low).toEqual({ units: '', share: '7' })
  // One that has no URL sends none.
  const { id, enabled, url, ...settings } = saved
  expect(settingsOf(input)).toEqual(settings)
  expect(settingsOf({ only_when_low: null })).toEqual({ only_when_low: null })
})

test('another kind brings its events, unless others were chosen', () => {
  const forPeople = presetOf('slack')
  expect(forPeople).toContain('quota.threshold_reached')
  expect(typesAfter(null, 'webhook', 'email')).toEqual(forPeople)
  expect(typesAfter(forPeople.toReversed(), 'email', 'slack')).toEqual(forPeople)
  expect(typesAfter(forPeople, 'email', 'webhook')).toBeNull()
  expect(typesAfter(['quota.created'], 'webhook', 'email')).toEqual(['quota.created'])
  expect(typesAfter(null, 'email', 'slack')).toBeNull()
})

test('what is little is named where thresholds are taken, and as far as it is typed', () => {
  const only_when_low = { units: '50', share: 'x' }
  expect(lowIn({ types: null, only_when_low })).toEqual({ units: 50, share: null })
  expect(lowIn({ types: ['quota.created'], only_when_low })).toBeNull()
  expect(lowIn({ types: null, only_when_low: { units: '', share: 'x' } })).toBeNull()
  expect(lowIn({ types: null, only_when_low: null })).toBeNull()
})

test('what a webhook receives is a sentence', () => {
  const { line, of, daily, atOnce, onlyWhenLow, low } = english.received
  expect(line(of('thresholds', null), daily(9, 'Europe/Berlin'))).toBe(
    'Thresholds, of all users, once a day at 9:00 (Europe/Berlin).',
  )
  expect(line(of('all events', 1), atOnce)).toBe('All events, of 1 user, at once.')
  expect(onlyWhenLow(low(50, 0.125))).toBe(
    'Thresholds only with fewer than 50 units or less than 12.5% of the limit left.',
  )
})

describe('of the latest events a webhook would receive', () => {
  const NOW = Date.parse('2027-03-01T12:00:00Z')
  const at = (hours: number) => new Date(NOW - hours * 3_600_000).toISOString()
  const threshold = (units: number | null, limit: number | null = 1_000) => ({
    type: 'quota.threshold_reached',
    user_id: 7,
    at: at(1),
    data: { sendable: { units }, quota: { limit } },
  })
  const ALL = { types: null, user_ids: null, only_when_low: null }

  test.each([
    ['all', ALL, threshold(5), true],
    ['other types', { ...ALL, types: ['quota.created'] }, threshold(5), false],
    ['other users', { ...ALL, user_ids: [8] }, threshold(5), false],
    ['events of no user', { ...ALL, user_ids: [7] }, { ...threshold(5), user_id: null }, false],
    ['fewer units', { ...ALL, only_when_low: { units: 100 } }, threshold(99), true],
    ['as many units', { ...ALL, only_when_low: { units: 100 } }, threshold(100), false],
    ['no bound', { ...ALL, only_when_low: { units: 100 } }, threshold(null), false],
    ['a share', { ...ALL, only_when_low: { share: 0.1 } }, threshold(99), true],
    ['one of both', { ...ALL, only_when_low: { units: 10, share: 0.1 } }, threshold(99), true],
    ['a share of no limit', { ...ALL, only_when_low: { share: 0.1 } }, threshold(0, null), false],
    ['an older event', { ...ALL, only_when_low: { units: 1 } }, { ...threshold(5), data: { quota: {} } }, true],
    ['another type', { ...ALL, only_when_low: { units: 1 } }, { ...threshold(5), type: 'quota.created' }, true],
  ])('are %s', (_, settings, event, isTaken) => {
    expect(takenLately(settings, [event], true, NOW).count).toBe(isTaken ? 1 : 0)
  })

  test('are counted for a day, and may be more', () => {
    const events = [25, 23, 1].map(hours => ({ ...threshold(5), at: at(hours) }))
    expect(takenLately(ALL, events, false, NOW)).toEqual({ count: 2, isMore: false })
    expect(takenLately(ALL, events.slice(1), false, NOW)).toEqual({ count: 2, isMore: true })
    expect(takenLately(ALL, events.slice(1), true, NOW)).toEqual({ count: 2, isMore: false })
    expect(takenLately(ALL, [], false, NOW)).toEqual({ count: 0, isMore: false })
  })
})
