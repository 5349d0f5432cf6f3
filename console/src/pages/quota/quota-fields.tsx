import { Checkbox, Radio } from '@mantine/core'
import type { Api } from '../../api/types.ts'
import { AlertsGroup, MoreGroup, PeriodGroup, RolloverGroup, ScheduleGroup, ScopeGroup } from './field-groups.tsx'
import { TextField } from './fields.tsx'
import { FixedSettings } from './fixed-settings.tsx'
import { fieldProps, type QuotaFormState } from './form-field.ts'
import { hasStarted, isUnlimited } from './form-values.ts'
import classes from './quota-form.module.css'
import { PERIOD_LABELS, SETTING_LABELS } from './settings.ts'

type Quota = Api['SmsQuota']

/**
 * The fields of a quota: two are required, the others are in collapsed groups.
 *
 * @param original the edited quota, whose fixed settings are shown as text; null for a new one
 */
export function QuotaFields({ form, original }: { form: QuotaFormState; original: Quota | null }) {
  return (
    <div className={classes.fields}>
      {original === null ? (
        <>
          <TextField
            {...fieldProps(form, 'user_id')}
            label={SETTING_LABELS.user_id}
            about="The user’s id on your platform."
            isRequired
            isNumber
          />
          <KindField form={form} />
        </>
      ) : (
        <FixedSettings quota={original} />
      )}
      <div className={classes.pair}>
        <LimitField form={form} />
        <TextField {...fieldProps(form, 'name')} label={SETTING_LABELS.name} about="Shown in lists." />
      </div>
      <div className={classes.groups}>
        {original === null && <PeriodGroup form={form} />}
        <RolloverGroup form={form} />
        <ScheduleGroup form={form} canEditStart={original === null || !hasStarted(original)} />
        <ScopeGroup form={form} />
        <AlertsGroup form={form} />
        <MoreGroup form={form} isNew={original === null} />
      </div>
    </div>
  )
}

function KindField({ form }: { form: QuotaFormState }) {
  const { value, onChange, error } = fieldProps(form, 'kind')
  return (
    <Radio.Group
      label={SETTING_LABELS.kind}
      value={value}
      onChange={kind => onChange(kind === 'cap' ? 'cap' : 'grant')}
      error={error}
    >
      <div className={classes.kinds}>
        <Radio value="grant" label="Grant" description="Units for sending messages. A user’s grants add up." />
        <Radio value="cap" label="Cap" description="A limit on what is sent across all grants." />
      </div>
    </Radio.Group>
  )
}

function LimitField({ form }: { form: QuotaFormState }) {
  const { values, change } = form
  const isWithoutLimit = isUnlimited(values)
  return (
    <div>
      <TextField
        {...fieldProps(form, 'limit')}
        label={SETTING_LABELS.limit}
        about={values.period === null ? 'Units in total.' : `Units ${PERIOD_LABELS[values.period].toLowerCase()}.`}
        isRequired={!isWithoutLimit}
        isDisabled={isWithoutLimit}
        isNumber
      />
      {values.kind === 'grant' && (
        <Checkbox
          className={classes.unlimited ?? ''}
          label="Unlimited"
          checked={values.is_unlimited}
          onChange={event => change({ is_unlimited: event.currentTarget.checked })}
        />
      )}
    </div>
  )
}
