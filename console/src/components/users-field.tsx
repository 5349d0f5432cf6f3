import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type NamedUser, userText } from '../model/addresses.ts'
import type { Option } from '../model/matching-options.ts'
import { searchedReceiver } from '../model/transfers.ts'
import { uint } from '../model/url-parameters.ts'
import { useNamedUsers } from '../queries/profile.ts'
import { userSearchQuery } from '../queries/quotas.ts'
import { ChoicesField } from './choice-field.tsx'
import type { FieldProps } from './text-field.tsx'

/** A pause in typing after which users are searched. */
const PAUSE_MS = 200

/** Users who are chosen by id, or by the beginning of a reference or a name. */
export function UsersField({ label, about, value, onChange, error }: FieldProps<readonly number[]>) {
  const [text, setText] = useState('')
  const [searched] = useDebouncedValue(searchedReceiver(text), PAUSE_MS)
  const found = useQuery({ ...userSearchQuery(searched), enabled: searched !== '' })
  const typed = uint(text.trim())
  const chosen = useNamedUsers(value)
  const others = [
    // First, because it is meant; and the service may know nothing of the user yet.
    ...(typed === null ? [] : [{ user_id: typed }]),
    ...(searched === '' ? [] : (found.data?.users ?? [])),
  ]
  const isSearched = searched === searchedReceiver(text) && found.isFetched && !found.isPlaceholderData
  return (
    <ChoicesField
      label={label}
      about={about}
      options={optionsOf([...chosen, ...others])}
      // They are found by more than what is shown of them.
      search={{ onType: setText, isFound: typed !== null || isSearched }}
      value={value.map(String)}
      onChange={users => onChange(users.map(Number))}
      error={error}
    />
  )
}

/** Each user once. */
function optionsOf(users: readonly NamedUser[]): Option[] {
  const labels = new Map<string, string>()
  for (const user of users) {
    const id = String(user.user_id)
    // The name may be known of one that was found only.
    if ((labels.get(id) ?? id) === id) labels.set(id, userText(user, id))
  }
  return [...labels].map(([value, label]) => ({ value, label }))
}
