/** Plans as people type them, and what a roll-out would do in words. */
import { join } from 'node:path'
import { Value } from 'typebox/value'
import { expect, test } from 'vitest'
import { NOTHING_DONE } from '../../console/src/model/job.ts'
import {
  changedPlan,
  emptyPlan,
  type PlanValues,
  planBodyOf,
  planValuesOf,
  rebasedPlan,
  SLOT_PRESETS,
  type Surroundings,
  samplePlan,
  slotDifferences,
  withSlot,
} from '../../console/src/model/plan-form.ts'
import {
  endAfterBreak,
  previewSentences,
  progressOf,
  progressOfList,
  type RollOutCounts,
  usersIn,
} from '../../console/src/model/roll-out.ts'
import { CreatePlanReq } from '../../src/contract/plans.ts'
import { COUNTRIES } from '../../src/domain/messages/country.ts'
import { type PlanSlot, type SlotDraft, slotIssues, slotOf } from '../../src/domain/plans/plan.ts'
import { PROJECT } from '../support/paths.ts'

// Imported dynamically, because their types need the DOM.
const textsOf = async (language: string) =>
  (await import(join(PROJECT, `console/src/texts/${language}/plans.tsx`))).plans
const [en, de] = await Promise.all(['en', 'de'].map(textsOf))

const WHERE: Surroundings = { time_zone: 'Europe/Berlin', countries: ['DE'], names: en.presets }
const SAMPLE = samplePlan('Basic', WHERE)

const MARKS = { id: 1, version: 3, archived: false, created_by: '1', updated_by: '1' }
const AT = { created_at: '2026-03-01T00:00:00.000Z', updated_at: '2026-03-02T00:00:00.000Z' }
/** A plan as the API shows it. */
const planWith = (slots: readonly SlotDraft[]) => ({
  ...MARKS,
  ...AT,
  name: 'Basic',
  is_default: false,
  rate_card_id: null,
  slots: slots.map(slot => shown(slotOf(slot))),
})
function shown({ countries, message_types, alert_at, metadata, ...slot }: PlanSlot) {
  const lists = { countries: countries && [...countries], message_types: message_types && [...message_types] }
  return { ...slot, ...lists, alert_at: [...alert_at], metadata: { ...metadata } }
}

/** Every field of a slot with another value than its default. */
const FULL: SlotDraft = {
  slot: 'full',
  lasts_days: 30,
  period: 'month',
  anchor: '15',
  time_zone: 'Asia/Tokyo',
  name: 'Full',
  limit: 500,
  rollover_limit: 50,
  overage_limit: 5,
  priority: 7,
  countries: ['AT', 'DE'],
  message_types: ['otp'],
  alert_at: [50],
  metadata: { tier: 'gold' },
}

test('the sample is a package with a cap a day, and a lower one for all countries but one’s own', () => {
  expect(planBodyOf(SAMPLE)).toEqual({
    name: 'Basic',
    is_default: false,
    rate_card_id: null,
    slots: [
      { slot: 'monthly', name: 'Monthly package', limit: 100, period: 'month', time_zone: 'Europe/Berlin' },
      { slot: 'daily', kind: 'cap', name: 'Daily cap', limit: 50, period: 'day', time_zone: 'Europe/Berlin' },
      {
        slot: 'abroad',
        kind: 'cap',
        name: 'Daily cap abroad',
        limit: 10,
        period: 'day',
        time_zone: 'Europe/Berlin',
        countries: [...COUNTRIES].filter(code => code !== 'DE').toSorted(),
      },
    ],
  })
})

test('the first preset takes the place of the empty quota, until something is typed into it', () => {
  const presets = ['monthly', 'daily'] as const
  const slotsOf = (plan: PlanValues) => plan.slots.map(({ slot }) => slot)
  const empty = emptyPlan(WHERE)
  expect(slotsOf(presets.reduce((plan, preset) => withSlot(plan, preset, WHERE), empty))).toEqual(['monthly', 'daily'])
  const [first] = empty.slots
  const typed = { ...empty, slots: empty.slots.map(slot => ({ ...slot, quota: { ...slot.quota, limit: '5' } })) }
  expect(slotsOf(withSlot(typed, 'monthly', WHERE))).toEqual([first?.slot, 'monthly'])
})

test('the API takes each preset, twice, as it is', () => {
  const all = [...SLOT_PRESETS, ...SLOT_PRESETS].reduce((plan, preset) => withSlot(plan, preset, WHERE), SAMPLE)
  const slots = all.slots.map(slot => ({ ...slot, quota: { ...slot.quota, limit: slot.quota.limit || '5' } }))
  const body = planBodyOf({ ...all, slots })
  expect([...Value.Errors(CreatePlanReq, body)]).toEqual([])
  const drafts = Value.Parse(CreatePlanReq, body).slots
  expect(slotIssues(drafts.map(slotOf))).toEqual([])
  expect(new Set(drafts.map(({ slot }) => slot)).size).toBe(SAMPLE.slots.length + 2 * SLOT_PRESETS.length)
})

test('a plan without a limit is sent without one, for the service to say so', () => {
  expect(planBodyOf(emptyPlan(WHERE)).slots).toEqual([{ slot: 'quota' }])
})

const CODES = { slot: 'codes', kind: 'cap', per: 'recipient', counts: 'units', limit: 3, period: 'hour' } as const
const PLAN = planWith([
  FULL,
  { slot: 'plain', limit: null },
  { slot: 'cap', kind: 'cap', limit: 3, period: 'day' },
  CODES,
])
const edited = (change: (values: PlanValues) => Partial<PlanValues>) => {
  const values = planValuesOf(PLAN)
  return changedPlan({ ...values, ...change(values) }, PLAN)
}

test('a form that is not touched changes no field of its slots', () => {
  expect(edited(() => ({}))).toEqual({})
  expect(Object.keys(FULL).toSorted()).toEqual(
    Object.keys(slotOf(FULL))
      .filter(name => !['kind', 'per', 'counts'].includes(name))
      .toSorted(),
  )
  const { slots } = planBodyOf(planValuesOf(PLAN))
  expect(slots[0]).toEqual(FULL)
  // What no field of the form shows stays as well.
  expect(slots[3]).toEqual(expect.objectContaining(CODES))
})

test('only what was changed is sent, and the slots as a whole', () => {
  expect(edited(() => ({ is_default: true }))).toEqual({ is_default: true })
  expect(edited(() => ({ name: 'Pro' }))).toEqual({ name: 'Pro' })
  const { slots, ...rest } = edited(values => ({
    slots: values.slots
      .slice(0, 2)
      .map(slot => ({ ...slot, quota: { ...slot.quota, is_unlimited: false, limit: '9' } })),
  }))
  expect(rest).toEqual({})
  expect(slots).toEqual([
    { ...FULL, limit: 9 },
    { slot: 'plain', limit: 9 },
  ])
})

test('changes go on top of what others have saved, slot by slot', () => {
  const draft = (slot: string, limit: number): SlotDraft => ({ slot, limit })
  const original = planWith([draft('a', 1), draft('b', 1), draft('c', 1), draft('d', 1)])
  const theirs = { ...planWith([draft('a', 2), draft('b', 2), draft('d', 1), draft('e', 5)]), name: 'Theirs' }
  // Raised by both: b. Raised here: d. Dropped here: a, which they raised. They dropped c, and added e.
  const mine = planValuesOf(planWith([draft('b', 3), draft('c', 1), draft('d', 3), draft('f', 6)]))
  const { values, changedByBoth } = rebasedPlan(mine, original, theirs)
  expect(planBodyOf(values)).toEqual({
    name: 'Theirs',
    is_default: false,
    rate_card_id: null,
    slots: [draft('b', 3), draft('d', 3), draft('e', 5), draft('f', 6)],
  })
  expect(changedByBoth).toEqual(['a', 'b'])
  expect(rebasedPlan({ ...mine, name: 'Mine' }, original, theirs).changedByBoth).toEqual(['name', 'a', 'b'])
  expect(rebasedPlan(planValuesOf(original), original, theirs)).toMatchObject({ changedByBoth: [] })
  expect(changedPlan(rebasedPlan(planValuesOf(original), original, theirs).values, theirs)).toEqual({})
})

test('differences name slots that are new, gone or changed', () => {
  const [full, plain, cap] = PLAN.slots
  const [raised] = planWith([{ ...FULL, limit: 900 }]).slots
  if (full === undefined || plain === undefined || cap === undefined || raised === undefined)
    throw new Error('no slots')
  expect(slotDifferences([full, plain], [raised, plain, cap])).toEqual([
    { slot: 'full', before: full, after: raised },
    { slot: 'cap', before: null, after: cap },
  ])
  expect(slotDifferences([full, plain], [plain])).toEqual([{ slot: 'full', before: full, after: null }])
})

const counts = (users: Partial<RollOutCounts['users']>, quotas: Partial<RollOutCounts['quotas']>, exhausted = 0) => ({
  users: { changed: 0, unchanged: 0, left_out: 0, failed: 0, ...users },
  quotas: { made: 0, changed: 0, ended: 0, stay: 0, kept: 0, ...quotas },
  exhausted,
  carried: 0,
  again: 0,
})

test.each([
  ['en', en, counts({}, {}), ['0 users change.']],
  [
    'en',
    en,
    counts({ changed: 4_112, unchanged: 2, failed: 1 }, { made: 3, changed: 4_109, ended: 1, kept: 12 }, 37),
    [
      '4,112 users change; 37 would be over their new limit; 12 quotas keep values that were changed by hand; 2 users already have all of it; 1 user cannot get it.',
      '3 quotas new; 4,109 quotas changed, with what is used of them; 1 quota ended.',
    ],
  ],
  [
    'en',
    en,
    counts({ changed: 1 }, { changed: 1, kept: 1 }),
    ['1 user changes; 1 quota keeps a value that was changed by hand.', '1 quota changed, with what is used of them.'],
  ],
  [
    'de',
    de,
    counts({ changed: 2 }, { made: 2, kept: 1 }, 1),
    [
      '2 Benutzer ändern sich; 1 läge über dem neuen Limit; 1 Kontingent behält einen Wert, der von Hand geändert wurde.',
      '2 Kontingente neu.',
    ],
  ],
])('%s: a preview in words', (_language, { rollOut: { words } }, found, sentences) => {
  expect(previewSentences(found, words)).toEqual(sentences)
})

test('progress adds up over breaks, and tries those again who could not get it', () => {
  const first = progressOf(NOTHING_DONE, counts({ changed: 30, unchanged: 2, failed: 1 }, {}), [])
  expect(first).toMatchObject({ done: 33, counts: { changed: 30, unchanged: 2 }, failed: 1 })
  const second = progressOf(first, counts({ changed: 60, failed: 1 }, {}), [])
  expect(second).toMatchObject({ done: 93, counts: { changed: 90, unchanged: 2 }, failed: 1 })
  // Seven got it just before the break, and no answer counted them.
  expect(endAfterBreak(second, 100)).toMatchObject({ done: 100, counts: { changed: 97, unchanged: 2 }, failed: 1 })
  expect(endAfterBreak(second, 90)).toMatchObject({ done: 93, counts: { changed: 90 } })
})

test('progress of a list counts those as changed who got it before a break', () => {
  const listed = { unchanged: 2 }
  expect(progressOfList(listed, counts({ changed: 30, unchanged: 2 }, {}), [])).toMatchObject({
    done: 32,
    counts: { changed: 30, unchanged: 2 },
  })
  expect(progressOfList(listed, counts({ changed: 5, unchanged: 32, failed: 1 }, {}), [])).toMatchObject({
    done: 38,
    counts: { changed: 35, unchanged: 2 },
    failed: 1,
  })
})

test('a list of users, and what in it names none', () => {
  expect(usersIn(' 7, 8\n8;ref:nine\t')).toEqual({
    users: [{ user_id: 7 }, { user_id: 8 }, { ref: 'nine' }],
    wrong: [],
  })
  expect(usersIn('7 Ada ref: 1.5')).toEqual({ users: [{ user_id: 7 }], wrong: ['Ada', 'ref:', '1.5'] })
  expect(usersIn(' \n')).toEqual({ users: [], wrong: [] })
})
