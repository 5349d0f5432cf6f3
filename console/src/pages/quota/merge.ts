import type { Api } from '../../api/types.ts'
import { EDITABLE, type Editable, isSame, settingsOf, type Typed, typedOf } from './typed.ts'

type Quota = Api['SmsQuota']

/** Whose value of a setting is kept. */
export type Side = 'mine' | 'theirs'

/** A setting in which what was typed and what somebody else saved meanwhile are not the same. */
export interface Difference {
  name: Editable
  /** Who changed it; if both did, somebody has to choose. */
  by: 'me' | 'them' | 'both'
}

/** @param was the quota that the form began with @param theirs the quota as it is now */
export function differencesOf(typed: Typed, was: Quota, theirs: Quota): Difference[] {
  const mine = settingsOf(typed, was)
  return EDITABLE.filter(name => !isSame(mine[name], theirs[name])).map(name => {
    const isMine = !isSame(mine[name], was[name])
    const isTheirs = !isSame(theirs[name], was[name])
    return { name, by: isMine && isTheirs ? 'both' : isMine ? 'me' : 'them' }
  })
}

/** Their quota in the form, with those settings as they were typed. */
export function merged(typed: Typed, theirs: Quota, keptMine: readonly Editable[]): Typed {
  const isKept = (name: Editable) => keptMine.includes(name)
  const own = Object.fromEntries(keptMine.map(name => [name, typed[name]]))
  return { ...typedOf(theirs), ...own, ...(isKept('limit') ? { is_unlimited: typed.is_unlimited } : {}) }
}
