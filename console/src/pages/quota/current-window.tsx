import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Api } from '../../api/types.ts'
import { StatusBadge } from '../../components/badge.tsx'
import { UsageBar } from '../../components/usage-bar.tsx'
import { Actor, DistantTime, Timestamp, Units } from '../../components/values.tsx'
import { formatDistance, formatTimestamp, LOCAL_ZONE } from '../../formats.ts'
import { hasStarted } from '../../model/quota-form.ts'
import { currentRaise } from '../../model/raised-cap.ts'
import { texts } from '../../texts/texts.ts'
import { MetadataList } from './metadata.tsx'
import classes from './quota.module.css'
import { describe, SETTING_LABELS, SETTINGS, type Setting, settingText } from './settings.ts'

type Quota = Api['SmsQuota']

const TEXTS = texts.quota.window

interface CurrentWindowProps {
  quota: Quota
  /** The confirmation message of the last action. */
  message: string
}

/** Status and usage of a quota in its current window. */
export function CurrentWindow({ quota, message }: CurrentWindowProps) {
  const { window_start, window_end } = quota
  const raise = currentRaise(quota)
  const terms = { ...quota, starts_at: hasStarted(quota, Date.now()) ? null : quota.starts_at }
  return (
    <section className={classes.card} aria-label={TEXTS.label}>
      <div className={classes.head}>
        <StatusBadge quota={quota} />
        <span role="status">{message}</span>
        <Text component="span" c="dimmed" inherit>
          {TEXTS.fromTo(<Timestamp at={window_start} />, <Timestamp at={window_end} none={TEXTS.noEnd} />)}
          {window_end !== null && ` · ${TEXTS.ends(formatDistance(window_end, Date.now()), LOCAL_ZONE)}`}
        </Text>
      </div>
      {quota.per === null && (
        <>
          <UsageBar {...quota} isLarge />
          <Figures quota={quota} />
        </>
      )}
      {raise !== null && (
        <p className={classes.description}>
          <strong>{texts.quotas.raised(raise.to, formatTimestamp(raise.until), raise.from)}</strong>
        </p>
      )}
      <p className={classes.description}>
        <bdi>{describe(terms)}</bdi>
      </p>
    </section>
  )
}

function Figures({ quota: { limit, used, reserved, rolled_over, remaining, overage } }: { quota: Quota }) {
  return (
    <dl className={classes.figures}>
      <Figure label={TEXTS.limit}>
        <Units value={limit} />
      </Figure>
      {rolled_over > 0 && (
        <Figure label={TEXTS.rolledOver}>
          <Units value={rolled_over} />
        </Figure>
      )}
      <Figure label={TEXTS.used}>
        <Units value={used} />
      </Figure>
      <Figure label={TEXTS.reserved}>
        <Units value={reserved} />
      </Figure>
      {overage > 0 ? (
        <Figure label={TEXTS.over}>
          <Units value={overage} />
        </Figure>
      ) : (
        <Figure label={TEXTS.remaining}>
          <Units value={remaining} />
        </Figure>
      )}
    </dl>
  )
}

function Figure({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function SettingValue({ name, quota }: { name: Setting; quota: Quota }) {
  if (name === 'metadata') return <MetadataList metadata={quota.metadata} />
  const at = name === 'starts_at' || name === 'expires_at' ? quota[name] : null
  return at === null ? <bdi>{settingText(name, quota)}</bdi> : <DistantTime at={at} />
}

/** The settings of a quota as text. */
export function SettingsList({ quota }: { quota: Quota }) {
  const { created_at, created_by, updated_at, updated_by, version } = quota
  const words = texts.quota.settings
  return (
    <dl className={classes.list}>
      {SETTINGS.filter(name => name !== 'user_id' && name !== 'enabled').map(name => (
        <div key={name}>
          <dt>{SETTING_LABELS[name]}</dt>
          <dd>
            <SettingValue name={name} quota={quota} />
          </dd>
        </div>
      ))}
      <div>
        <dt>{words.created}</dt>
        <dd>{words.atBy(<Timestamp at={created_at} />, <Actor subject={created_by} />)}</dd>
      </div>
      <div>
        <dt>{words.lastChanged}</dt>
        <dd>
          {words.atBy(<Timestamp at={updated_at} />, <Actor subject={updated_by} />)}, {words.version(version)}
        </dd>
      </div>
    </dl>
  )
}
