import { NativeSelect } from '@mantine/core'
import { LOCAL_ZONE } from '../formats.ts'
import type { FieldProps } from './text-field.tsx'

const ZONES = Intl.supportedValuesOf('timeZone')

interface ZoneFieldProps extends FieldProps<string> {
  /** The words of the choice of no zone; left out where there is none. */
  none?: string
}

/** The time zones of the browser, with its own first, and the one that is saved. */
export function ZoneField({ label, about, value, onChange, error, none }: ZoneFieldProps) {
  const zones = [...new Set([LOCAL_ZONE, 'UTC', ...(value === '' ? [] : [value]), ...ZONES])]
  return (
    <NativeSelect
      label={label}
      description={about}
      data={[...(none === undefined ? [] : [{ value: '', label: none }]), ...zones]}
      value={value}
      onChange={event => onChange(event.currentTarget.value)}
      error={error}
    />
  )
}
