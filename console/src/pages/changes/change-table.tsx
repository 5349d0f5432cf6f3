import { timeColumn } from '../../components/columns.tsx'
import classes from '../../components/data-table.module.css'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { UserLink } from '../../components/user-link.tsx'
import { Actor } from '../../components/values.tsx'
import { formatChange } from '../../formats.ts'
import { type Change, differenceOf, reasonOf } from '../../model/audit.ts'
import type { RequestChanges } from '../../model/request-changes.ts'
import type { Transfer } from '../../model/transfers.ts'
import { texts } from '../../texts/texts.ts'
import { ChangedThing } from './changed-thing.tsx'
import { WhatChanged } from './what-changed.tsx'

type Request = RequestChanges<Change>

/** What is known of the user whose changes are shown. */
interface OfUser {
  /** Names of the user's quotas as they are now, by id. */
  names: ReadonlyMap<number, string>
  transfers: readonly Transfer[]
}

interface ChangeTableProps {
  /** What each request changed. */
  requests: readonly Request[]
  /** Null: the changes are of all users. */
  ofUser: OfUser | null
  /** Whether newer rows are being loaded. */
  isStale: boolean
}

/** Administrators' changes: what, from what to what, how many units more, why, who and when. */
export function ChangeTable({ requests, ofUser, isStale }: ChangeTableProps) {
  return (
    <DataTable
      look="records"
      label={texts.changes.table}
      columns={columnsOf(ofUser)}
      rows={requests}
      keyOf={({ head }) => keyOf(head)}
      isStale={isStale}
    />
  )
}

const keyOf = (change: Change) => `${change.resource} ${change.thing_id} ${change.version} ${change.at}`

function columnsOf(ofUser: OfUser | null): Column<Request>[] {
  const { columns } = texts.changes
  const user: Column<Request> = { label: columns.user, kind: 'user', cell: ({ head }) => <UserOf change={head} /> }
  return [
    { label: columns.what, cell: ({ head }) => <ChangedThing change={head} names={ofUser?.names} /> },
    ...(ofUser === null ? [user] : []),
    { label: columns.change, cell: request => <Changed {...request} ofUser={ofUser} /> },
    { label: columns.difference, kind: 'number', cell: ({ head }) => differenceText(head) ?? '–' },
    { label: columns.reason, kind: 'name', cell: ({ head }) => <bdi>{reasonOf(head) ?? '–'}</bdi> },
    { label: columns.by, kind: 'name', cell: ({ head }) => <Actor subject={head.actor} /> },
    timeColumn(columns.at, ({ head }) => head.at),
  ]
}

function differenceText(change: Change): string | null {
  const difference = differenceOf(change)
  return typeof difference === 'number' ? formatChange(difference) : difference && texts.changes.unlimited
}

function UserOf({ change: { user_id, user_ref, user_name } }: { change: Change }) {
  return user_id === null ? '–' : <UserLink user={{ user_id, user_ref, user_name }} />
}

/** The change that tells most, and on request the others of the same call. */
function Changed({ head, others, ofUser }: Request & Pick<ChangeTableProps, 'ofUser'>) {
  return (
    <>
      <WhatChanged change={head} transfers={ofUser?.transfers} />
      {others.length > 0 && (
        <details className={classes.about}>
          <summary>{texts.values.othersAtOnce(others.length)}</summary>
          {others.map(other => (
            <div key={keyOf(other)}>
              <ChangedThing change={other} names={ofUser?.names} />
              {ofUser === null && other.user_id !== head.user_id && (
                <>
                  {' '}
                  <UserOf change={other} />
                </>
              )}
              : <WhatChanged change={other} transfers={ofUser?.transfers} />
            </div>
          ))}
        </details>
      )}
    </>
  )
}
