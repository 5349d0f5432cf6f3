import { UnstyledButton } from '@mantine/core'
import type { Api } from '../../api/types.ts'
import { Badge, type Tone } from '../../components/badge.tsx'
import { timeColumn, unitsColumn } from '../../components/columns.tsx'
import rows from '../../components/data-table.module.css'
import { type Column, DataTable } from '../../components/data-table.tsx'
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
    <DataTable
      label={words.label}
      columns={columnsOf(onOpen)}
      rows={deliveries}
      keyOf={({ id }) => id}
      isStale={isStale}
    />
  )
}

function columnsOf(onOpen: DeliveryTableProps['onOpen']): Column<Delivery>[] {
  return [
    {
      label: columns.event,
      cell: ({ id, type }) => (
        <UnstyledButton className={classes.open} onClick={() => onOpen(id)} aria-haspopup="dialog">
          {type ?? words.eventDeleted}
          <span className={rows.about}>{id}</span>
        </UnstyledButton>
      ),
    },
    { label: columns.status, cell: ({ status }) => <DeliveryStatus status={status} /> },
    {
      label: columns.response,
      cell: ({ response_code, attempts, error }) => (
        <>
          {response_code ?? (attempts === 0 ? '–' : words.noResponse)}
          <div className={`${rows.about} ${rows.name}`}>{error}</div>
        </>
      ),
    },
    unitsColumn(columns.attempts, ({ attempts }) => attempts),
    timeColumn(columns.lastAttempt, ({ last_attempt_at }) => last_attempt_at),
    timeColumn(columns.nextAttempt, ({ next_attempt_at }) => next_attempt_at),
  ]
}
