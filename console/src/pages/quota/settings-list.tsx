import type { Api } from '../../api/types.ts'
import { Timestamp } from '../../components/values.tsx'
import { SETTING_LABELS, SETTINGS, settingText } from './settings.ts'
import classes from './settings-list.module.css'

/** The settings of a quota as text. */
export function SettingsList({ quota }: { quota: Api['SmsQuota'] }) {
  return (
    <dl className={classes.list}>
      {SETTINGS.filter(name => name !== 'user_id' && name !== 'enabled').map(name => (
        <div key={name}>
          <dt>{SETTING_LABELS[name]}</dt>
          <dd>
            {name === 'starts_at' || name === 'expires_at' ? (
              <Timestamp at={quota[name]} none="Never" />
            ) : (
              <bdi>{settingText(name, quota)}</bdi>
            )}
          </dd>
        </div>
      ))}
      <div>
        <dt>Created</dt>
        <dd>
          <Timestamp at={quota.created_at} /> by <bdi>“{quota.created_by}”</bdi>
        </dd>
      </div>
      <div>
        <dt>Last changed</dt>
        <dd>
          <Timestamp at={quota.updated_at} /> by <bdi>“{quota.updated_by}”</bdi>, version {quota.version}
        </dd>
      </div>
    </dl>
  )
}
