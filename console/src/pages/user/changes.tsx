import { Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import type { Api } from '../../api/types.ts'
import { timeColumn } from '../../components/columns.tsx'
import { CursorPager } from '../../components/cursor-pager.tsx'
import classes from '../../components/data-table.module.css'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { Kind } from '../../components/kind.tsx'
import { EmptyState, Loaded, Loading } from '../../components/loaded.tsx'
import { quotaName } from '../../components/quota-labels.ts'
import { useUrlState } from '../../components/url-state.ts'
import { Actor } from '../../components/values.tsx'
import { formatTimestamp } from '../../formats.ts'
import type { ViewedUser } from '../../model/addresses.ts'
import { PROFILE_FIELDS } from '../../model/profile-form.ts'
import { isSame } from '../../model/quota-form.ts'
import { raiseOf } from '../../model/raised-cap.ts'
import { type RequestChanges, requestsOf } from '../../model/request-changes.ts'
import { movedBy, type Transfer } from '../../model/transfers.ts'
import { matching } from '../../model/url-parameters.ts'
import { useQuotaNames, userChangesQuery } from '../../queries/user.ts'
import { texts } from '../../texts/texts.ts'
import { MetadataChanges } from '../quota/metadata.tsx'
import { MovedUnitsText, useTransfersBehind } from '../quota/moved-units.tsx'
import { SETTING_LABELS, SETTINGS, type Setting, settingText } from '../quota/settings.ts'

type Change = Api['AuditEntry']
type Request = RequestChanges<Change>

const STATE = { cursor: matching(/^[A-Za-z0-9_-]{1,5000}$/) }

/** Administrators' changes of all quotas of a user, newest first. */
export default function Changes({ user }: { user: ViewedUser }) {
  const [{ cursor }, change] = useUrlState(STATE)
  const changes = useQuery(userChangesQuery(user.user_id, cursor))
  const { none, noneAbout, noneOlder, searching, searchingAbout } = texts.user.changes
  return (
    <Loaded query={changes} loading={<Loading rows={6} height={44} />}>
      {({ items, next_cursor }) => (
        <>
          {items.length > 0 && <ChangeTable changes={items} user={user} isStale={changes.isPlaceholderData} />}
          {items.length === 0 && next_cursor !== null && <EmptyState title={searching}>{searchingAbout}</EmptyState>}
          {items.length === 0 && next_cursor === null && (
            <EmptyState title={cursor === null ? none : noneOlder}>{cursor === null && noneAbout}</EmptyState>
          )}
          <CursorPager
            cursor={cursor}
            next={changes.isPlaceholderData ? null : next_cursor}
            onCursor={next => change({ cursor: next })}
          />
        </>
      )}
    </Loaded>
  )
}

interface ChangeTableProps {
  changes: readonly Change[]
  user: ViewedUser
  /** Whether newer rows are being loaded. */
  isStale: boolean
}

function ChangeTable({ changes, user, isStale }: ChangeTableProps) {
  const transfers = useTransfersBehind(user.user_id, changes)
  return (
    <DataTable
      look="records"
      label={texts.user.changes.table}
      columns={columnsOf(useQuotaNames(user), transfers)}
      rows={requestsOf(changes)}
      keyOf={({ head }) => keyOf(head)}
      isStale={isStale}
    />
  )
}

type Names = ReadonlyMap<number, string>

function columnsOf(names: Names, transfers: readonly Transfer[]): Column<Request>[] {
  const { columns } = texts.user.changes
  return [
    { label: columns.quota, cell: ({ head }) => <ChangedQuota change={head} names={names} /> },
    { label: columns.change, cell: request => <Changed {...request} names={names} transfers={transfers} /> },
    { label: columns.reason, kind: 'name', cell: ({ head }) => <bdi>{reasonOf(head) ?? '–'}</bdi> },
    { label: columns.by, kind: 'name', cell: ({ head }) => <Actor subject={head.actor} /> },
    timeColumn(columns.at, ({ head }) => head.at),
  ]
}

function keyOf({ resource, quota_id, version, at }: Change): string {
  return `${resource} ${quota_id} ${version} ${at}`
}

function ChangedQuota({ change, names }: { change: Change; names: Names }) {
  const { resource, quota_id, user_id } = change
  if (resource === 'profile')
    return (
      <Anchor component={Link} href={`/users/${user_id}/profile`} size="sm">
        {texts.users.profile.title}
      </Anchor>
    )
  if (quota_id === null) return '–'
  return (
    <Kind kind={recordedQuota(change).kind}>
      <Anchor component={Link} href={`/quotas/${quota_id}`} size="sm" className={classes.name}>
        <bdi>{nameIn(names, change)}</bdi>
      </Anchor>
    </Kind>
  )
}

function Changed({ head, others, names, transfers }: Request & { names: Names; transfers: readonly Transfer[] }) {
  return (
    <>
      <WhatChanged change={head} transfers={transfers} />
      {others.length > 0 && (
        <details className={classes.about}>
          <summary>{texts.values.othersAtOnce(others.length)}</summary>
          {others.map(other => (
            <div key={keyOf(other)}>
              <bdi>{nameIn(names, other)}</bdi>: <WhatChanged change={other} transfers={transfers} />
            </div>
          ))}
        </details>
      )}
    </>
  )
}

/** Of a created quota it is among the metadata: the API takes none beside it. */
function reasonOf({ action, reason, after }: Change): string | null {
  const shown: Api['QuotaAsShown'] = after ?? {}
  return reason ?? (action === 'created' ? (shown.metadata?.reason ?? null) : null)
}

function WhatChanged({ change, transfers }: { change: Change; transfers: readonly Transfer[] }) {
  const { resource, action, version, reason, after } = change
  const moved = movedBy(change, transfers)
  if (moved !== null) return <MovedUnitsText moved={moved} />
  if (resource === 'profile') return <ChangedProfile change={change} />
  const raise = reason === null ? null : raiseOf(after ?? {})
  // The steps of raising a cap for a while are other changes of the same request.
  if (raise !== null) return texts.quotas.raised(raise.to, formatTimestamp(raise.until), raise.from)
  const move = action === 'updated' ? planMoveOf(change) : null
  return (
    <>
      {move === null ? labelOf(action) : texts.user.changes.planMoved(move)}
      {action === 'created' && after !== null && `: ${settingText('limit', after)}`}
      {version !== null && <span className={classes.about}> · {texts.user.changes.version(version)}</span>}
      {action === 'updated' && <ChangedSettings change={change} />}
    </>
  )
}

function nameIn(names: Names, change: Change): string {
  const { quota_id } = change
  return quota_id === null ? '–' : (names.get(quota_id) ?? quotaName({ id: quota_id, ...recordedQuota(change) }))
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
function ChangedSettings({ change: { before, after } }: { change: Change }) {
  const old: Api['QuotaAsShown'] = before ?? {}
  const current: Api['QuotaAsShown'] = after ?? {}
  return changedSettings(old, current).map(name => (
    <div key={name} className={classes.name}>
      {name === 'metadata' ? (
        <MetadataChanges before={old.metadata ?? {}} after={current.metadata ?? {}} />
      ) : (
        <SettingChange name={name} old={old} current={current} />
      )}
    </div>
  ))
}

interface SettingChangeProps {
  name: Setting
  old: Api['QuotaAsShown']
  current: Api['QuotaAsShown']
}

function SettingChange({ name, old, current }: SettingChangeProps) {
  return (
    <>
      <span className={classes.about}>{SETTING_LABELS[name]}</span>{' '}
      {texts.user.changes.fromTo(<bdi>{settingText(name, old)}</bdi>, <bdi>{settingText(name, current)}</bdi>)}
    </>
  )
}

/** The fields of a profile that a change set or cleared. */
function ChangedProfile({ change: { before, after } }: { change: Change }) {
  const old: Partial<Api['UserProfile']> = before ?? {}
  const current: Partial<Api['UserProfile']> = after ?? {}
  return PROFILE_FIELDS.filter(field => (old[field] ?? null) !== (current[field] ?? null)).map(field => (
    <div key={field} className={classes.name}>
      <span className={classes.about}>{texts.users.profile.labels[field]}</span>{' '}
      {texts.user.changes.fromTo(<bdi>{old[field] ?? '–'}</bdi>, <bdi>{current[field] ?? '–'}</bdi>)}
    </div>
  ))
}

/** The list has changes of quotas and of the profile, and erasures. */
function labelOf(action: Change['action']): string {
  const { actions } = texts.user.changes
  return Object.entries(actions).find(([name]) => name === action)?.[1] ?? action
}

/** The quota at the time of the change: all that is known of a deleted one. */
function recordedQuota({ before, after }: Change): { kind: 'grant' | 'cap'; name: string | null } {
  const shown: { kind?: unknown; name?: unknown } = after ?? before ?? {}
  return { kind: shown.kind === 'cap' ? 'cap' : 'grant', name: typeof shown.name === 'string' ? shown.name : null }
}
