import type { ReactNode } from 'react'
import type { Api } from '../../api/types.ts'
import classes from '../../components/data-table.module.css'
import { formatTimestamp } from '../../formats.ts'
import { type Change, shownBy } from '../../model/audit.ts'
import { PROFILE_FIELDS, savedText } from '../../model/profile-form.ts'
import { isSame } from '../../model/quota-form.ts'
import { raiseOf } from '../../model/raised-cap.ts'
import { movedBy, type Transfer } from '../../model/transfers.ts'
import { texts } from '../../texts/texts.ts'
import { PlanChanges } from '../plans/plan-changes.tsx'
import { MetadataChanges } from '../quota/metadata.tsx'
import { MovedUnitsText } from '../quota/moved-units.tsx'
import { SETTING_LABELS, SETTINGS, type Setting, settingText } from '../quota/settings.ts'
import { WebhookChanges } from '../webhooks/webhook-changes.tsx'

interface ChangeProps {
  change: Change
  /** Transfers that changes of quotas may be the work of: they say who the other user is. */
  transfers?: readonly Transfer[] | undefined
}

/** What a change did, from what to what. */
export function WhatChanged(props: ChangeProps) {
  const Content = CONTENTS[props.change.resource]
  return <Content {...props} />
}

const labelOf = ({ action }: Change) => texts.changes.actions[action]
const untilOf = (until: string | null = null) => until && formatTimestamp(until)

const CONTENTS: Readonly<Record<Change['resource'], (props: ChangeProps) => ReactNode>> = {
  quota: QuotaChange,
  webhook: ({ change }) => [labelOf(change), <WebhookChanges key="changes" change={change} />],
  plan: ({ change: { action, before, after } }) => [
    texts.changes.actions[action],
    action !== 'archived' && <PlanChanges key="changes" before={before ?? {}} after={after ?? {}} />,
  ],
  rate_card: RateCardChange,
  breaker: BreakerChange,
  pause: ({ change }) =>
    change.action === 'created'
      ? `${labelOf(change)}, ${texts.changes.pausedUntil(untilOf(shownBy(change).until))}`
      : labelOf(change),
  increase_request: RequestChange,
  profile: ProfileChange,
  address: ({ change }) => labelOf(change),
  user: ({ change }) => labelOf(change),
}

/* ── Of quotas ──────────────────────────────────────────────────────────────────────────────────────────────────── */

const NO_TRANSFERS: readonly Transfer[] = []

function QuotaChange({ change, transfers = NO_TRANSFERS }: ChangeProps) {
  const { action, version, reason, after } = change
  const moved = movedBy(change, transfers)
  if (moved !== null) return <MovedUnitsText moved={moved} />
  const raise = reason === null ? null : raiseOf(after ?? {})
  // The steps of raising a cap for a while are other changes of the same request.
  if (raise !== null) return texts.quotas.raised(raise.to, formatTimestamp(raise.until), raise.from)
  const move = action === 'updated' ? planMoveOf(change) : null
  return (
    <>
      {move === null ? labelOf(change) : texts.changes.planMoved(move)}
      {action === 'created' && after !== null && `: ${createdText(after)}`}
      {version !== null && <span className={classes.about}> · {texts.changes.version(version)}</span>}
      {action === 'updated' && <ChangedSettings change={change} />}
    </>
  )
}

/** "500 units until 1 Dec 2026, 00:00" */
function createdText(quota: Api['QuotaAsShown']): string {
  const { limit, expires_at = null } = quota
  const until = untilOf(expires_at)
  return until === null || limit == null ? settingText('limit', quota) : texts.changes.unitsUntil(limit, until)
}

/** The version of the plan, if nothing else of the quota changed. */
function planMoveOf({ before, after }: Change): { name: string; from: number; to: number } | null {
  const old: Api['QuotaAsShown'] = before ?? {}
  const current: Api['QuotaAsShown'] = after ?? {}
  const [from, to] = [old.plan ?? null, current.plan ?? null]
  const isAlone = changedSettings(old, current).length === 0
  return isAlone && from !== null && to !== null && from.id === to.id && from.version !== to.version
    ? { name: to.name, from: from.version, to: to.version }
    : null
}

function changedSettings(old: Api['QuotaAsShown'], current: Api['QuotaAsShown']): Setting[] {
  return SETTINGS.filter(name => !isSame(old[name] ?? null, current[name] ?? null))
}

/** The settings that an update changed, each with its old and its new value. */
function ChangedSettings({ change: { before, after } }: ChangeProps) {
  const old: Api['QuotaAsShown'] = before ?? {}
  const current: Api['QuotaAsShown'] = after ?? {}
  return changedSettings(old, current).map(name =>
    name === 'metadata' ? (
      <div key={name} className={classes.name}>
        <MetadataChanges before={old.metadata ?? {}} after={current.metadata ?? {}} />
      </div>
    ) : (
      <FromTo key={name} label={SETTING_LABELS[name]} from={settingText(name, old)} to={settingText(name, current)} />
    ),
  )
}

/* ── Of others ──────────────────────────────────────────────────────────────────────────────────────────────────── */

/** The mode decides what the breaker does; its other settings are on its page. */
function BreakerChange({ change }: ChangeProps) {
  const { modes } = texts.breaker
  const old: Partial<Pick<Api['Breaker'], 'mode'>> = change.before ?? {}
  const { mode }: Partial<Pick<Api['Breaker'], 'mode'>> = change.after ?? {}
  return (
    <>
      {labelOf(change)}
      {mode !== undefined && old.mode !== mode && (
        <FromTo label={texts.changes.mode} from={old.mode === undefined ? '–' : modes[old.mode]} to={modes[mode]} />
      )}
    </>
  )
}

/** Its prices are on its page, by version. */
function RateCardChange({ change }: ChangeProps) {
  const old: Partial<Api['RateCard']> = change.before ?? {}
  const current: Partial<Api['RateCard']> = change.after ?? {}
  const { card, version, lines } = texts.rates.list.columns
  const fields = [
    { label: card, from: old.name, to: current.name },
    { label: version, from: old.version, to: current.version },
    { label: lines, from: old.lines, to: current.lines },
    { label: texts.rates.isDefault, from: yesOrNo(old.is_default), to: yesOrNo(current.is_default) },
  ]
  return (
    <>
      {labelOf(change)}
      {change.action === 'updated' &&
        fields
          .filter(({ from, to }) => from !== to)
          .map(({ label, from = '–', to = '–' }) => (
            <FromTo key={label} label={label} from={String(from)} to={String(to)} />
          ))}
    </>
  )
}

const yesOrNo = (is = false) => (is ? texts.plans.history.yes : texts.plans.history.no)

/** What was asked for, and what was given in the end. */
function RequestChange({ change }: ChangeProps) {
  const { units, until, granted } = shownBy(change)
  const given = granted ?? { units: units ?? 0, until: until ?? null }
  const end = untilOf(given.until)
  const size = end === null ? texts.values.units(given.units) : texts.changes.unitsUntil(given.units, end)
  return `${labelOf(change)}: ${size}`
}

/** The fields of a profile that a change set or cleared. */
function ProfileChange({ change }: ChangeProps) {
  const old: Partial<Api['UserProfile']> = change.before ?? {}
  const current: Partial<Api['UserProfile']> = change.after ?? {}
  return PROFILE_FIELDS.filter(field => savedText(field, old) !== savedText(field, current)).map(field => (
    <FromTo
      key={field}
      label={texts.users.profile.labels[field]}
      from={savedText(field, old) ?? '–'}
      to={savedText(field, current) ?? '–'}
    />
  ))
}

function FromTo({ label, from, to }: { label: string; from: string; to: string }) {
  return (
    <div className={classes.name}>
      <span className={classes.about}>{label}</span> {texts.changes.fromTo(<bdi>{from}</bdi>, <bdi>{to}</bdi>)}
    </div>
  )
}
