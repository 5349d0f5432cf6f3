/** What the form of a profile changes. */
import { expect, test } from 'vitest'
import { changedMeanwhile, changedProfile, profileText } from '../../console/src/model/profile-form.ts'

const PROFILE = {
  user_id: 7,
  ref: 'r-7',
  name: 'Ann',
  email: null,
  language: null,
  time_zone: 'UTC',
  rate_card_id: null,
  version: 3,
  updated_at: null,
  updated_by: null,
}

test('a form sends what was changed, clears what is empty, and never sends a reference that is set', () => {
  expect(changedProfile({ ref: 'other', name: ' Bea ', email: '', time_zone: '', language: 'de' }, PROFILE)).toEqual({
    name: 'Bea',
    language: 'de',
    time_zone: null,
  })
  expect(changedProfile({ ref: 'r-8' }, { ...PROFILE, ref: null })).toEqual({ ref: 'r-8' })
  expect(profileText('ref', { ref: 'other' }, PROFILE)).toBe('r-7')
  expect(profileText('name', { name: '' }, PROFILE)).toBe('')
})

test('a rate card is sent by its number, and none as null', () => {
  expect(changedProfile({ rate_card_id: '5' }, PROFILE)).toEqual({ rate_card_id: 5 })
  expect(changedProfile({ rate_card_id: '' }, { ...PROFILE, rate_card_id: 5 })).toEqual({ rate_card_id: null })
  expect(changedProfile({ rate_card_id: '5' }, { ...PROFILE, rate_card_id: 5 })).toEqual({})
  expect(profileText('rate_card_id', {}, { ...PROFILE, rate_card_id: 5 })).toBe('5')
})

test('fields that another save has changed are named, if the form would replace them', () => {
  const saved = { ...PROFILE, name: 'Cem', language: 'en' }
  expect(changedMeanwhile({ name: 'Bea', email: 'a@b' }, PROFILE, saved)).toEqual(['name'])
  expect(changedMeanwhile({ name: 'Cem' }, PROFILE, saved)).toEqual([])
})
