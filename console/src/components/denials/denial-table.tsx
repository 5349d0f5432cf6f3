import { Anchor, Button } from '@mantine/core'
import { Link } from 'wouter'
import type { Api } from '../../api/types.ts'
import { countryLabel } from '../../formats.ts'
import { type Scope, userOf } from '../../queries/denials.ts'
import { texts } from '../../texts/texts.ts'
import { MessageLink, QuotaLink } from '../links.tsx'
import classes from '../record-table.module.css'
import { Table } from '../table.tsx'
import { Timestamp, Units } from '../values.tsx'

type Denial = Api['DenialRecord']

interface TableProps {
  denials: readonly Denial[]
  scope: Scope
  /** Whether newer rows are being loaded. */
  isStale: boolean
  /** Opens the explanation of a denial. */
  onExplain: (denialId: string) => void
}

/** A table of denials; on narrow screens each row becomes a card. */
export function DenialTable({ denials, scope, isStale, onExplain }: TableProps) {
  const { table, columns } = texts.denials
  return (
    <Table className={classes.table} aria-label={table} aria-busy={isStale} data-stale={isStale || undefined}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">{columns.message}</Table.Th>
          {scope === null && <Table.Th scope="col">{columns.user}</Table.Th>}
          <Table.Th scope="col">{columns.denied}</Table.Th>
          <Table.Th scope="col">{columns.reason}</Table.Th>
          <Table.Th scope="col" className={classes.number}>
            {columns.units}
          </Table.Th>
          <Table.Th scope="col">{columns.destination}</Table.Th>
          <Table.Th scope="col">{columns.limitedBy}</Table.Th>
          <Table.Th scope="col">{columns.retryAt}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {denials.map(denial => (
          <Row key={denial.denial_id} denial={denial} scope={scope} onExplain={onExplain} />
        ))}
      </Table.Tbody>
    </Table>
  )
}

function Row({ denial, scope, onExplain }: Pick<TableProps, 'scope' | 'onExplain'> & { denial: Denial }) {
  const { id, user_id, at, units, country, message_type, skipped, retry_at } = denial
  const { columns } = texts.denials
  return (
    <Table.Tr>
      <Table.Th scope="row" data-label={columns.message} className={classes.name}>
        <div className={classes.narrow}>
          <MessageLink user={userOf(scope, denial)} id={id} />
          {skipped !== null && skipped > 0 && <div className={classes.about}>{texts.denials.skipped(skipped)}</div>}
        </div>
      </Table.Th>
      {scope === null && (
        <Table.Td data-label={columns.user}>
          <Anchor component={Link} href={`/users/${user_id}/denials`} size="sm">
            {user_id}
          </Anchor>
        </Table.Td>
      )}
      <Table.Td data-label={columns.denied}>
        <Timestamp at={at} />
      </Table.Td>
      <Table.Td data-label={columns.reason}>
        <Reason denial={denial} scope={scope} onExplain={onExplain} />
      </Table.Td>
      <Table.Td data-label={columns.units} className={classes.number}>
        <Units value={units} />
      </Table.Td>
      <Table.Td data-label={columns.destination}>
        <div>
          {country === null ? texts.denials.noCountry : countryLabel(country)}
          {message_type !== null && <div className={`${classes.about} ${classes.name}`}>{message_type}</div>}
        </div>
      </Table.Td>
      <Table.Td data-label={columns.limitedBy}>
        <div className={`${classes.name} ${classes.narrow}`}>
          <LimitingQuota denial={denial} scope={scope} />
        </div>
      </Table.Td>
      <Table.Td data-label={columns.retryAt}>
        <Timestamp at={retry_at} none={texts.denials.waitingDoesNotHelp} />
      </Table.Td>
    </Table.Tr>
  )
}

function Reason({ denial, scope, onExplain }: Pick<TableProps, 'scope' | 'onExplain'> & { denial: Denial }) {
  const { denial_id, id, reason } = denial
  const { ownReasons, ownReasonSentences } = texts.denials
  return (
    <div className={classes.withAction}>
      <div>
        {scope?.isOwn ? ownReasons[reason] : texts.values.denialReasons[reason]}
        {/* Administrators know what the words mean, and have many rows; the explanation has the sentence. */}
        {scope?.isOwn && <div className={classes.about}>{ownReasonSentences[reason]}</div>}
      </div>
      <Button
        variant="default"
        size="compact-xs"
        aria-haspopup="dialog"
        aria-label={texts.denials.explainMessage(id)}
        onClick={() => onExplain(denial_id)}
      >
        {texts.denials.explain}
      </Button>
    </div>
  )
}

/** The quota that limited a denied message. */
function LimitingQuota({ denial, scope }: { denial: Denial; scope: Scope }) {
  const { limiting_quota_id, reason } = denial
  if (limiting_quota_id === null) return texts.denials.noQuota
  return <QuotaLink id={limiting_quota_id} kind={limitingKindOf(reason)} user={userOf(scope, denial)} />
}

/** A blocking cap comes first, and does not exist if the reason is that grants had too little left. */
export function limitingKindOf(reason: Denial['reason']): Api['SmsQuota']['kind'] {
  return reason === 'quota_exhausted' ? 'grant' : 'cap'
}
