import { Anchor, Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { MAX_PAGE_SIZE } from '../../../../src/domain/basics/bounds.ts'
import type { Api } from '../../api/types.ts'
import { timeColumn } from '../../components/columns.tsx'
import rows from '../../components/data-table.module.css'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { EmptyState, Loaded, Loading } from '../../components/loaded.tsx'
import { PageTitle } from '../../components/page-title.tsx'
import { destinationOf } from '../../model/webhook.ts'
import { inputOf } from '../../model/webhook-form.ts'
import { takenLately } from '../../model/would-receive.ts'
import { queryOf } from '../../queries/calls.ts'
import { may } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import { receivedText } from './received.ts'
import { WebhookStatus } from './webhook-status.tsx'

const { list } = texts.webhooks

/** The latest events, oldest first: which of them a webhook would receive says what its settings come to. */
const LATEST = { query: { last: MAX_PAGE_SIZE, limit: MAX_PAGE_SIZE } }

/** The list of webhooks. */
export default function Webhooks() {
  const webhooks = useQuery(queryOf('GET /admin/webhooks', {}))
  const { data: latest } = useQuery(queryOf('GET /admin/events', LATEST))
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
            <DataTable label={list.title} columns={columnsOf(latest)} rows={items} keyOf={({ id }) => id} />
          )
        }
      </Loaded>
    </>
  )
}

function columnsOf(latest: Api['EventPage'] | undefined): readonly Column<Api['Webhook']>[] {
  return [
    {
      label: list.columns.webhook,
      kind: 'name',
      cell: ({ id, kind, description, ...webhook }) => (
        <>
          <Anchor component={Link} href={`/webhooks/${id}`} size="sm" fw={600}>
            <bdi>{description ?? destinationOf(webhook)}</bdi>
          </Anchor>
          <div className={rows.about}>
            {kind === 'webhook' ? '' : `${list.kinds[kind]} `}
            {description !== null && <bdi>{destinationOf(webhook)}</bdi>}
          </div>
        </>
      ),
    },
    { label: list.columns.receives, cell: webhook => receivedText(webhook.kind, inputOf(webhook)) },
    {
      label: list.columns.lately,
      cell: webhook => {
        if (latest === undefined) return ''
        const { items } = latest
        const taken = takenLately(webhook, items, items.length < MAX_PAGE_SIZE, Date.now())
        return list.lately(taken.count, taken.isMore, webhook.kind === 'users')
      },
    },
    { label: list.columns.status, kind: 'state', cell: webhook => <WebhookStatus {...webhook} /> },
    timeColumn(list.columns.created, ({ created_at }) => created_at),
  ]
}
