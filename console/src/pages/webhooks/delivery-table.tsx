import { UnstyledButton } from '@mantine/core'
import type { Api } from '../../api/types.ts'
import { Badge, type Tone } from '../../components/badge.tsx'
import rows from '../../components/panel-table.module.css'
import { Table } from '../../components/table.tsx'
import { Timestamp, Units } from '../../components/values.tsx'
import { texts } from '../../texts/texts.ts'
import classes from './webhook.module.css'

type Delivery = Api['WebhookDelivery']

const { deliveries: words } = texts.webhooks
const { columns } = words
const TONES: Record<Delivery['status'], Tone> = { pending: 'coming', delivered: 'good', failed: 'bad' }

export function DeliveryStatus({ status }: Pick<Delivery, 'status'>) {
  return <Badge tone={TONES[status]}>{words.statuses[status]}</Badge>
}

interface DeliveryTableProps {
  deliveries: readonly Delivery[]
  /** Whether newer rows are being loaded. */
  isStale: boolean
  onOpen: (id: string) => void
}

export function DeliveryTable({ deliveries, isStale, onOpen }: DeliveryTableProps) {
  return (
    <Table
      className={`${rows.table} ${rows.cards}`}
      aria-label={words.label}
      aria-busy={isStale}
      data-stale={isStale || undefined}
    >
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">{columns.event}</Table.Th>
          <Table.Th scope="col">{columns.status}</Table.Th>
          <Table.Th scope="col">{columns.response}</Table.Th>
          <Table.Th scope="col" className={rows.number}>
            {columns.attempts}
          </Table.Th>
          <Table.Th scope="col">{columns.lastAttempt}</Table.Th>
          <Table.Th scope="col">{columns.nextAttempt}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {deliveries.map(delivery => (
          <Row key={delivery.id} delivery={delivery} onOpen={() => onOpen(delivery.id)} />
        ))}
      </Table.Tbody>
    </Table>
  )
}

function Row({ delivery, onOpen }: { delivery: Delivery; onOpen: () => void }) {
  const { id, type, status, attempts, response_code, error, last_attempt_at, next_attempt_at } = delivery
  return (
    <Table.Tr>
      <Table.Th scope="row">
        <UnstyledButton className={classes.open} onClick={onOpen} aria-haspopup="dialog">
          {type ?? words.eventDeleted}
          <span className={rows.about}>{id}</span>
        </UnstyledButton>
      </Table.Th>
      <Table.Td data-label={columns.status}>
        <DeliveryStatus status={status} />
      </Table.Td>
      <Table.Td data-label={columns.response}>
        <div>
          {response_code ?? (attempts === 0 ? '–' : words.noResponse)}
          <div className={`${rows.about} ${rows.name}`}>{error}</div>
        </div>
      </Table.Td>
      <Table.Td data-label={columns.attempts} className={rows.number}>
        <Units value={attempts} />
      </Table.Td>
      <Table.Td data-label={columns.lastAttempt}>
        <Timestamp at={last_attempt_at} />
      </Table.Td>
      <Table.Td data-label={columns.nextAttempt}>
        <Timestamp at={next_attempt_at} />
      </Table.Td>
    </Table.Tr>
  )
}
