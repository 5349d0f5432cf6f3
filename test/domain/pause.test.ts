/** Which messages a pause denies, and how. */
import { expect, test } from 'vitest'
import { pausedBy, pausesByCountry, pausesOf, type UnliftedPause } from '../../src/domain/pauses/pause.ts'
import type { DrawCommand } from '../../src/domain/units/command.ts'
import { decide } from '../../src/domain/units/decide.ts'
import { DENIAL_ORDER } from '../../src/domain/units/denial.ts'
import { createDraft } from '../../src/domain/units/draft.ts'
import type { Enforcement } from '../../src/domain/units/drawing.ts'
import { DENIAL_REASONS, type DenialReason } from '../../src/domain/units/reservation.ts'
import { aQuota, at } from './fixture.ts'

const NOW = at('2026-01-10 12:00')
const LATER = NOW + 3_600_000

/** A pause of France for all users, until it is lifted, with `fields` replaced. */
const aPause = (id: number, fields: Partial<UnliftedPause> = {}): UnliftedPause => ({
  id,
  user_id: null,
  country: 'FR',
  message_types: null,
  until: null,
  reason: 'pumped codes',
  ...fields,
})

const aDraw = (fields: Partial<DrawCommand> = {}): DrawCommand => ({
  op: 'consume',
  user_id: 7,
  id: 'm',
  units: 2,
  country: 'FR',
  message_type: null,
  ttl_ms: 0,
  on_expiry: 'release',
  allow_partial: false,
  force: false,
  explain: false,
  ...fields,
})

const other_countries = ['GP', 'FR']
test.each<[string, Partial<UnliftedPause>, Partial<DrawCommand>, boolean]>([
  ['all users', {}, {}, true],
  ['the user', { user_id: 7 }, {}, true],
  ['another user', { user_id: 8 }, {}, false],
  ['another country', { country: 'DE' }, {}, false],
  ['numbers of no country', { country: '001' }, { country: '001' }, true],
  ['a country, and a message without one', {}, { country: null }, false],
  ['a country that the number may belong to', {}, { country: 'RE', other_countries }, true],
  ['a country that the number belongs to, of several', { country: 'RE' }, { country: 'RE', other_countries }, true],
  ['a type', { message_types: ['news', 'otp'] }, { message_type: 'otp' }, true],
  ['another type', { message_types: ['news'] }, { message_type: 'otp' }, false],
  ['a type, and a message without one', { message_types: ['otp'] }, {}, false],
  ['all types', {}, { message_type: 'otp' }, true],
  ['a time that has not come', { until: NOW + 1 }, {}, true],
  ['a time that has come', { until: NOW }, {}, false],
])('a pause of %s', (_, pause, message, isPaused) => {
  const found = pausedBy(pausesByCountry([aPause(1, pause)]), aDraw(message), NOW)
  expect(found?.id).toBe(isPaused ? 1 : undefined)
})

test('of several pauses, the one that lasts longest denies', () => {
  const some = [aPause(1, { until: LATER }), aPause(2, { until: LATER + 1, user_id: 7 }), aPause(3, { until: NOW + 1 })]
  expect(pausedBy(pausesByCountry(some), aDraw(), NOW)?.id).toBe(2)
  expect(pausedBy(pausesByCountry([...some, aPause(4), aPause(5)]), aDraw(), NOW)?.id).toBe(4)
})

test("a user's pauses are those of the user and of all, but for those that are over", () => {
  const pauses = pausesByCountry([
    aPause(1, { user_id: 7 }),
    aPause(2, { user_id: 8 }),
    aPause(3),
    aPause(4, { country: 'DE', until: LATER }),
    aPause(5, { until: NOW }),
  ])
  expect(pausesOf(pauses, 7, NOW).map(({ id }) => id)).toEqual([4, 1, 3])
  expect(pausesOf(pauses, 9, LATER).map(({ id }) => id)).toEqual([3])
})

const grant = aQuota({ id: 64, limit: 10 })
const PAUSED: Enforcement = { observe: false, pauses: pausesByCountry([aPause(1, { until: LATER })]) }

function decided(command: DrawCommand, enforcement = PAUSED, quotas = [grant]) {
  const draft = createDraft(7, quotas, [])
  return { outcome: decide(draft, command, NOW, enforcement), draft }
}

test.each(['check', 'reserve', 'consume'] as const)('a %s is denied, until the end of the pause', op => {
  const { outcome, draft } = decided(aDraw({ op, explain: true }))
  expect(outcome).toEqual({
    outcome: 'denied',
    reason: 'destination_paused',
    remaining: 0,
    limiting_quota_id: null,
    retry_at: LATER,
    pause: { id: 1, until: LATER, reason: 'pumped codes' },
    explanation: [{ quota_id: 64, kind: 'grant', verdict: 'has_headroom', units: 0 }],
  })
  expect(draft.quotas).toEqual([grant])
  expect(draft.usage.map(({ kind, units }) => [kind, units])).toEqual(op === 'check' ? [] : [['destination_paused', 2]])
})

test('without a live grant the reason is no_quota; before a cap it is the pause', () => {
  const reasonOf = (...quotas: (typeof grant)[]) => decided(aDraw(), PAUSED, quotas).outcome
  expect(reasonOf(aQuota({ enabled: false }))).toMatchObject({ reason: 'no_quota', retry_at: null })
  expect(reasonOf(grant, aQuota({ id: 65, kind: 'cap', limit: 0 }))).toMatchObject({ reason: 'destination_paused' })
  expect(reasonOf(aQuota({ limit: 0 }))).toMatchObject({ reason: 'destination_paused', retry_at: LATER })
})

/** What makes each reason hold, of a grant of 10 units that 2 are asked of. */
const CAUSES: Record<DenialReason, (state: State) => State> = {
  no_quota: state => ({ ...state, quotas: state.quotas.filter(({ kind }) => kind === 'cap') }),
  destination_paused: state => ({ ...state, enforcement: PAUSED }),
  cap_reached: state => ({ ...state, quotas: [...state.quotas, aQuota({ id: 65, kind: 'cap', limit: 0 })] }),
  quota_exhausted: state => ({ ...state, quotas: state.quotas.map(quota => ({ ...quota, limit: 0 })) }),
}
type State = { quotas: (typeof grant)[]; enforcement: Enforcement }

test('of the reasons that hold, a denial has the first in their order', () => {
  expect(DENIAL_ORDER.toSorted()).toEqual(DENIAL_REASONS.toSorted())
  for (const allow_partial of [false, true]) {
    for (let set = 1; set < 2 ** DENIAL_ORDER.length; set += 1) {
      const holding = DENIAL_ORDER.filter((_, index) => (set >> index) % 2 === 1)
      const none: State = { quotas: [grant], enforcement: { observe: false } }
      const { quotas, enforcement } = holding.reduce((state, reason) => CAUSES[reason](state), none)
      const { outcome } = decided(aDraw({ allow_partial }), enforcement, quotas)
      expect(outcome, holding.join()).toMatchObject({ outcome: 'denied', reason: holding[0] })
    }
  }
})

test('a part of the units is not granted either', () => {
  expect(decided(aDraw({ allow_partial: true })).outcome).toMatchObject({ reason: 'destination_paused' })
})

test('force passes', () => {
  const { outcome } = decided(aDraw({ force: true }))
  expect(outcome).toMatchObject({ outcome: 'granted', would_deny: null, reservation: { units: 2, force: true } })
})

test('observe mode grants all, and says that it would deny', () => {
  const { outcome, draft } = decided(aDraw(), { ...PAUSED, observe: true })
  const reservation = { units: 2, force: true, would_deny: 'destination_paused' }
  expect(outcome).toMatchObject({ outcome: 'granted', would_deny: 'destination_paused', reservation })
  expect(draft.quotas).toMatchObject([{ used: 2 }])
})

test('a repetition, and what settles a reservation, are not denied', () => {
  const { draft } = decided(aDraw({ op: 'reserve', ttl_ms: 600_000 }), { observe: false })
  const again = decide(draft, aDraw({ op: 'reserve', ttl_ms: 600_000 }), NOW, PAUSED)
  expect(again).toMatchObject({ outcome: 'granted', replayed: true })
  const commit = { op: 'commit', user_id: 7, id: 'm', total_units: null, force: false } as const
  expect(decide(draft, commit, NOW, PAUSED)).toMatchObject({ outcome: 'settled', reservation: { committed: 2 } })
})
