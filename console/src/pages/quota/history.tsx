import { Code } from '@mantine/core'
import { QUOTA_DEFAULTS } from '../../../../src/domain/bounds.ts'
import type { Api } from '../../api/types.ts'
import { Timestamp } from '../../components/values.tsx'
import { isSame } from './form-values.ts'
import classes from './history.module.css'
import { PagedRecords } from './paged-records.tsx'
import { SETTING_LABELS, SETTINGS, settingText } from './settings.ts'

type Change = Api['QuotaChange']

const EMPTY = { title: 'No changes', hint: 'Changes by administrators appear here.' }

/** The changes of a quota: who, when, old and new values, and the reason. */
export function History({ id }: { id: number }) {
  return (
    <PagedRecords<Change>
      id={id}
      resource="history"
      empty={EMPTY}
      render={(changes, isStale) => (
        <ol className={classes.changes} aria-label="Changes" aria-busy={isStale} data-stale={isStale || undefined}>
          {changes.map(change => (
            <ChangeItem key={change.version} change={change} />
          ))}
        </ol>
      )}
    />
  )
}

const ACTION_LABELS: Record<Change['action'], string> = { created: 'Created', updated: 'Updated', deleted: 'Deleted' }

function ChangeItem({ change }: { change: Change }) {
  const { version, action, at, actor, request_id, reason } = change
  return (
    <li className={classes.change}>
      <div className={classes.head}>
        <span>
          <strong>{ACTION_LABELS[action]}</strong> by <bdi className={classes.text}>“{actor}”</bdi>
        </span>
        <Timestamp at={at} />
      </div>
      {reason !== null && (
        <p className={classes.reason}>
          <bdi>{reason}</bdi>
        </p>
      )}
      <Differences change={change} />
      <div className={classes.foot}>
        Version {version} · request <Code>{request_id}</Code>
      </div>
    </li>
  )
}

/** Values of omitted settings. */
const DEFAULTS = new Map<string, unknown>(Object.entries(QUOTA_DEFAULTS))

/** The settings of a creation that differ from the defaults, or the changed settings with old and new values. */
function Differences({ change: { action, before, after } }: { change: Change }) {
  if (action === 'deleted') return null
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
            {before !== null && (
              <>
                <del>
                  <bdi>{settingText(name, before)}</bdi>
                </del>
                <span aria-hidden> → </span>
              </>
            )}
            <ins>
              <bdi>{settingText(name, after)}</bdi>
            </ins>
          </dd>
        </div>
      ))}
    </dl>
  )
}
