import { Anchor, Button, Table } from '@mantine/core'
import { Link } from 'wouter'
import type { Api } from '../../api/types.ts'
import { countryLabel, formatUnits } from '../../formats.ts'
import classes from '../record-table.module.css'
import { Timestamp, Units } from '../values.tsx'
import { DENIAL_REASON_LABELS, DENIAL_REASON_TEXTS } from './denial-labels.ts'
import { type Scope, userOf } from './denial-queries.ts'
import { LimitingQuota } from './limiting-quota.tsx'

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
  return (
    <Table className={classes.table ?? ''} aria-label="Denials" aria-busy={isStale} data-stale={isStale || undefined}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">Message</Table.Th>
          {scope === null && <Table.Th scope="col">User</Table.Th>}
          <Table.Th scope="col">Denied</Table.Th>
          <Table.Th scope="col">Reason</Table.Th>
          <Table.Th scope="col" className={classes.number ?? ''}>
            Units
          </Table.Th>
          <Table.Th scope="col">For</Table.Th>
          <Table.Th scope="col">Limited by</Table.Th>
          <Table.Th scope="col">Try again from</Table.Th>
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
  const { denial_id, id, user_id, at, reason, units, country, message_type, skipped, retry_at } = denial
  return (
    <Table.Tr>
      <Table.Th scope="row" data-label="Message">
        <bdi className={classes.name}>{id}</bdi>
        {skipped !== null && skipped > 0 && (
          <div className={classes.about}>{formatUnits(skipped)} more left out before it</div>
        )}
      </Table.Th>
      {scope === null && (
        <Table.Td data-label="User">
          <Anchor component={Link} href={`/users/${user_id}/denials`} size="sm">
            {user_id}
          </Anchor>
        </Table.Td>
      )}
      <Table.Td data-label="Denied">
        <Timestamp at={at} />
      </Table.Td>
      <Table.Td data-label="Reason">
        <div>
          {DENIAL_REASON_LABELS[reason]}
          <div className={classes.about}>{DENIAL_REASON_TEXTS[reason]}</div>
          <Button
            variant="default"
            size="compact-xs"
            mt={4}
            aria-haspopup="dialog"
            aria-label={`Explain: ${id}`}
            onClick={() => onExplain(denial_id)}
          >
            Explain
          </Button>
        </div>
      </Table.Td>
      <Table.Td data-label="Units" className={classes.number ?? ''}>
        <Units value={units} />
      </Table.Td>
      <Table.Td data-label="For">
        <div>
          {country === null ? 'No country' : countryLabel(country)}
          {message_type !== null && <div className={`${classes.about} ${classes.name}`}>{message_type}</div>}
        </div>
      </Table.Td>
      <Table.Td data-label="Limited by">
        <div className={classes.name}>
          <LimitingQuota denial={denial} user={userOf(scope, denial)} />
        </div>
      </Table.Td>
      <Table.Td data-label="Try again from">
        <Timestamp at={retry_at} none="Waiting does not help" />
      </Table.Td>
    </Table.Tr>
  )
}
