import type { Api } from '../../api/types.ts'
import { hasStarted } from './form-values.ts'
import classes from './quota-form.module.css'
import { SETTING_LABELS, type Setting, settingText } from './settings.ts'

/** Settings that cannot be changed after creation, as text. */
export function FixedSettings({ quota }: { quota: Api['SmsQuota'] }) {
  const names: Setting[] = [
    'user_id',
    'kind',
    'period',
    ...(quota.period === null ? [] : ['time_zone' as const]),
    ...(hasStarted(quota) ? ['starts_at' as const] : []),
  ]
  return (
    <dl className={classes.fixed} aria-label="Cannot be changed">
      {names.map(name => (
        <div key={name}>
          <dt>{SETTING_LABELS[name]}</dt>
          <dd>{settingText(name, quota)}</dd>
        </div>
      ))}
    </dl>
  )
}
