import { Button, Checkbox, CloseButton, Input, TagsInput, Text, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { exceptionsOf, othersThan } from '../../../../src/domain/messages/country.ts'
import { ChoiceField, ChoicesField } from '../../components/choice-field.tsx'
import type { FieldErrors } from '../../components/form-errors.ts'
import { type FieldProps, TextField } from '../../components/text-field.tsx'
import { formatDistance, formatUtc, LOCAL_ZONE } from '../../formats.ts'
import { countryOptions } from '../../model/countries.ts'
import { toTimestamp } from '../../model/local-time.ts'
import type { FormValues, MetadataRow } from '../../model/quota-form.ts'
import { texts } from '../../texts/texts.ts'
import classes from './quota-form.module.css'
import { SETTING_LABELS } from './settings.ts'

const TEXTS = texts.quota.form

/** Values, setter and errors of the quota form, as its groups of fields use them. */
export interface QuotaFormState {
  values: FormValues
  change(part: Partial<FormValues>): void
  errors: FieldErrors
}

const LABELS = { ...SETTING_LABELS, opening_used: TEXTS.alreadyUsed }
const ABOUTS: Partial<Record<keyof FormValues, string>> = {
  name: TEXTS.nameAbout,
  user_id: TEXTS.userAbout,
  time_zone: TEXTS.zoneAbout,
  rollover_limit: TEXTS.rolloverAbout,
  overage_limit: TEXTS.overageAbout,
  starts_at: TEXTS.startAbout,
  expires_at: TEXTS.expiryAbout,
  countries: TEXTS.countriesAbout,
  message_types: TEXTS.typesAbout,
  alert_at: TEXTS.alertsAbout,
  priority: TEXTS.priorityAbout,
  opening_used: TEXTS.alreadyUsedAbout,
  ...TEXTS.aboutTexts,
}

/** The props of a field, whose label is that of the setting. */
export function fieldProps<Name extends keyof FormValues & keyof typeof LABELS>(
  { values, change, errors }: QuotaFormState,
  name: Name,
) {
  return {
    label: LABELS[name],
    about: ABOUTS[name],
    value: values[name],
    onChange: (value: FormValues[Name]) => change({ [name]: value }),
    error: errors.at(name),
  }
}

/** A timestamp in the user's time zone. Below it: how far away it is, and the time in UTC. */
export function TimestampField({ label, about, value, onChange, error }: FieldProps<string>) {
  const timestamp = toTimestamp(value)
  const isTime = value !== '' && timestamp !== value
  return (
    <div>
      <TextField type="datetime-local" {...{ label, about, value, onChange, error }} />
      <Text size="xs" c="dimmed" mt={4}>
        {isTime
          ? TEXTS.timeHint(formatUtc(timestamp), formatDistance(timestamp, Date.now()), LOCAL_ZONE)
          : TEXTS.yourZone(LOCAL_ZONE)}
      </Text>
    </div>
  )
}

const ZONES = Intl.supportedValuesOf('timeZone')

/** All time zones of the browser, with the user's own and the default first. */
export function TimeZoneField(props: FieldProps<string>) {
  const first = [...new Set([LOCAL_ZONE, 'UTC', props.value])]
  const groups = [
    { group: TEXTS.zonesSuggested, items: first },
    { group: TEXTS.zonesAll, items: ZONES.filter(zone => !first.includes(zone)) },
  ]
  return <ChoiceField {...props} groups={groups} />
}

/** The countries that a quota covers, picked one by one, or all but those that are picked. */
export function CountriesField({ label, about, value, onChange, error }: FieldProps<string[]>) {
  // While no country is picked, nothing else tells: who replaces the only exception goes on with an exception.
  const [isExceptChosen, setExceptChosen] = useState(false)
  const others = exceptionsOf(value)
  const isExcept = value.length === 0 ? isExceptChosen : others !== null
  const picked = [...(others ?? value)]
  function change(next: readonly string[], except: boolean) {
    setExceptChosen(except)
    onChange([...(except && next.length > 0 ? othersThan(next) : next)])
  }
  return (
    <div>
      <ChoicesField
        label={label}
        about={about}
        // Includes codes of the quota that this version does not know.
        options={countryOptions(picked)}
        value={picked}
        onChange={next => change(next, isExcept)}
        error={error}
        placeholder={picked.length === 0 ? TEXTS.allCountries : ''}
      />
      <Checkbox
        mt="xs"
        label={TEXTS.exceptThese}
        checked={isExcept}
        onChange={event => change(picked, event.currentTarget.checked)}
      />
    </div>
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
      placeholder={value.length === 0 ? TEXTS.allTypes : ''}
      splitChars={[',', ' ']}
      acceptValueOnBlur
    />
  )
}

const MAX_METADATA_ROWS = 16

interface MetadataProps {
  rows: readonly MetadataRow[]
  onChange: (rows: readonly MetadataRow[]) => void
  error: ReactNode
}

/** Metadata as rows of key and value. */
export function MetadataField({ rows, onChange, error }: MetadataProps) {
  const change = (index: number, part: Partial<MetadataRow>) =>
    onChange(rows.map((row, at) => (at === index ? { ...row, ...part } : row)))
  return (
    <fieldset>
      <Input.Label component="legend" labelElement="div">
        {texts.quota.settings.labels.metadata}
      </Input.Label>
      <Input.Description mb={6}>{TEXTS.metadataAbout(MAX_METADATA_ROWS)}</Input.Description>
      {rows.map((row, index) => (
        <div key={row.id} className={classes.metadataRow}>
          <TextInput
            aria-label={TEXTS.keyOf(index + 1)}
            placeholder={TEXTS.key}
            value={row.key}
            onChange={event => change(index, { key: event.currentTarget.value })}
            error={error !== undefined}
            autoComplete="off"
          />
          <TextInput
            aria-label={TEXTS.valueOf(index + 1)}
            placeholder={TEXTS.value}
            dir="auto"
            value={row.value}
            onChange={event => change(index, { value: event.currentTarget.value })}
            autoComplete="off"
          />
          <CloseButton
            aria-label={TEXTS.removeKey(index + 1)}
            onClick={() => onChange(rows.filter((_, at) => at !== index))}
          />
        </div>
      ))}
      {error !== undefined && <Input.Error mb={6}>{error}</Input.Error>}
      <Button
        variant="default"
        size="xs"
        disabled={rows.length >= MAX_METADATA_ROWS}
        onClick={() => onChange([...rows, { id: 1 + Math.max(0, ...rows.map(({ id }) => id)), key: '', value: '' }])}
      >
        {TEXTS.addKey}
      </Button>
    </fieldset>
  )
}
