import { Anchor, Button, Table } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { request } from '../../api/client.ts'
import type { Api } from '../../api/types.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Loading } from '../../components/loading.tsx'
import { PageTitle } from '../../components/page-title.tsx'
import rows from '../../components/panel-table.module.css'
import { Timestamp } from '../../components/values.tsx'
import { WebhookStatus } from './webhook-status.tsx'

/** The list of webhooks. */
export default function Webhooks() {
  const list = useQuery({
    queryKey: ['webhooks', 'list'],
    queryFn: ({ signal }) => request<Api['WebhookList']>('/admin/webhooks', { signal }),
  })
  return (
    <>
      <PageTitle title="Webhooks" about="Send events to other systems.">
        <Button component={Link} href="/webhooks/new" size="xs">
          New webhook
        </Button>
      </PageTitle>
      <Loaded query={list} loading={<Loading rows={4} height={44} />}>
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState title="No webhooks yet">
              A webhook posts signed events to your URL, for example when a quota is created, reaches an alert threshold
              or expires. Create the first one with “New webhook”.
            </EmptyState>
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
          <Table.Th scope="col">Status</Table.Th>
          <Table.Th scope="col">Created</Table.Th>
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
            <Table.Td data-label="Status" className={rows.state ?? ''}>
              <WebhookStatus {...webhook} />
            </Table.Td>
            <Table.Td data-label="Created">
              <Timestamp at={webhook.created_at} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}
