import { Code, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { QUOTA_DEFAULTS } from '../../../../src/domain/quotas/quota-settings.ts'
import type { Api } from '../../api/types.ts'
import { timeColumn, unitsColumn } from '../../components/columns.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/loaded.tsx'
import { PagedList } from '../../components/paged-list.tsx'
import { useUrlState } from '../../components/url-state.ts'
import { UsageBar } from '../../components/usage-bar.tsx'
import { Actor, Timestamp } from '../../components/values.tsx'
import { isSame } from '../../model/quota-form.ts'
import { requestsOf } from '../../model/request-changes.ts'
import { type MovedUnits, movedBy } from '../../model/transfers.ts'
import { cursor, oneOf } from '../../model/url-parameters.ts'
import { pageOf } from '../../queries/calls.ts'
import { texts } from '../../texts/texts.ts'
import { MetadataChanges } from './metadata.tsx'
import { MovedUnitsText, useTransfersBehind } from './moved-units.tsx'
import classes from './quota.module.css'
import { SETTING_LABELS, SETTINGS, type Setting, settingText } from './settings.ts'

type Change = Api['QuotaChange']
type Window = Api['QuotaWindow']

/** URL state of the page of a quota: the tab, and the cursor of its list. */
export const QUOTA_URL_STATE = { view: oneOf(['settings', 'windows', 'history', 'edit'], 'settings'), cursor }

const CHANGES = texts.quota.history
const WINDOWS = texts.quota.windows

/** The changes of a quota: who, when, old and new values, and the reason. */
export function History({ id }: { id: number }) {
  const [state] = useUrlState(QUOTA_URL_STATE)
  const page = useQuery(pageOf('GET /admin/quota/{id}/history', { id, query: { cursor: state.cursor } }))
  const recorded = page.data?.items ?? []
  const transfers = useTransfersBehind(recorded[0]?.after.user_id, recorded)
  return (
    <PagedList page={page} none={<EmptyState title={CHANGES.empty}>{CHANGES.emptyHint}</EmptyState>}>
      {(changes, isStale) => (
        <ol
          data-plain
          className={classes.changes}
          aria-label={CHANGES.label}
          aria-busy={isStale}
          data-stale={isStale || undefined}
        >
          {requestsOf(changes).map(({ head, others }) => (
            <ChangeItem key={head.version} change={head} moved={movedBy(head, transfers)}>
              {others.length > 0 && (
                <Text component="details" size="xs" c="dimmed" mt="0.4rem">
                  <summary>{texts.values.othersAtOnce(others.length)}</summary>
                  <ol data-plain className={classes.changes}>
                    {others.map(change => (
                      <ChangeItem key={change.version} change={change} moved={movedBy(change, transfers)} />
                    ))}
                  </ol>
                </Text>
              )}
            </ChangeItem>
          ))}
        </ol>
      )}
    </PagedList>
  )
}

/** The ended windows of a quota. */
export function PastWindows({ id }: { id: number }) {
  const [state] = useUrlState(QUOTA_URL_STATE)
  const page = useQuery(pageOf('GET /admin/quota/{id}/windows', { id, query: { cursor: state.cursor } }))
  return (
    <PagedList page={page} none={<EmptyState title={WINDOWS.empty}>{WINDOWS.emptyHint}</EmptyState>}>
      {(windows, isStale) => (
        <DataTable
          look="plain"
          className={classes.windows}
          label={WINDOWS.label}
          columns={WINDOW_COLUMNS}
          rows={windows}
          keyOf={({ window_no }) => window_no}
          isStale={isStale}
        />
      )}
    </PagedList>
  )
}

/* ── Changes ────────────────────────────────────────────────────────────────────────────────────────────────────── */

interface ChangeItemProps {
  change: Change
  /** What a transfer did, if the change is the work of one. */
  moved: MovedUnits | null
  children?: ReactNode
}

function ChangeItem({ change, moved, children }: ChangeItemProps) {
  const { version, at, actor, request_id, reason } = change
  const action = (
    <strong>{moved === null ? CHANGES.actions[actionOf(change)] : <MovedUnitsText moved={moved} />}</strong>
  )
  return (
    <li className={classes.change}>
      <div className={classes.changeHead}>
        <span>{CHANGES.by(action, <Actor subject={actor} />)}</span>
        <Timestamp at={at} />
      </div>
      {reason !== null && (
        <p className={classes.reason}>
          <bdi>{reason}</bdi>
        </p>
      )}
      <Differences change={change} />
      <Text component="div" size="xs" c="dimmed" mt="0.4rem">
        {CHANGES.version(version)} <Code>{request_id}</Code>
      </Text>
      {children}
    </li>
  )
}

/** What a change did, as precisely as its values tell. */
function actionOf({ action, reason, before, after }: Change): keyof typeof CHANGES.actions {
  if (action !== 'updated') return action
  if (reason !== null) return 'adjusted'
  if (before?.enabled === after.enabled) return 'updated'
  return after.enabled === true ? 'resumed' : 'suspended'
}

/** Values of omitted settings. */
const DEFAULTS = new Map<string, unknown>(Object.entries(QUOTA_DEFAULTS))

/** The settings of a creation that differ from the defaults, the changed settings, or what a deletion took away. */
function Differences({ change: { action, before, after } }: { change: Change }) {
  if (action === 'deleted') {
    const isLost = after.kind === 'grant' && typeof after.remaining === 'number' && after.remaining > 0
    return isLost ? (
      <Text size="sm" c="dimmed" mt="0.35rem">
        {CHANGES.unusedUnitsLost(after.remaining ?? 0)}
      </Text>
    ) : null
  }
  const names = SETTINGS.filter(name =>
    before === null
      ? !DEFAULTS.has(name) || !isSame(DEFAULTS.get(name), after[name])
      : !isSame(before[name] ?? null, after[name] ?? null),
  )
  return (
    <dl className={classes.differences}>
      {names.map(name => (
        <div key={name}>
          <dt>{SETTING_LABELS[name]}</dt>
          <dd>
            {name === 'metadata' ? (
              <MetadataChanges before={before?.metadata ?? {}} after={after.metadata ?? {}} />
            ) : (
              <SettingChange name={name} before={before} after={after} />
            )}
          </dd>
        </div>
      ))}
    </dl>
  )
}

interface SettingChangeProps extends Pick<Change, 'before' | 'after'> {
  name: Setting
}

function SettingChange({ name, before, after }: SettingChangeProps) {
  return (
    <>
      {before !== null && (
        <>
          <del>
            <bdi>{settingText(name, before)}</bdi>
          </del>
          <span aria-hidden>{' → '}</span>
        </>
      )}
      <ins>
        <bdi>{settingText(name, after)}</bdi>
      </ins>
    </>
  )
}

/* ── Past windows ───────────────────────────────────────────────────────────────────────────────────────────────── */

const WINDOW_COLUMNS: readonly Column<Window>[] = [
  timeColumn(WINDOWS.from, ({ window_start }) => window_start),
  timeColumn(WINDOWS.until, ({ window_end }) => window_end),
  { label: WINDOWS.usage, kind: 'usage', cell: window => <UsageBar {...window} /> },
  unitsColumn(WINDOWS.limit, ({ limit }) => limit),
  unitsColumn(WINDOWS.rolledIn, ({ rolled_over }) => rolled_over),
  unitsColumn(WINDOWS.rolledOut, ({ carried }) => carried),
  unitsColumn(WINDOWS.lapsed, ({ released }) => released, '–'),
]
