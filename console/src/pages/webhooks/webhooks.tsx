import { Anchor, Button, Table } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { request } from '../../api/client.ts'
import type { Api } from '../../api/types.ts'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Moment } from '../../parts/moment.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import rows from '../../parts/rows.module.css'
import { WebhookState } from './webhook-state.tsx'

/** Where events are sent. */
export default function Webhooks() {
  const list = useQuery({
    queryKey: ['webhooks', 'list'],
    queryFn: ({ signal }) => request<Api['WebhookList']>('/admin/webhooks', { signal }),
  })
  return (
    <>
      <PageTitle title="Webhooks" about="Where what happens is sent, so that other systems hear of it at once.">
        <Button component={Link} href="/webhooks/new" size="xs">
          New webhook
        </Button>
      </PageTitle>
      <Loaded query={list} loading={<Loading rows={4} height={44} />}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No webhooks yet">
              A webhook posts each event, signed, to an address of yours: a quota was made or changed, units run low, a
              quota has ended. Make the first one with “New webhook”, and send it a test event.
            </Empty>
          ) : (
            <List webhooks={items} />
          )
        }
      </Loaded>
    </>
  )
}

function List({ webhooks }: { webhooks: readonly Api['Webhook'][] }) {
  return (
    <Table className={`${rows.table} ${rows.cards}`} aria-label="Webhooks">
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">Webhook</Table.Th>
          <Table.Th scope="col">Events</Table.Th>
          <Table.Th scope="col">State</Table.Th>
          <Table.Th scope="col">Made</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {webhooks.map(webhook => (
          <Table.Tr key={webhook.id}>
            <Table.Th scope="row">
              <Anchor component={Link} href={`/webhooks/${webhook.id}`} size="sm" fw={600} className={rows.name ?? ''}>
                <bdi>{webhook.url}</bdi>
              </Anchor>
              <div className={`${rows.about} ${rows.name}`}>
                <bdi>{webhook.description ?? ''}</bdi>
              </div>
            </Table.Th>
            <Table.Td data-label="Events">
              <div>{webhook.types?.map(type => <div key={type}>{type}</div>) ?? 'All'}</div>
            </Table.Td>
            <Table.Td data-label="State" className={rows.state ?? ''}>
              <WebhookState {...webhook} />
            </Table.Td>
            <Table.Td data-label="Made">
              <Moment at={webhook.created_at} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}
