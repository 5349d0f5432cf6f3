import type { Api } from '../api/types.ts'

type Profile = Api['UserProfile']

/** The fields of a profile, in the order of the form. */
export const PROFILE_FIELDS = ['ref', 'name', 'email', 'language', 'time_zone', 'rate_card_id'] as const
export type ProfileField = (typeof PROFILE_FIELDS)[number]

/** What the user has typed; a field that is left out is as it is saved. */
export type ProfileInput = { readonly [Field in ProfileField]?: string }

/** The text of a field. */
export function profileText(field: ProfileField, input: ProfileInput, saved: Profile): string {
  return (isFixed(field, saved) ? undefined : input[field]) ?? savedText(field, saved) ?? ''
}

/** A reference never changes once it is set. */
export function isFixed(field: ProfileField, saved: Profile): boolean {
  return field === 'ref' && saved.ref !== null
}

/** The text of a field as it is saved: of a rate card its id. */
export function savedText(field: ProfileField, saved: Partial<Profile>): string | null {
  const value = saved[field] ?? null
  return value === null ? null : String(value)
}

/** What a save changes: an empty text clears the field. */
export function changedProfile(input: ProfileInput, saved: Profile) {
  const { rate_card_id, ...others }: Record<string, string | null> = changedTexts(input, saved)
  return rate_card_id === undefined ? others : { ...others, rate_card_id: rate_card_id && Number(rate_card_id) }
}

function changedTexts(input: ProfileInput, saved: Profile): Record<string, string | null> {
  const changed = PROFILE_FIELDS.filter(field => !isFixed(field, saved) && input[field] !== undefined)
    .map(field => [field, input[field]?.trim() || null] as const)
    .filter(([field, value]) => value !== savedText(field, saved))
  return Object.fromEntries(changed)
}

/** The fields that the user has typed into and that another save has changed since the form was opened. */
export function changedMeanwhile(input: ProfileInput, opened: Profile, saved: Profile): ProfileField[] {
  return PROFILE_FIELDS.filter(field => field in changedProfile(input, saved) && opened[field] !== saved[field])
}
