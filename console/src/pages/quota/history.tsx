import { Code } from '@mantine/core'
import { QUOTA_DEFAULTS } from '../../../../src/domain/bounds.ts'
import type { Api } from '../../api/types.ts'
import { Moment } from '../../parts/moment.tsx'
import classes from './history.module.css'
import { Records } from './records.tsx'
import { SETTING_LABELS, SETTINGS, settingText } from './settings.ts'
import { isSame } from './typed.ts'

type Change = Api['QuotaChange']

const NONE = { title: 'No changes', words: 'Every change that an administrator makes is kept here.' }

/** Who changed a quota, when, from what to what, and why. */
export function History({ id }: { id: number }) {
  return (
    <Records<Change>
      id={id}
      of="history"
      none={NONE}
      show={(changes, isOld) => (
        <ol className={classes.changes} aria-label="Changes" aria-busy={isOld} data-old={isOld || undefined}>
          {changes.map(change => (
            <ChangeItem key={change.version} change={change} />
          ))}
        </ol>
      )}
    />
  )
}

const ACTION_WORDS: Record<Change['action'], string> = { created: 'Created', updated: 'Changed', deleted: 'Deleted' }

function ChangeItem({ change }: { change: Change }) {
  const { version, action, at, actor, request_id, reason } = change
  return (
    <li className={classes.change}>
      <div className={classes.head}>
        <span>
          <strong>{ACTION_WORDS[action]}</strong> by <bdi className={classes.text}>“{actor}”</bdi>
        </span>
        <Moment at={at} />
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

/** What a quota is where nobody says anything else. */
const DEFAULTS = new Map<string, unknown>(Object.entries(QUOTA_DEFAULTS))

/** Of a creation what was set by it, of a change what it turned into what. */
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
