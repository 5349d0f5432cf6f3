import { Anchor, Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import type { Api } from '../../api/types.ts'
import { EmptyState, Loaded, Loading } from '../../components/loaded.tsx'
import { PageTitle } from '../../components/page-title.tsx'
import rows from '../../components/panel-table.module.css'
import { Table } from '../../components/table.tsx'
import { Timestamp } from '../../components/values.tsx'
import { webhooksQuery } from '../../queries/webhooks.ts'
import { may } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import { WebhookStatus } from './webhook-status.tsx'

const { list } = texts.webhooks

/** The list of webhooks. */
export default function Webhooks() {
  const webhooks = useQuery(webhooksQuery())
  const mayChange = may(useCaller(), 'change')
  return (
    <>
      <PageTitle title={list.title} about={list.about}>
        {mayChange && (
          <Button component={Link} href="/webhooks/new" size="xs">
            {list.create}
          </Button>
        )}
      </PageTitle>
      <Loaded query={webhooks} loading={<Loading rows={4} height={44} />}>
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState title={list.none}>
              {list.aboutWebhooks} {mayChange && list.createFirst}
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
  const { columns } = list
  return (
    <Table className={`${rows.table} ${rows.cards}`} aria-label={list.title}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">{columns.webhook}</Table.Th>
          <Table.Th scope="col">{columns.events}</Table.Th>
          <Table.Th scope="col">{columns.status}</Table.Th>
          <Table.Th scope="col">{columns.created}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {webhooks.map(webhook => (
          <Table.Tr key={webhook.id}>
            <Table.Th scope="row">
              <Anchor component={Link} href={`/webhooks/${webhook.id}`} size="sm" fw={600} className={rows.name}>
                <bdi>{webhook.url}</bdi>
              </Anchor>
              <div className={`${rows.about} ${rows.name}`}>
                <bdi>{webhook.description ?? ''}</bdi>
              </div>
            </Table.Th>
            <Table.Td data-label={columns.events}>
              <div>{webhook.types?.map(type => <div key={type}>{type}</div>) ?? list.allEvents}</div>
            </Table.Td>
            <Table.Td data-label={columns.status} className={rows.state}>
              <WebhookStatus {...webhook} />
            </Table.Td>
            <Table.Td data-label={columns.created}>
              <Timestamp at={webhook.created_at} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}
