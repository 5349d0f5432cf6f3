import { NativeSelect } from '@mantine/core'
import type { ReactNode } from 'react'
import { toTimestamp } from '../../local-time.ts'
import { CountriesField, SlugsField, TextField, TimestampField, TimeZoneField } from './fields.tsx'
import { fieldProps, type QuotaFormState } from './form-field.ts'
import { canHaveOverage, canRollOver } from './form-values.ts'
import { formatters } from './formatters.ts'
import { MetadataField } from './metadata-field.tsx'
import classes from './quota-form.module.css'
import { PERIOD_LABELS, PERIODS, SETTING_LABELS } from './settings.ts'

/** Collapsible groups of optional fields. */
interface GroupProps {
  form: QuotaFormState
}

interface FieldGroupProps {
  title: string
  /** The current values, shown while the group is collapsed. */
  summary: string
  children: ReactNode
}

function FieldGroup({ title, summary, children }: FieldGroupProps) {
  return (
    <details className={classes.group}>
      <summary className={classes.summary}>
        <span className={classes.groupTitle}>{title}</span>
        <bdi className={classes.values}>{summary}</bdi>
      </summary>
      <div className={classes.fields}>{children}</div>
    </details>
  )
}

export function PeriodGroup({ form }: GroupProps) {
  const { period, time_zone } = form.values
  const { value, onChange, error } = fieldProps(form, 'period')
  return (
    <FieldGroup
      title="Reset"
      summary={period === null ? 'One-time (does not reset)' : `${PERIOD_LABELS[period]}, ${time_zone}`}
    >
      <div className={classes.pair}>
        <NativeSelect
          label={SETTING_LABELS.period}
          description="When usage is set back to 0."
          data={[
            { value: '', label: 'One-time (does not reset)' },
            ...PERIODS.map(name => ({ value: name, label: PERIOD_LABELS[name] })),
          ]}
          value={value ?? ''}
          onChange={event => onChange(PERIODS.find(name => name === event.currentTarget.value) ?? null)}
          error={error}
        />
        {period !== null && (
          <TimeZoneField
            {...fieldProps(form, 'time_zone')}
            label={SETTING_LABELS.time_zone}
            about="Resets follow this time zone. Type to search."
          />
        )}
      </div>
    </FieldGroup>
  )
}

export function RolloverGroup({ form }: GroupProps) {
  const { values } = form
  if (!canHaveOverage(values)) return null
  const summary = [
    ...(canRollOver(values) && values.rollover_limit !== '0' ? [`${values.rollover_limit} roll over`] : []),
    ...(values.overage_limit === '0' ? [] : [`${values.overage_limit} overage`]),
  ]
  return (
    <FieldGroup title="Rollover and overage" summary={summary.join(', ') || 'None'}>
      <div className={classes.pair}>
        {canRollOver(values) ? (
          <TextField
            {...fieldProps(form, 'rollover_limit')}
            label={SETTING_LABELS.rollover_limit}
            about="Maximum of unused units added to the next window."
            isNumber
          />
        ) : (
          <TextField
            label={SETTING_LABELS.rollover_limit}
            about="Only for quotas that reset."
            value="0"
            onChange={() => {}}
            error={form.errors.at('rollover_limit')}
            isDisabled
          />
        )}
        <TextField
          {...fieldProps(form, 'overage_limit')}
          label={SETTING_LABELS.overage_limit}
          about="Units allowed beyond the limit."
          isNumber
        />
      </div>
    </FieldGroup>
  )
}

export function ScheduleGroup({ form, canEditStart }: GroupProps & { canEditStart: boolean }) {
  const { starts_at, expires_at } = form.values
  const summary = [
    ...(canEditStart ? [starts_at === '' ? 'Starts immediately' : `From ${readable(starts_at)}`] : []),
    expires_at === '' ? (canEditStart ? '' : 'Never expires') : `until ${readable(expires_at)}`,
  ]
  return (
    <FieldGroup title="Schedule" summary={summary.filter(part => part !== '').join(', ')}>
      <div className={classes.pair}>
        {canEditStart && (
          <TimestampField
            {...fieldProps(form, 'starts_at')}
            label={SETTING_LABELS.starts_at}
            about="Leave empty to start immediately."
          />
        )}
        <TimestampField
          {...fieldProps(form, 'expires_at')}
          label={SETTING_LABELS.expires_at}
          about="Leave empty if it never expires."
        />
      </div>
    </FieldGroup>
  )
}

function readable(fieldText: string): string {
  const timestamp = toTimestamp(fieldText)
  return timestamp === fieldText ? fieldText : formatters.timestamp(timestamp)
}

export function ScopeGroup({ form }: GroupProps) {
  const { countries, message_types } = form.values
  const summary = [...countries, ...message_types]
  return (
    <FieldGroup title="Scope" summary={summary.length === 0 ? 'All messages' : summary.join(', ')}>
      <CountriesField
        {...fieldProps(form, 'countries')}
        label={SETTING_LABELS.countries}
        about="Limits the quota to messages to these countries. Leave empty for all."
      />
      <SlugsField
        {...fieldProps(form, 'message_types')}
        label={SETTING_LABELS.message_types}
        about="Limits the quota to these types, such as otp or marketing. Leave empty for all."
      />
    </FieldGroup>
  )
}

export function AlertsGroup({ form }: GroupProps) {
  const { alert_at } = form.values
  return (
    <FieldGroup title="Alerts" summary={alert_at.trim() === '' ? 'None' : `At ${alert_at} percent`}>
      <TextField
        {...fieldProps(form, 'alert_at')}
        label={SETTING_LABELS.alert_at}
        about="Percentages of usage that trigger an event, separated by commas."
      />
    </FieldGroup>
  )
}

export function MoreGroup({ form, isNew }: GroupProps & { isNew: boolean }) {
  const { priority, external_ref, metadata } = form.values
  const summary = [`Priority ${priority}`, ...(external_ref === '' ? [] : [external_ref])]
  return (
    <FieldGroup title="More" summary={summary.join(', ')}>
      <div className={classes.pair}>
        <TextField
          {...fieldProps(form, 'priority')}
          label={SETTING_LABELS.priority}
          about="0 to 255; lower is used first."
          isNumber
        />
        <TextField
          {...fieldProps(form, 'external_ref')}
          label={SETTING_LABELS.external_ref}
          about="The id in your own systems."
        />
        {isNew && (
          <TextField
            {...fieldProps(form, 'opening_used')}
            label="Already used"
            about="Units used elsewhere in this window."
            isNumber
          />
        )}
      </div>
      <MetadataField
        rows={metadata}
        onChange={rows => form.change({ metadata: rows })}
        error={form.errors.at('metadata')}
      />
    </FieldGroup>
  )
}
