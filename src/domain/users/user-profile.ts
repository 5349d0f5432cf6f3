/** What another system knows of a user. Personal data: it is exported and erased with the user, and never logged. */
import type { EpochMs } from '../time/time.ts'

/** In the place of an id, where a check is decided as if its user were made: no number, so the id of no user. */
export const NO_USER_ID = Number.NaN

/**
 * What programs write in place of a value that they do not have, also behind the beginning of a reference (`customer-undefined`): the empty values of
 * languages, an empty UUID, and a template that was not filled in.
 */
const MISSING =
  /(?:^|[-_:./#])(?:undefined|null|nan)$|^(?:none|nil|n\/a|\(null\)|<(?:nil|null|none)>|0{8}-(?:0{4}-){3}0{12}|%[dsv]|.*(?:\$\{|\{\{|<%).*|\[object.*)$/i

/** Whether a reference stands for a missing value. It has no blanks, so there is no `[object Object]`. */
export function isMissingValue(ref: string): boolean {
  return MISSING.test(ref)
}

/** All that may be set; null: it is not. */
interface ProfileFields {
  /** What names the user in calls, unique among all users. Immutable once set. */
  ref: string | null
  name: string | null
  email: string | null
  language: string | null
  time_zone: string | null
  /** The rate card that was negotiated with the user. */
  rate_card_id: number | null
}

export interface UserProfile extends ProfileFields {
  user_id: number
  /** Numbers the changes, from 1; 0: nothing was ever set. */
  version: number
  updated_at: EpochMs | null
  updated_by: string | null
}

export type ProfilePatch = { [Field in keyof ProfileFields]?: ProfileFields[Field] | undefined }

export type ProfileChange = { outcome: 'changed' | 'unchanged'; profile: UserProfile } | { outcome: 'immutable_ref' }

/** The profile of a user before anything is set. */
export function emptyProfile(userId: number) {
  return {
    user_id: userId,
    ref: null,
    name: null,
    email: null,
    language: null,
    time_zone: null,
    rate_card_id: null,
    version: 0,
    updated_at: null,
    updated_by: null,
  } satisfies UserProfile
}

/** Merges: fields that the patch omits stay, and null clears. The reference cannot be cleared or replaced. */
export function changeProfile(
  before: UserProfile,
  patch: ProfilePatch,
  { now, actor }: { now: EpochMs; actor: string },
): ProfileChange {
  const { ref = before.ref, name = before.name, email = before.email } = patch
  const { language = before.language, time_zone = before.time_zone, rate_card_id = before.rate_card_id } = patch
  if (before.ref !== null && ref !== before.ref) return { outcome: 'immutable_ref' }
  const isSame =
    ref === before.ref &&
    name === before.name &&
    email === before.email &&
    language === before.language &&
    time_zone === before.time_zone &&
    rate_card_id === before.rate_card_id
  if (isSame) return { outcome: 'unchanged', profile: before }
  const marks = { version: before.version + 1, updated_at: now, updated_by: actor }
  return {
    outcome: 'changed',
    profile: { user_id: before.user_id, ref, name, email, language, time_zone, rate_card_id, ...marks },
  }
}
