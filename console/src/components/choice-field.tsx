import { MultiSelect, Select } from '@mantine/core'
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { matchingOptions, type Option } from '../model/matching-options.ts'
import { texts } from '../texts/texts.ts'
import { focusFirstError } from './form-errors.ts'
import type { FieldProps } from './text-field.tsx'

/** Entries shown at a time; more are found by typing more. */
const MAX_SHOWN = 40

interface ChoicesFieldProps extends FieldProps<readonly string[]> {
  options: readonly Option[]
  isRequired?: boolean
  placeholder?: string
  /** Searches the options elsewhere; without it they are filtered by their labels. */
  search?: {
    onType: (text: string) => void
    /** Whether the options are those of the text. */
    isFound: boolean
  }
}

/** Several entries of a list, which are found by typing. */
export function ChoicesField({ label, about, value, onChange, error, options, search, ...more }: ChoicesFieldProps) {
  const { isRequired = false, placeholder = '' } = more
  const typed = useTyped(search?.isFound, search?.onType)
  const others = options.filter(option => !value.includes(option.value))
  const found = search === undefined ? matchingOptions(others, typed.text ?? '') : others
  return (
    <MultiSelect
      {...typed.props}
      label={label}
      description={about}
      data={[...options]}
      value={[...value]}
      onChange={onChange}
      error={typed.error ?? error}
      required={isRequired}
      placeholder={placeholder}
      searchValue={typed.text ?? ''}
      onSearchChange={typed.change}
      filter={() => found.slice(0, MAX_SHOWN)}
      hidePickedOptions
    />
  )
}

interface ChoiceFieldProps extends FieldProps<string> {
  groups: { group: string; items: string[] }[]
}

/** One entry of a list, which is found by typing. */
export function ChoiceField({ label, about, value, onChange, error, groups }: ChoiceFieldProps) {
  const typed = useTyped()
  return (
    <Select
      {...typed.props}
      label={label}
      description={about}
      data={groups}
      value={value}
      onChange={chosen => chosen !== null && onChange(chosen)}
      error={typed.error ?? error}
      searchValue={typed.text ?? value}
      onSearchChange={text => typed.change(text === value ? null : text)}
      onFocus={event => {
        typed.props.onFocus()
        // Typing replaces the text, to start a new search.
        event.currentTarget.select()
      }}
      limit={MAX_SHOWN}
      allowDeselect={false}
    />
  )
}

/**
 * What is typed into a field with a list. The first match is the active one, Enter takes it and never submits the form.
 * Text that is left is an error, and the form is not submitted: it would save something else than what the user reads.
 *
 * @param isFound whether the list has what the text finds
 */
function useTyped(isFound = true, onType?: (text: string) => void) {
  const input = useRef<HTMLInputElement>(null)
  const isFocused = useRef(false)
  // Null if nothing was typed since an entry was chosen.
  const [text, setText] = useState<string | null>(null)
  const [isLeft, setLeft] = useState(false)
  const matched = isFound && text !== null ? text : ''
  const [shown, setShown] = useState('')
  // Before the next key, which may delete the text.
  useLayoutEffect(() => setShown(matched), [matched])
  useEffect(() => {
    const form = input.current?.form
    if (!isLeft || !form) return
    // React listens further out, so no form has to ask.
    const refuse = (event: SubmitEvent) => {
      event.preventDefault()
      event.stopPropagation()
      focusFirstError(form)
    }
    form.addEventListener('submit', refuse)
    return () => form.removeEventListener('submit', refuse)
  }, [isLeft])

  function type(next: string | null) {
    setText(next)
    setLeft(false)
    onType?.(next ?? '')
  }
  function leave() {
    isFocused.current = false
    if (text === null || text.trim() === '') type(null)
    else setLeft(true)
  }
  return {
    text,
    // Mantine deletes the text as the field is left.
    change: (next: string | null) => isFocused.current && type(next),
    error: isLeft && text !== null ? texts.choice.notChosen(text.trim()) : undefined,
    props: {
      ref: input,
      searchable: true,
      // Only while the matches are new: after the text is deleted, Enter would take the first entry of all.
      selectFirstOptionOnChange: matched !== shown && matched !== '',
      nothingFoundMessage: matched === '' ? null : texts.choice.none,
      onFocus: () => {
        isFocused.current = true
      },
      // Before Mantine deletes the text.
      onBlurCapture: leave,
      onOptionSubmit: () => type(null),
      onKeyDown: (event: KeyboardEvent) => event.key === 'Enter' && event.preventDefault(),
    },
  }
}
