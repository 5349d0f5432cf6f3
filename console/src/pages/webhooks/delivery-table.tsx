import { Button, Table, VisuallyHidden } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { request } from '../../api/client.ts'
import { queryClient } from '../../api/query-client.ts'
import type { Api } from '../../api/types.ts'
import { Badge } from '../../components/badge.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import rows from '../../components/panel-table.module.css'
import { Timestamp, Units } from '../../components/values.tsx'
import { DELIVERY_STATUS_LABELS, DELIVERY_TONES } from './delivery-labels.ts'
import { deliveriesKey } from './webhook-queries.ts'

type Delivery = Api['WebhookDelivery']

interface DeliveryTableProps {
  webhookId: number
  deliveries: readonly Delivery[]
  /** Whether newer rows are being loaded. */
  isStale: boolean
}

export function DeliveryTable({ webhookId, deliveries, isStale }: DeliveryTableProps) {
  const redeliver = useMutation({
    mutationFn: (delivery: string) =>
      request<Api['Redelivered']>(`/admin/webhooks/${webhookId}/deliveries/${delivery}/redeliver`, { method: 'POST' }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: deliveriesKey(webhookId) }),
  })
  return (
    <>
      <ErrorNotice variant="action" error={redeliver.error} />
      <VisuallyHidden role="status">
        {redeliver.isSuccess && `${redeliver.variables} is being redelivered.`}
      </VisuallyHidden>
      <Table
        className={`${rows.table} ${rows.cards}`}
        aria-label="Deliveries"
        aria-busy={isStale}
        data-stale={isStale || undefined}
      >
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Event</Table.Th>
            <Table.Th scope="col">Status</Table.Th>
            <Table.Th scope="col">Last response</Table.Th>
            <Table.Th scope="col" className={rows.number ?? ''}>
              Attempts
            </Table.Th>
            <Table.Th scope="col">Last attempt</Table.Th>
            <Table.Th scope="col">Next attempt</Table.Th>
            <Table.Th scope="col">
              <VisuallyHidden>Redeliver</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {deliveries.map(delivery => (
            <Row
              key={delivery.id}
              delivery={delivery}
              isBusy={redeliver.isPending && redeliver.variables === delivery.id}
              onRedeliver={() => redeliver.mutate(delivery.id)}
            />
          ))}
        </Table.Tbody>
      </Table>
    </>
  )
}

interface RowProps {
  delivery: Delivery
  isBusy: boolean
  onRedeliver: () => void
}

function Row({ delivery, isBusy, onRedeliver }: RowProps) {
  const { id, type, status, attempts, response_code, error, last_attempt_at, next_attempt_at } = delivery
  return (
    <Table.Tr>
      <Table.Th scope="row">
        {type ?? 'Event deleted'}
        <div className={rows.about}>{id}</div>
      </Table.Th>
      <Table.Td data-label="Status">
        <Badge tone={DELIVERY_TONES[status]}>{DELIVERY_STATUS_LABELS[status]}</Badge>
      </Table.Td>
      <Table.Td data-label="Last response">
        <div>
          {response_code ?? (attempts === 0 ? '–' : 'None')}
          <div className={`${rows.about} ${rows.name}`}>{error}</div>
        </div>
      </Table.Td>
      <Table.Td data-label="Attempts" className={rows.number ?? ''}>
        <Units value={attempts} />
      </Table.Td>
      <Table.Td data-label="Last attempt">
        <Timestamp at={last_attempt_at} />
      </Table.Td>
      <Table.Td data-label="Next attempt">
        <Timestamp at={next_attempt_at} />
      </Table.Td>
      <Table.Td>
        <Button
          variant="default"
          size="compact-xs"
          loading={isBusy}
          onClick={onRedeliver}
          aria-label={`Redeliver: ${id}`}
        >
          Redeliver
        </Button>
      </Table.Td>
    </Table.Tr>
  )
}
