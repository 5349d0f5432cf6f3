import { NativeSelect } from '@mantine/core'
import { FieldGroup } from './field-group.tsx'
import { CountriesField, MomentField, SlugsField, TextField, TimeZoneField } from './fields.tsx'
import { bound, type Form } from './form.ts'
import { momentOf } from './local-time.ts'
import { MetadataField } from './metadata-field.tsx'
import classes from './quota-form.module.css'
import { PERIOD_WORDS, PERIODS, SETTING_LABELS } from './settings.ts'
import { mayCarryOver, mayGoPast } from './typed.ts'
import { writing } from './writing.ts'

/** The groups of fields that most quotas need not set. */
interface GroupProps {
  form: Form
}

export function RhythmGroup({ form }: GroupProps) {
  const { period, time_zone } = form.typed
  const { value, onChange, fault } = bound(form, 'period')
  return (
    <FieldGroup
      title="How often it starts anew"
      now={period === null ? 'Never' : `${PERIOD_WORDS[period]}, ${time_zone}`}
    >
      <div className={classes.pair}>
        <NativeSelect
          label={SETTING_LABELS.period}
          description="When the count goes back to nothing."
          data={[
            { value: '', label: 'Never: all its life is one window' },
            ...PERIODS.map(name => ({ value: name, label: PERIOD_WORDS[name] })),
          ]}
          value={value ?? ''}
          onChange={event => onChange(PERIODS.find(name => name === event.currentTarget.value) ?? null)}
          error={fault}
        />
        {period !== null && (
          <TimeZoneField
            {...bound(form, 'time_zone')}
            label={SETTING_LABELS.time_zone}
            about="Whose midnight it is. Type to search."
          />
        )}
      </div>
    </FieldGroup>
  )
}

export function PastLimitGroup({ form }: GroupProps) {
  const { typed } = form
  if (!mayGoPast(typed)) return null
  const now = [
    ...(mayCarryOver(typed) && typed.rollover_limit !== '0' ? [`${typed.rollover_limit} carry over`] : []),
    ...(typed.overage_limit === '0' ? [] : [`${typed.overage_limit} past the limit`]),
  ]
  return (
    <FieldGroup title="What carries over or may go past it" now={now.join(', ') || 'Nothing'}>
      <div className={classes.pair}>
        {mayCarryOver(typed) ? (
          <TextField
            {...bound(form, 'rollover_limit')}
            label={SETTING_LABELS.rollover_limit}
            about="Unused units that the next window gets, at most."
            isNumber
          />
        ) : (
          <TextField
            label={SETTING_LABELS.rollover_limit}
            about="Only for one that starts anew."
            value="0"
            onChange={() => {}}
            fault={form.faults.at('rollover_limit')}
            isDisabled
          />
        )}
        <TextField
          {...bound(form, 'overage_limit')}
          label={SETTING_LABELS.overage_limit}
          about="Units more that may be drawn, at most."
          isNumber
        />
      </div>
    </FieldGroup>
  )
}

export function TimesGroup({ form, mayMoveStart }: GroupProps & { mayMoveStart: boolean }) {
  const { starts_at, expires_at } = form.typed
  const now = [
    ...(mayMoveStart ? [starts_at === '' ? 'From now on' : `From ${readable(starts_at)}`] : []),
    expires_at === '' ? (mayMoveStart ? '' : 'Never expires') : `until ${readable(expires_at)}`,
  ]
  return (
    <FieldGroup title="When" now={now.filter(part => part !== '').join(' ')}>
      <div className={classes.pair}>
        {mayMoveStart && (
          <MomentField
            {...bound(form, 'starts_at')}
            label={SETTING_LABELS.starts_at}
            about="From then on it counts. Empty: at once."
          />
        )}
        <MomentField
          {...bound(form, 'expires_at')}
          label={SETTING_LABELS.expires_at}
          about="From then on it is over. Empty: never."
        />
      </div>
    </FieldGroup>
  )
}

function readable(fieldText: string): string {
  const moment = momentOf(fieldText)
  return moment === fieldText ? fieldText : writing.moment(moment)
}

export function CoverageGroup({ form }: GroupProps) {
  const { countries, message_types } = form.typed
  const now = [...countries, ...message_types]
  return (
    <FieldGroup title="What it covers" now={now.length === 0 ? 'All messages' : now.join(', ')}>
      <CountriesField
        {...bound(form, 'countries')}
        label={SETTING_LABELS.countries}
        about="Only messages to these count. None chosen: messages to everywhere."
      />
      <SlugsField
        {...bound(form, 'message_types')}
        label={SETTING_LABELS.message_types}
        about="Only messages of these types count, such as otp or marketing. None: all."
      />
    </FieldGroup>
  )
}

export function TellingGroup({ form }: GroupProps) {
  const { alert_at } = form.typed
  return (
    <FieldGroup title="Telling" now={alert_at.trim() === '' ? 'Nobody is told' : `At ${alert_at} percent`}>
      <TextField
        {...bound(form, 'alert_at')}
        label={SETTING_LABELS.alert_at}
        about="Percents of use at which an event goes out, with commas between them."
      />
    </FieldGroup>
  )
}

export function MoreGroup({ form, isNew }: GroupProps & { isNew: boolean }) {
  const { priority, external_ref, metadata } = form.typed
  const now = [`Priority ${priority}`, ...(external_ref === '' ? [] : [external_ref])]
  return (
    <FieldGroup title="More" now={now.join(', ')}>
      <div className={classes.pair}>
        <TextField
          {...bound(form, 'priority')}
          label={SETTING_LABELS.priority}
          about="0 to 255: the lower is spent first."
          isNumber
        />
        <TextField
          {...bound(form, 'external_ref')}
          label={SETTING_LABELS.external_ref}
          about="What your own systems call it."
        />
        {isNew && (
          <TextField
            {...bound(form, 'opening_used')}
            label="Used already"
            about="Units spent elsewhere in this window."
            isNumber
          />
        )}
      </div>
      <MetadataField
        rows={metadata}
        onChange={rows => form.change({ metadata: rows })}
        fault={form.faults.at('metadata')}
      />
    </FieldGroup>
  )
}
