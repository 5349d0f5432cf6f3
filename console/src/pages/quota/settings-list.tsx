import type { Api } from '../../api/types.ts'
import { Moment } from '../../parts/moment.tsx'
import { SETTING_LABELS, SETTINGS, settingText } from './settings.ts'
import classes from './settings-list.module.css'

/** All that is set of a quota, in words. */
export function SettingsList({ quota }: { quota: Api['SmsQuota'] }) {
  return (
    <dl className={classes.list}>
      {SETTINGS.filter(name => name !== 'user_id' && name !== 'enabled').map(name => (
        <div key={name}>
          <dt>{SETTING_LABELS[name]}</dt>
          <dd>
            {name === 'starts_at' || name === 'expires_at' ? (
              <Moment at={quota[name]} none="Never" />
            ) : (
              <bdi>{settingText(name, quota)}</bdi>
            )}
          </dd>
        </div>
      ))}
      <div>
        <dt>Made</dt>
        <dd>
          <Moment at={quota.created_at} /> by <bdi>“{quota.created_by}”</bdi>
        </dd>
      </div>
      <div>
        <dt>Last changed</dt>
        <dd>
          <Moment at={quota.updated_at} /> by <bdi>“{quota.updated_by}”</bdi>, version {quota.version}
        </dd>
      </div>
    </dl>
  )
}
