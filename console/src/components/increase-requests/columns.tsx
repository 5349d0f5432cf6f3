import type { IncreaseRequest } from '../../model/increase-requests.ts'
import { texts } from '../../texts/texts.ts'
import { Badge, type Tone } from '../badge.tsx'
import { timeColumn } from '../columns.tsx'
import classes from '../data-table.module.css'
import type { Column } from '../data-table.tsx'
import { QuotaLink } from '../links.tsx'
import { Actor, LongDate, Timestamp } from '../values.tsx'

const words = texts.increaseRequests

/** What is asked for, why, for which quota, and what became of it. @param isOwn for the user who asked */
export function requestColumns(isOwn: boolean): Column<IncreaseRequest>[] {
  const { columns } = words
  return [
    { label: columns.units, kind: 'name', cell: request => <Asked request={request} /> },
    { label: columns.reason, kind: 'name', cell: ({ reason }) => <bdi>{reason}</bdi> },
    {
      label: columns.quota,
      kind: 'name',
      cell: ({ quota_id, user_id }) => <QuotaLink id={quota_id} kind="grant" user={{ user_id, isOwn }} />,
    },
    timeColumn(columns.created, ({ created_at }) => created_at),
    { label: columns.status, kind: 'state', cell: request => <Outcome request={request} /> },
  ]
}

/** Until when units last, in a sentence. */
export function End({ at }: { at: string | null }) {
  return at === null ? words.forGood : words.until(<LongDate at={at} />)
}

function Asked({ request: { units, until } }: { request: IncreaseRequest }) {
  return (
    <>
      {texts.values.units(units)}
      <div className={classes.about}>
        <End at={until} />
      </div>
    </>
  )
}

const TONES: Record<IncreaseRequest['status'], Tone> = {
  open: 'held',
  approved: 'good',
  declined: 'bad',
  withdrawn: 'over',
}

/** The state of a request, what was given, the note, and who decided; users do not read who. */
export function Outcome({ request }: { request: IncreaseRequest }) {
  const { status, granted, note, decided_by, decided_at } = request
  return (
    <>
      <Badge tone={TONES[status]}>{words.states[status]}</Badge>
      {granted !== null && (
        <div className={classes.about}>{words.given(granted.units, <End at={granted.until} />)}</div>
      )}
      {note !== null && (
        <div className={classes.about}>
          <bdi>{note}</bdi>
        </div>
      )}
      {decided_by !== null && (
        <div className={classes.about}>{words.by(<Actor subject={decided_by} />, <Timestamp at={decided_at} />)}</div>
      )}
    </>
  )
}
