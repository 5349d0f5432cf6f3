import type { Api } from '../../api/types.ts'
import { EDITABLE, type Editable, type FormValues, formValuesOf, isSame, settingsOf } from './form-values.ts'

type Quota = Api['SmsQuota']

/** Whose value of a setting is kept. */
export type Side = 'mine' | 'theirs'

/** A setting whose form value differs from the saved value. */
export interface Difference {
  name: Editable
  /** Who changed it; the user chooses if both did. */
  by: 'me' | 'them' | 'both'
}

/** @param original the quota that the form is based on @param theirs the quota as saved now */
export function differencesOf(values: FormValues, original: Quota, theirs: Quota): Difference[] {
  const mine = settingsOf(values, original)
  return EDITABLE.filter(name => !isSame(mine[name], theirs[name])).map(name => {
    const isMine = !isSame(mine[name], original[name])
    const isTheirs = !isSame(theirs[name], original[name])
    return { name, by: isMine && isTheirs ? 'both' : isMine ? 'me' : 'them' }
  })
}

/** Form values of their version, with the settings of `keptMine` from the form. */
export function merged(values: FormValues, theirs: Quota, keptMine: readonly Editable[]): FormValues {
  const isKept = (name: Editable) => keptMine.includes(name)
  const own = Object.fromEntries(keptMine.map(name => [name, values[name]]))
  return { ...formValuesOf(theirs), ...own, ...(isKept('limit') ? { is_unlimited: values.is_unlimited } : {}) }
}
