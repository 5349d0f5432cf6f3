import { NativeSelect, Radio } from '@mantine/core'
import { COUNTED_VALUES, COUNTS } from '../../../../src/domain/quotas/quota-settings.ts'
import { Kind } from '../../components/kind.tsx'
import { changedCounting } from '../../model/quota-form.ts'
import { texts } from '../../texts/texts.ts'
import { fieldProps, type QuotaFormState } from './fields.tsx'
import classes from './quota-form.module.css'
import { SETTING_LABELS } from './settings.ts'

const TEXTS = texts.quota.form

interface Props {
  form: QuotaFormState
}

/** Whether a quota is a grant or a cap. */
export function KindField({ form }: Props) {
  const { value, error } = fieldProps(form, 'kind')
  return (
    <Radio.Group
      label={SETTING_LABELS.kind}
      value={value}
      onChange={kind => form.change(changedCounting(form.values, { kind: kind === 'cap' ? 'cap' : 'grant' }))}
      error={error}
    >
      <div className={classes.kinds}>
        <Radio value="grant" label={<Kind kind="grant" />} description={TEXTS.grantAbout} />
        <Radio value="cap" label={<Kind kind="cap" />} description={TEXTS.capAbout} />
      </div>
    </Radio.Group>
  )
}

/** What a cap counts, and whether its limit holds for each value by itself. */
export function CountingFields({ form }: Props) {
  const { values, change } = form
  const { per, counts } = texts.quota.settings
  if (values.kind !== 'cap') return null
  return (
    <div className={classes.pair}>
      <NativeSelect
        label={SETTING_LABELS.per}
        description={TEXTS.perAbout}
        data={[{ value: '', label: per.all }, ...COUNTED_VALUES.map(value => ({ value, label: per[value] }))]}
        value={values.per ?? ''}
        onChange={event => {
          const chosen = COUNTED_VALUES.find(value => value === event.currentTarget.value) ?? null
          change(changedCounting(values, { per: chosen }))
        }}
        error={form.errors.at('per')}
      />
      <NativeSelect
        label={SETTING_LABELS.counts}
        description={TEXTS.countsAbout}
        data={COUNTS.map(value => ({ value, label: counts[value] }))}
        value={values.counts}
        onChange={event => change({ counts: event.currentTarget.value === 'messages' ? 'messages' : 'units' })}
        error={form.errors.at('counts')}
      />
    </div>
  )
}
