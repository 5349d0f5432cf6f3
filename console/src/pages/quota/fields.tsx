import { MultiSelect, Select, TagsInput, Text, TextInput } from '@mantine/core'
import type { KeyboardEvent, ReactNode } from 'react'
import { COUNTRIES } from '../../../../src/domain/country.ts'
import { countryLabel, formatUtc, LOCAL_ZONE } from '../../formats.ts'
import { toTimestamp } from '../../local-time.ts'

/** The form fields of a quota. */
interface FieldProps<Value> {
  label: string
  /** A short description. */
  about: ReactNode
  value: Value
  onChange: (value: Value) => void
  /** The error message; undefined if there is none. */
  error: ReactNode
}

interface TextFieldProps extends FieldProps<string> {
  isRequired?: boolean
  isDisabled?: boolean
  isNumber?: boolean
  placeholder?: string
}

export function TextField({ label, about, value, onChange, error, isNumber, ...more }: TextFieldProps) {
  const { isRequired = false, isDisabled = false, placeholder } = more
  return (
    <TextInput
      label={label}
      description={about}
      value={value}
      onChange={event => onChange(event.currentTarget.value)}
      error={error}
      required={isRequired}
      disabled={isDisabled}
      autoComplete="off"
      {...(isNumber === true ? { inputMode: 'numeric' } : { dir: 'auto' })}
      {...(placeholder === undefined ? {} : { placeholder })}
    />
  )
}

/** A timestamp in the user's time zone, with UTC below it. */
export function TimestampField({ label, about, value, onChange, error }: FieldProps<string>) {
  const timestamp = toTimestamp(value)
  return (
    <div>
      <TextInput
        type="datetime-local"
        label={label}
        description={about}
        value={value}
        onChange={event => onChange(event.currentTarget.value)}
        error={error}
      />
      <Text size="xs" c="dimmed" mt={4}>
        {value === '' || timestamp === value
          ? `Your time zone: ${LOCAL_ZONE}`
          : `${formatUtc(timestamp)} – your time zone: ${LOCAL_ZONE}`}
      </Text>
    </div>
  )
}

/** Enter selects an option of an open list; without a match it must not submit the form. */
function keepEnter(event: KeyboardEvent<HTMLInputElement>): void {
  if (event.key === 'Enter' && event.currentTarget.getAttribute('aria-expanded') === 'true') event.preventDefault()
}

const ZONES = Intl.supportedValuesOf('timeZone')

/** All time zones of the browser, with the user's own and the default first. */
export function TimeZoneField({ label, about, value, onChange, error }: FieldProps<string>) {
  const first = [...new Set([LOCAL_ZONE, 'UTC', value])]
  const data = [
    { group: 'Suggested', items: first },
    { group: 'All', items: ZONES.filter(zone => !first.includes(zone)) },
  ]
  return (
    <Select
      label={label}
      description={about}
      data={data}
      value={value}
      onChange={zone => zone !== null && onChange(zone)}
      error={error}
      // Typing replaces the text, to start a new search.
      onFocus={event => event.currentTarget.select()}
      onKeyDown={keepEnter}
      searchable
      limit={60}
      allowDeselect={false}
      nothingFoundMessage="No matching time zone"
    />
  )
}

export function CountriesField({ label, about, value, onChange, error }: FieldProps<string[]>) {
  // Includes codes of the quota that this version does not know.
  const codes = [...new Set([...COUNTRIES, ...value])]
  const data = codes
    .map(code => ({ value: code, label: countryLabel(code) }))
    .toSorted((one, other) => one.label.localeCompare(other.label, 'en'))
  return (
    <MultiSelect
      label={label}
      description={about}
      data={data}
      value={value}
      onChange={onChange}
      error={error}
      placeholder={value.length === 0 ? 'All countries' : ''}
      onKeyDown={keepEnter}
      searchable
      hidePickedOptions
      limit={40}
      nothingFoundMessage="No matching country"
    />
  )
}

export function SlugsField({ label, about, value, onChange, error }: FieldProps<string[]>) {
  return (
    <TagsInput
      label={label}
      description={about}
      value={value}
      onChange={onChange}
      error={error}
      placeholder={value.length === 0 ? 'All message types' : ''}
      splitChars={[',', ' ']}
      acceptValueOnBlur
    />
  )
}
