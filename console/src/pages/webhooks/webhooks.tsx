import { Anchor, Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import type { Api } from '../../api/types.ts'
import { timeColumn } from '../../components/columns.tsx'
import rows from '../../components/data-table.module.css'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { EmptyState, Loaded, Loading } from '../../components/loaded.tsx'
import { PageTitle } from '../../components/page-title.tsx'
import { destinationOf } from '../../model/webhook.ts'
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
            <DataTable label={list.title} columns={COLUMNS} rows={items} keyOf={({ id }) => id} />
          )
        }
      </Loaded>
    </>
  )
}

const COLUMNS: readonly Column<Api['Webhook']>[] = [
  {
    label: list.columns.webhook,
    cell: ({ id, kind, description, ...webhook }) => (
      <>
        <Anchor component={Link} href={`/webhooks/${id}`} size="sm" fw={600} className={rows.name}>
          <bdi>{destinationOf(webhook)}</bdi>
        </Anchor>
        <div className={`${rows.about} ${rows.name}`}>
          {kind === 'webhook' ? '' : `${list.kinds[kind]} `}
          <bdi>{description ?? ''}</bdi>
        </div>
      </>
    ),
  },
  {
    label: list.columns.events,
    cell: ({ types }) => types?.map(type => <div key={type}>{type}</div>) ?? list.allEvents,
  },
  { label: list.columns.status, kind: 'state', cell: webhook => <WebhookStatus {...webhook} /> },
  timeColumn(list.columns.created, ({ created_at }) => created_at),
]
