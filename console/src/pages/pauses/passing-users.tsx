import { MultiSelect } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, type ReactNode, useState } from 'react'
import { type NamedUser, userText } from '../../model/addresses.ts'
import { searchedReceiver } from '../../model/transfers.ts'
import { uint } from '../../model/url-parameters.ts'
import { useNamedUsers } from '../../queries/profile.ts'
import { userSearchQuery } from '../../queries/quotas.ts'
import { texts } from '../../texts/texts.ts'

/** A pause in typing after which users are searched. */
const PAUSE_MS = 200

interface PassingUsersProps {
  value: readonly number[]
  about: ReactNode
  onChange: (users: number[]) => void
  onKeyDown: (event: KeyboardEvent) => void
}

/** Users who are chosen by id, or by the beginning of a reference or a name. */
export function PassingUsers({ value, about, onChange, onKeyDown }: PassingUsersProps) {
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
      label={texts.breaker.form.users}
      description={about}
      data={optionsOf([...chosen, ...others])}
      // They are found by more than what is shown of them.
      filter={({ options }) => options}
      value={value.map(String)}
      onChange={users => onChange(users.map(Number))}
      searchValue={text}
      onSearchChange={setText}
      onKeyDown={onKeyDown}
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
