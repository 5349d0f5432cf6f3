import { expect, test } from 'vitest'
import { pausesByCountry } from '../../src/domain/pauses/pause.ts'
import { denialsByRule } from '../../src/domain/units/rule-denials.ts'
import { aQuota, at } from './fixture.ts'

const NOW = at('2026-01-10 12:00')

const aDenial = (fields: object) => ({
  user_id: 7,
  at: NOW,
  number: 1,
  id: 'm',
  op: 'consume' as const,
  units: 1,
  country: 'FR',
  message_type: null,
  allow_partial: false,
  reason: 'destination_paused' as const,
  remaining: 0,
  limiting_quota_id: null,
  retry_at: null,
  skipped: 0,
  ...fields,
})

const aPause = (id: number, user_id: number | null, until: number | null) => ({
  id,
  user_id,
  country: 'FR',
  message_types: null,
  until,
  reason: null,
})

const paused = (pause_id: number | null, denials: number, users: number) => ({
  reason: 'destination_paused',
  pause_id,
  plan_id: null,
  slot: null,
  denials,
  users,
})

test('a denial counts for the pause that held for it, with those that the log left out', () => {
  // One ended before the last denial.
  const pauses = pausesByCountry([aPause(1, null, NOW + 1_000), aPause(2, 8, null)])
  const denials = [
    aDenial({ at: NOW + 1_000, skipped: 4 }),
    aDenial({ skipped: null }),
    aDenial({ user_id: 9 }),
    aDenial({ user_id: 8, skipped: 40 }),
    aDenial({ user_id: 8 }),
  ]
  expect(denialsByRule(denials, [], pauses)).toEqual([paused(2, 42, 1), paused(null, 5, 1), paused(1, 2, 2)])
})

test('a denial counts for the slot of the cap that had no room, and for no slot if the cap is gone', () => {
  const plan = { id: 3, name: 'Codes', version: 2, slot: 'daily', kept: [] }
  const caps = [
    { ...aQuota({ id: 11 }), plan },
    { ...aQuota({ id: 12 }), plan: { ...plan, version: 1 } },
  ]
  const capped = (limiting_quota_id: number) => aDenial({ reason: 'cap_reached', limiting_quota_id })
  const denials = [capped(11), capped(12), capped(13), aDenial({ reason: 'no_quota' })]
  expect(denialsByRule(denials, caps, pausesByCountry([]))).toEqual([
    { reason: 'cap_reached', pause_id: null, plan_id: 3, slot: 'daily', denials: 2, users: 1 },
    { reason: 'cap_reached', pause_id: null, plan_id: null, slot: null, denials: 1, users: 1 },
  ])
})
