import { MultiSelect } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type NamedUser, userText } from '../model/addresses.ts'
import { searchedReceiver } from '../model/transfers.ts'
import { uint } from '../model/url-parameters.ts'
import { useNamedUsers } from '../queries/profile.ts'
import { userSearchQuery } from '../queries/quotas.ts'
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
    ...(searched === '' ? [] : (found.data?.users ?? [])),
    // The service may know nothing of the user yet.
    ...(typed === null ? [] : [{ user_id: typed }]),
  ]
  return (
    <MultiSelect
      label={label}
      description={about}
      data={optionsOf([...chosen, ...others])}
      // They are found by more than what is shown of them.
      filter={({ options }) => options}
      value={value.map(String)}
      onChange={users => onChange(users.map(Number))}
      error={error}
      searchValue={text}
      onSearchChange={setText}
      // Enter takes one of the list, and saves nothing.
      onKeyDown={event => event.key === 'Enter' && event.preventDefault()}
      searchable
      hidePickedOptions
    />
  )
}

/** Each user once. */
function optionsOf(users: readonly NamedUser[]): { value: string; label: string }[] {
  const labels = new Map<string, string>()
  for (const user of users) {
    const id = String(user.user_id)
    if (!labels.has(id)) labels.set(id, userText(user, id))
  }
  return [...labels].map(([value, label]) => ({ value, label }))
}
