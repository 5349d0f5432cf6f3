import type { Api } from '../../api/types.ts'
import type { ViewedUser } from '../../model/addresses.ts'
import { texts } from '../../texts/texts.ts'
import { timeColumn, unitsColumn } from '../columns.tsx'
import classes from '../data-table.module.css'
import { type Column, DataTable } from '../data-table.tsx'
import { destinationColumn } from '../destination-column.tsx'
import { MessageLink, QuotaLink } from '../links.tsx'
import { RowButton } from '../row-button.tsx'
import { TimeToTheSecond } from '../values.tsx'

type Denial = Api['DenialRecord']

interface TableProps {
  denials: readonly Denial[]
  user: ViewedUser
  /** Whether newer rows are being loaded. */
  isStale: boolean
  /** Opens the explanation of a denial. */
  onExplain: (denialId: string) => void
}

export function DenialTable({ denials, user, isStale, onExplain }: TableProps) {
  return (
    <DataTable
      look="records"
      label={texts.denials.table}
      columns={columnsOf(user, onExplain)}
      rows={denials}
      keyOf={({ denial_id }) => denial_id}
      isStale={isStale}
    />
  )
}

function columnsOf(user: ViewedUser, onExplain: TableProps['onExplain']): Column<Denial>[] {
  const { columns, noCountry, waitingDoesNotHelp } = texts.denials
  return [
    { label: columns.message, kind: 'name', cell: denial => <Message denial={denial} user={user} /> },
    { label: columns.denied, cell: ({ at }) => <TimeToTheSecond at={at} /> },
    { label: columns.reason, cell: denial => <Reason {...{ denial, user, onExplain }} /> },
    unitsColumn(columns.units, ({ units }) => units),
    destinationColumn(columns.destination, noCountry),
    {
      label: columns.limitedBy,
      kind: 'name',
      cell: denial => (
        <div className={classes.narrow}>
          <LimitingQuota denial={denial} user={user} />
        </div>
      ),
    },
    timeColumn(
      columns.retryAt,
      ({ retry_at }) => retry_at,
      () => waitingDoesNotHelp,
    ),
  ]
}

function Message({ denial, user }: { denial: Denial; user: ViewedUser }) {
  const { id, skipped } = denial
  return (
    <div className={classes.narrow}>
      <MessageLink user={user} id={id} />
      {skipped !== null && skipped > 0 && <div className={classes.about}>{texts.denials.skipped(skipped)}</div>}
    </div>
  )
}

function Reason({ denial, user, onExplain }: Pick<TableProps, 'user' | 'onExplain'> & { denial: Denial }) {
  const { denial_id, id, reason } = denial
  const { ownReasons, ownReasonSentences } = texts.denials
  return (
    <div className={classes.withAction}>
      <div>
        {user.isOwn ? ownReasons[reason] : texts.values.denialReasons[reason]}
        {/* Administrators know what the words mean, and have many rows; the explanation has the sentence. */}
        {user.isOwn && <div className={classes.about}>{ownReasonSentences[reason]}</div>}
      </div>
      <RowButton label={texts.denials.explainMessage(id)} onClick={() => onExplain(denial_id)}>
        {texts.denials.explain}
      </RowButton>
    </div>
  )
}

/** The quota that limited a denied message. */
function LimitingQuota({ denial, user }: { denial: Denial; user: ViewedUser }) {
  const { limiting_quota_id, reason } = denial
  if (limiting_quota_id === null) return texts.denials.noQuota
  return <QuotaLink id={limiting_quota_id} kind={limitingKindOf(reason)} user={user} />
}

/** A blocking cap comes first, and does not exist if the reason is that grants had too little left. */
export function limitingKindOf(reason: Denial['reason']): Api['SmsQuota']['kind'] {
  return reason === 'quota_exhausted' ? 'grant' : 'cap'
}
