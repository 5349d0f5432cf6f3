import { MultiSelect, Select, TagsInput, Text, TextInput } from '@mantine/core'
import type { KeyboardEvent, ReactNode } from 'react'
import { COUNTRIES } from '../../../../src/domain/country.ts'
import { countryLabel } from '../../parts/country.ts'
import { utcOf } from '../../parts/moment.tsx'
import { momentOf, READERS_ZONE } from './local-time.ts'

/** The kinds of fields that the form of a quota is made of. */
interface FieldProps<Value> {
  label: string
  /** What it means, in a short line. */
  about: ReactNode
  value: Value
  onChange: (value: Value) => void
  /** What is wrong with it. */
  fault: ReactNode
}

interface TextFieldProps extends FieldProps<string> {
  isRequired?: boolean
  isDisabled?: boolean
  isNumber?: boolean
  placeholder?: string
}

export function TextField({ label, about, value, onChange, fault, isNumber, ...more }: TextFieldProps) {
  const { isRequired = false, isDisabled = false, placeholder } = more
  return (
    <TextInput
      label={label}
      description={about}
      value={value}
      onChange={event => onChange(event.currentTarget.value)}
      error={fault}
      required={isRequired}
      disabled={isDisabled}
      autoComplete="off"
      {...(isNumber === true ? { inputMode: 'numeric' } : { dir: 'auto' })}
      {...(placeholder === undefined ? {} : { placeholder })}
    />
  )
}

/** A moment on the reader's clock, with UTC beside it. */
export function MomentField({ label, about, value, onChange, fault }: FieldProps<string>) {
  const moment = momentOf(value)
  return (
    <div>
      <TextInput
        type="datetime-local"
        label={label}
        description={about}
        value={value}
        onChange={event => onChange(event.currentTarget.value)}
        error={fault}
      />
      <Text size="xs" c="dimmed" mt={4}>
        {value === '' || moment === value
          ? `Your time, ${READERS_ZONE}`
          : `${utcOf(moment)} – yours is ${READERS_ZONE}`}
      </Text>
    </div>
  )
}

/** Enter chooses from an open list; with nothing to choose it must not send the form. */
function keepEnter(event: KeyboardEvent<HTMLInputElement>): void {
  if (event.key === 'Enter' && event.currentTarget.getAttribute('aria-expanded') === 'true') event.preventDefault()
}

const ZONES = Intl.supportedValuesOf('timeZone')

/** Any zone that the browser knows, found by typing; the reader's own and the contract's default stand first. */
export function TimeZoneField({ label, about, value, onChange, fault }: FieldProps<string>) {
  const first = [...new Set([READERS_ZONE, 'UTC', value])]
  const data = [
    { group: 'Yours and usual', items: first },
    { group: 'All', items: ZONES.filter(zone => !first.includes(zone)) },
  ]
  return (
    <Select
      label={label}
      description={about}
      data={data}
      value={value}
      onChange={zone => zone !== null && onChange(zone)}
      error={fault}
      // Typing searches anew.
      onFocus={event => event.currentTarget.select()}
      onKeyDown={keepEnter}
      searchable
      limit={60}
      allowDeselect={false}
      nothingFoundMessage="No time zone of this name"
    />
  )
}

export function CountriesField({ label, about, value, onChange, fault }: FieldProps<string[]>) {
  // What the quota names already is offered, whatever this console knows.
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
      error={fault}
      placeholder={value.length === 0 ? 'All countries' : ''}
      onKeyDown={keepEnter}
      searchable
      hidePickedOptions
      limit={40}
      nothingFoundMessage="No country of this name"
    />
  )
}

export function SlugsField({ label, about, value, onChange, fault }: FieldProps<string[]>) {
  return (
    <TagsInput
      label={label}
      description={about}
      value={value}
      onChange={onChange}
      error={fault}
      placeholder={value.length === 0 ? 'All message types' : ''}
      splitChars={[',', ' ']}
      acceptValueOnBlur
    />
  )
}
