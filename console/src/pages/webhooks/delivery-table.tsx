import { Button, Table, VisuallyHidden } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { request } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import type { Api } from '../../api/types.ts'
import { Badge } from '../../parts/badge.tsx'
import { Moment } from '../../parts/moment.tsx'
import { NotDone } from '../../parts/not-done.tsx'
import rows from '../../parts/rows.module.css'
import { Units } from '../../parts/units.tsx'
import { DELIVERY_TONES, DELIVERY_WORDS } from './delivery-words.ts'
import { deliveriesKey } from './webhook-calls.ts'

type Delivery = Api['WebhookDelivery']

interface DeliveryTableProps {
  webhookId: number
  deliveries: readonly Delivery[]
  /** Whether other rows are on their way. */
  isOld: boolean
}

export function DeliveryTable({ webhookId, deliveries, isOld }: DeliveryTableProps) {
  const redeliver = useMutation({
    mutationFn: (delivery: string) =>
      request<Api['Redelivered']>(`/admin/webhooks/${webhookId}/deliveries/${delivery}/redeliver`, { method: 'POST' }),
    onSettled: () => queries.invalidateQueries({ queryKey: deliveriesKey(webhookId) }),
  })
  return (
    <>
      <NotDone error={redeliver.error} />
      <VisuallyHidden role="status">{redeliver.isSuccess && `${redeliver.variables} is sent again.`}</VisuallyHidden>
      <Table
        className={`${rows.table} ${rows.cards}`}
        aria-label="Deliveries"
        aria-busy={isOld}
        data-old={isOld || undefined}
      >
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Event</Table.Th>
            <Table.Th scope="col">Status</Table.Th>
            <Table.Th scope="col">Last answer</Table.Th>
            <Table.Th scope="col" className={rows.number ?? ''}>
              Attempts
            </Table.Th>
            <Table.Th scope="col">Last attempt</Table.Th>
            <Table.Th scope="col">Next attempt</Table.Th>
            <Table.Th scope="col">
              <VisuallyHidden>Send again</VisuallyHidden>
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
        {type ?? 'Not kept any more'}
        <div className={rows.about}>{id}</div>
      </Table.Th>
      <Table.Td data-label="Status">
        <Badge tone={DELIVERY_TONES[status]}>{DELIVERY_WORDS[status]}</Badge>
      </Table.Td>
      <Table.Td data-label="Last answer">
        <div>
          {response_code ?? (attempts === 0 ? '–' : 'None')}
          <div className={`${rows.about} ${rows.name}`}>{error}</div>
        </div>
      </Table.Td>
      <Table.Td data-label="Attempts" className={rows.number ?? ''}>
        <Units value={attempts} />
      </Table.Td>
      <Table.Td data-label="Last attempt">
        <Moment at={last_attempt_at} />
      </Table.Td>
      <Table.Td data-label="Next attempt">
        <Moment at={next_attempt_at} />
      </Table.Td>
      <Table.Td>
        <Button
          variant="default"
          size="compact-xs"
          loading={isBusy}
          onClick={onRedeliver}
          aria-label={`Send again: ${id}`}
        >
          Send again
        </Button>
      </Table.Td>
    </Table.Tr>
  )
}
