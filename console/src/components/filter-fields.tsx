import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useId, useMemo, useState } from 'react'
import { type NamedUser, userText } from '../model/addresses.ts'
import { countryOfText, countryOptions, dialedCountryLabel } from '../model/countries.ts'
import { matchingOptions, type Option } from '../model/matching-options.ts'
import { meantBy } from '../model/transfers.ts'
import { uint } from '../model/url-parameters.ts'
import { findUsers } from '../queries/profile.ts'
import { texts } from '../texts/texts.ts'

interface FilterWords {
  label: string
  /** Shown while nothing is filtered. */
  all: string
  /** What a text has to be like. */
  error?: string
}

/** Binds filters to parts of the state of a list, by their names. */
export function filtersOf<State>(state: State, onChange: (parts: Partial<State>) => void) {
  return <Name extends keyof State>(name: Name) => ({
    value: state[name],
    onApply: (value: State[Name]) => {
      const parts: Partial<State> = {}
      parts[name] = value
      onChange(parts)
    },
  })
}

interface TextFilterProps {
  words: FilterWords
  /** Null if nothing is filtered. */
  value: string | null
  /** Null for a text that the API would refuse. */
  parse?: (text: string) => string | null
  onApply: (value: string | null) => void
}

/** A pause in typing that applies a filter. */
export const PAUSE_MS = 800

interface TypedProps extends TextFilterProps {
  /** The text of a value. */
  format?: (value: string) => string
  /** Whether a pause applies the text, which Enter and leaving the field do in any case. */
  isComplete?: (text: string) => boolean
  /** The id of the list of suggestions. */
  list?: string
}

/** Applies its text on Enter, blur or a pause, so that the list is not read for each key. */
export function TextFilter({ words: { label, all, error }, value, list, onApply, ...more }: TypedProps) {
  const { parse = text => text, format = text => text, isComplete = () => true } = more
  const shown = value === null ? '' : format(value)
  const [text, setText] = useState(shown)
  const [before, setBefore] = useState(shown)
  // The back button and "Clear filters" change the value without input here. Not in an effect: a pause that ends before it
  // would apply the old text again.
  if (shown !== before) {
    setBefore(shown)
    // A space at the end stays: the next word may follow a pause.
    if (text.trim() !== shown) setText(shown)
  }
  const trimmed = text.trim()
  const parsed = trimmed === '' ? null : trimmed === shown ? value : parse(trimmed)
  const isInvalid = trimmed !== '' && parsed === null
  // A half-typed text is not an error yet.
  const [tried, setTried] = useState('')

  function apply(event?: FormEvent) {
    event?.preventDefault()
    setTried(trimmed)
    if (!isInvalid && parsed !== value) onApply(parsed)
  }
  const applyAfterPause = useDebouncedCallback(() => (trimmed === '' || isComplete(trimmed)) && apply(), PAUSE_MS)
  return (
    <form onSubmit={apply}>
      <TextInput
        label={label}
        size="xs"
        placeholder={all}
        autoComplete="off"
        maxLength={200}
        list={list}
        value={text}
        onChange={event => {
          setText(event.currentTarget.value)
          applyAfterPause()
        }}
        onBlur={() => apply()}
        error={isInvalid && tried === trimmed && error}
      />
    </form>
  )
}

interface UserFilterProps {
  value: number | null
  onApply: (user_id: number | null) => void
}

const optionOf = (user: NamedUser) => userText(user, String(user.user_id))

/** Takes a user by id, or by a name or reference, for which it asks the service. Of several it suggests those. */
export function UserFilter({ value, onApply }: UserFilterProps) {
  const id = useId()
  const search = useMutation({ mutationFn: findUsers })
  const found = search.data ?? []
  const { label, all, none, several } = texts.components.userFilter
  // What names no single user, until another text is applied.
  const failed = search.isError || (search.isSuccess && meantBy(search.variables, found) === undefined)
  const idOf = (text: string) => uint(text) ?? found.find(user => optionOf(user) === text)?.user_id ?? null

  function apply(text: string | null) {
    const user_id = text === null ? null : idOf(text)
    // An answer that is late does not replace what was typed since.
    search.reset()
    if (text === null || user_id !== null) return onApply(user_id)
    search.mutate(text, {
      onSuccess: users => {
        const user = meantBy(text, users)
        if (user !== undefined) onApply(user.user_id)
      },
    })
  }
  return (
    <>
      <TextFilter
        words={{
          label,
          all,
          error: search.isError ? texts.components.errors.loadingFailed : found.length === 0 ? none : several,
        }}
        value={value === null ? null : String(value)}
        parse={text => (failed && text === search.variables ? null : text)}
        list={id}
        onApply={apply}
      />
      <datalist id={id}>
        {found.map(user => (
          <option key={user.user_id} value={optionOf(user)} />
        ))}
      </datalist>
    </>
  )
}

/** Takes a country by its name, code or calling code, and suggests those that match. */
export function CountryFilter({ value, onApply }: Pick<TextFilterProps, 'value' | 'onApply'>) {
  const id = useId()
  const options = useMemo(() => countryOptions(value === null ? [] : [value]), [value])
  return (
    <>
      <TextFilter
        words={texts.components.countryFilter}
        value={value}
        parse={text => countryOfText(text) ?? firstNamed(options, text)}
        format={dialedCountryLabel}
        isComplete={text => options.some(option => option.label === text)}
        list={id}
        onApply={onApply}
      />
      <datalist id={id}>
        {options.map(option => (
          <option key={option.value} value={option.label} />
        ))}
      </datalist>
    </>
  )
}

/** As in other fields of countries, Enter takes the first whose name matches. A calling code may be that of several. */
function firstNamed(options: readonly Option[], text: string): string | null {
  return /^\p{L}/u.test(text) ? (matchingOptions(options, text)[0]?.value ?? null) : null
}

interface ChoiceFilterProps<Value extends string> {
  words: FilterWords
  choices: readonly Value[]
  labels: Readonly<Record<Value, string>>
  value: Value | null
  onApply: (value: Value | null) => void
}

/** Filters a list by one of a few values. */
export function ChoiceFilter<Value extends string>(props: ChoiceFilterProps<Value>) {
  const { words, choices, labels, value, onApply } = props
  return (
    <NativeSelect
      label={words.label}
      size="xs"
      value={value ?? ''}
      data={[{ value: '', label: words.all }, ...choices.map(choice => ({ value: choice, label: labels[choice] }))]}
      onChange={({ currentTarget }) => onApply(choices.find(choice => choice === currentTarget.value) ?? null)}
    />
  )
}

/** The button that ends all filters of a list, while there are some. */
export function ClearFilters({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  return (
    isFiltered && (
      <Button variant="subtle" size="xs" onClick={onClear}>
        {texts.components.clearFilters}
      </Button>
    )
  )
}
