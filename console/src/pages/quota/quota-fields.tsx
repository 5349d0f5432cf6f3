import { Checkbox, Radio } from '@mantine/core'
import type { Api } from '../../api/types.ts'
import { TextField } from './fields.tsx'
import { FixedSettings } from './fixed-settings.tsx'
import { bound, type Form } from './form.ts'
import { CoverageGroup, MoreGroup, PastLimitGroup, RhythmGroup, TellingGroup, TimesGroup } from './groups.tsx'
import classes from './quota-form.module.css'
import { PERIOD_WORDS, SETTING_LABELS } from './settings.ts'
import { hasStarted, isUnlimited } from './typed.ts'

type Quota = Api['SmsQuota']

/**
 * The fields of a quota: two must be filled, the rest is folded away in groups.
 *
 * @param was the quota that is changed, of which some stands there as text only; null for one that is made
 */
export function QuotaFields({ form, was }: { form: Form; was: Quota | null }) {
  return (
    <div className={classes.fields}>
      {was === null ? (
        <>
          <TextField
            {...bound(form, 'user_id')}
            label={SETTING_LABELS.user_id}
            about="Whose messages it is about: the number your platform knows the user by."
            isRequired
            isNumber
          />
          <KindField form={form} />
        </>
      ) : (
        <FixedSettings quota={was} />
      )}
      <div className={classes.pair}>
        <LimitField form={form} />
        <TextField {...bound(form, 'name')} label={SETTING_LABELS.name} about="What people read in lists." />
      </div>
      <div className={classes.groups}>
        {was === null && <RhythmGroup form={form} />}
        <PastLimitGroup form={form} />
        <TimesGroup form={form} mayMoveStart={was === null || !hasStarted(was)} />
        <CoverageGroup form={form} />
        <TellingGroup form={form} />
        <MoreGroup form={form} isNew={was === null} />
      </div>
    </div>
  )
}

function KindField({ form }: { form: Form }) {
  const { value, onChange, fault } = bound(form, 'kind')
  return (
    <Radio.Group
      label={SETTING_LABELS.kind}
      value={value}
      onChange={kind => onChange(kind === 'cap' ? 'cap' : 'grant')}
      error={fault}
    >
      <div className={classes.kinds}>
        <Radio value="grant" label="Grant" description="Units that pay for messages. A user’s grants add up." />
        <Radio value="cap" label="Cap" description="A ceiling over what is sent, whichever grant pays." />
      </div>
    </Radio.Group>
  )
}

function LimitField({ form }: { form: Form }) {
  const { typed, change } = form
  const isOpenEnded = isUnlimited(typed)
  return (
    <div>
      <TextField
        {...bound(form, 'limit')}
        label={SETTING_LABELS.limit}
        about={typed.period === null ? 'Units in all.' : `Units ${PERIOD_WORDS[typed.period].toLowerCase()}.`}
        isRequired={!isOpenEnded}
        isDisabled={isOpenEnded}
        isNumber
      />
      {typed.kind === 'grant' && (
        <Checkbox
          className={classes.unlimited ?? ''}
          label="Unlimited"
          checked={typed.is_unlimited}
          onChange={event => change({ is_unlimited: event.currentTarget.checked })}
        />
      )}
    </div>
  )
}
