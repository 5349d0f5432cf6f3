import { NativeSelect, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useId, useMemo, useState } from 'react'
import { countryOfText, countryOptions, dialedCountryLabel } from '../model/countries.ts'
import { receiverOf } from '../model/transfers.ts'
import { userIdOf } from '../queries/profile.ts'
import { texts } from '../texts/texts.ts'

interface TextFilterProps {
  label: string
  placeholder: string
  /** Null if nothing is filtered. */
  value: string | null
  /** Null for a text that the API would refuse. */
  parse?: (text: string) => string | null
  error?: string
  isNumber?: boolean
  onApply: (value: string | null) => void
}

/** A pause in typing that applies a filter. */
const PAUSE_MS = 800

interface TypedProps extends TextFilterProps {
  /** The text of a value. */
  format?: (value: string) => string
  /** Whether a pause applies the text, which Enter and leaving the field do in any case. */
  isComplete?: (text: string) => boolean
  /** The id of the list of suggestions. */
  list?: string
}

/** Applies its text on Enter, blur or a pause, so that the list is not read for each key. */
export function TextFilter({ label, placeholder, value, error, isNumber = false, list, onApply, ...more }: TypedProps) {
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

  function apply(event?: FormEvent) {
    event?.preventDefault()
    if (!isInvalid && parsed !== value) onApply(parsed)
  }
  const applyAfterPause = useDebouncedCallback(() => (trimmed === '' || isComplete(trimmed)) && apply(), PAUSE_MS)
  return (
    <form onSubmit={apply}>
      <TextInput
        label={label}
        size="xs"
        placeholder={placeholder}
        autoComplete="off"
        maxLength={200}
        list={list}
        value={text}
        onChange={event => {
          setText(event.currentTarget.value)
          applyAfterPause()
        }}
        onBlur={() => apply()}
        error={isInvalid && error}
        {...(isNumber ? { inputMode: 'numeric' } : {})}
      />
    </form>
  )
}

interface UserFilterProps extends Pick<TextFilterProps, 'label' | 'placeholder'> {
  value: number | null
  onApply: (user_id: number | null) => void
}

/** Takes a user by id, or by ref: and a reference, of which it asks the service the id. */
export function UserFilter({ value, onApply, ...labels }: UserFilterProps) {
  const search = useMutation({ mutationFn: userIdOf })
  const { error, unknownReference } = texts.components.userFilter
  // Of a reference that was not found, until another is applied.
  const failed = search.isError ? search.variables : null

  function parse(text: string): string | null {
    const named = receiverOf(text)
    return named === null || ('ref' in named && named.ref === failed) ? null : text
  }
  function apply(text: string | null) {
    // An answer that is late does not replace what was typed since.
    search.reset()
    const named = text === null ? null : receiverOf(text)
    if (named === null) onApply(null)
    else if ('user_id' in named) onApply(named.user_id)
    else search.mutate(named.ref, { onSuccess: onApply })
  }
  return (
    <TextFilter
      {...labels}
      value={value === null ? null : String(value)}
      parse={parse}
      error={failed === null ? error : unknownReference}
      onApply={apply}
    />
  )
}

/** Takes a country by its name, code or calling code, and suggests those that match. */
export function CountryFilter({ value, onApply }: Pick<TextFilterProps, 'value' | 'onApply'>) {
  const id = useId()
  const options = useMemo(() => countryOptions(value === null ? [] : [value]), [value])
  const { label, all, error } = texts.components.countryFilter
  return (
    <>
      <TextFilter
        label={label}
        placeholder={all}
        value={value}
        parse={countryOfText}
        error={error}
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

interface ChoiceFilterProps<Value extends string> {
  label: string
  /** The choice of null. */
  all: string
  choices: readonly Value[]
  labels: Readonly<Record<Value, string>>
  value: Value | null
  onApply: (value: Value | null) => void
}

/** Filters a list by one of a few values. */
export function ChoiceFilter<Value extends string>(props: ChoiceFilterProps<Value>) {
  const { label, all, choices, labels, value, onApply } = props
  return (
    <NativeSelect
      label={label}
      size="xs"
      value={value ?? ''}
      data={[{ value: '', label: all }, ...choices.map(choice => ({ value: choice, label: labels[choice] }))]}
      onChange={({ currentTarget }) => onApply(choices.find(choice => choice === currentTarget.value) ?? null)}
    />
  )
}
