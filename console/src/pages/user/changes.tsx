import { Anchor, Table } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import type { Api } from '../../api/types.ts'
import { CursorPager } from '../../components/cursor-pager.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Kind } from '../../components/kind.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Loading } from '../../components/loading.tsx'
import { quotaName } from '../../components/quota-labels.ts'
import classes from '../../components/record-table.module.css'
import { matching, useUrlState } from '../../components/url-state.ts'
import { Timestamp } from '../../components/values.tsx'
import { useQuotaNames, userChangesQuery, type ViewedUser } from '../../queries/user.ts'
import { texts } from '../../texts/texts.ts'
import { isSame } from '../quota/form-values.ts'
import { SETTING_LABELS, SETTINGS, settingText } from '../quota/settings.ts'

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
  changes: readonly Api['AuditEntry'][]
  user: ViewedUser
  /** Whether newer rows are being loaded. */
  isStale: boolean
}

function ChangeTable({ changes, user, isStale }: ChangeTableProps) {
  const names = useQuotaNames(user)
  const { table, columns } = texts.user.changes
  return (
    <Table className={classes.table ?? ''} aria-label={table} aria-busy={isStale} data-stale={isStale || undefined}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">{columns.quota}</Table.Th>
          <Table.Th scope="col">{columns.change}</Table.Th>
          <Table.Th scope="col">{columns.reason}</Table.Th>
          <Table.Th scope="col">{columns.by}</Table.Th>
          <Table.Th scope="col">{columns.at}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {changes.map(change => (
          <Row
            key={`${change.resource} ${change.quota_id} ${change.version} ${change.at}`}
            change={change}
            names={names}
          />
        ))}
      </Table.Tbody>
    </Table>
  )
}

function Row({ change, names }: { change: Api['AuditEntry']; names: ReadonlyMap<number, string> }) {
  const { quota_id, action, version, reason, actor, at } = change
  const { columns, version: versionText } = texts.user.changes
  const { kind, name } = recordedQuota(change)
  return (
    <Table.Tr>
      <Table.Th scope="row" data-label={columns.quota}>
        {quota_id === null ? (
          '–'
        ) : (
          <Kind kind={kind}>
            <Anchor component={Link} href={`/quotas/${quota_id}`} size="sm" className={classes.name ?? ''}>
              <bdi>{names.get(quota_id) ?? quotaName({ id: quota_id, kind, name })}</bdi>
            </Anchor>
          </Kind>
        )}
      </Table.Th>
      <Table.Td data-label={columns.change}>
        <div>
          {labelOf(action)}
          {version !== null && <span className={classes.about}> · {versionText(version)}</span>}
          {action === 'updated' && <ChangedSettings change={change} />}
        </div>
      </Table.Td>
      <Table.Td data-label={columns.reason} className={classes.name ?? ''}>
        <bdi>{reason ?? '–'}</bdi>
      </Table.Td>
      <Table.Td data-label={columns.by} className={classes.name ?? ''}>
        <bdi>{actor}</bdi>
      </Table.Td>
      <Table.Td data-label={columns.at}>
        <Timestamp at={at} />
      </Table.Td>
    </Table.Tr>
  )
}

/** The settings that an update changed, each with its old and its new value. */
function ChangedSettings({ change: { before, after } }: { change: Api['AuditEntry'] }) {
  const old: Api['QuotaAsShown'] = before ?? {}
  const current: Api['QuotaAsShown'] = after ?? {}
  const names = SETTINGS.filter(name => !isSame(old[name] ?? null, current[name] ?? null))
  return names.map(name => (
    <div key={name} className={classes.name}>
      <span className={classes.about}>{SETTING_LABELS[name]}</span>{' '}
      {texts.user.changes.fromTo(<bdi>{settingText(name, old)}</bdi>, <bdi>{settingText(name, current)}</bdi>)}
    </div>
  ))
}

/** The list has changes of quotas and erasures only. */
function labelOf(action: Api['AuditEntry']['action']): string {
  const { actions } = texts.user.changes
  return Object.entries(actions).find(([name]) => name === action)?.[1] ?? action
}

/** The quota at the time of the change: all that is known of a deleted one. */
function recordedQuota({ before, after }: Api['AuditEntry']): { kind: 'grant' | 'cap'; name: string | null } {
  const shown: { kind?: unknown; name?: unknown } = after ?? before ?? {}
  return { kind: shown.kind === 'cap' ? 'cap' : 'grant', name: typeof shown.name === 'string' ? shown.name : null }
}
