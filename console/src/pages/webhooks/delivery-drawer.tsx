import { Button, Code, Drawer, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Fragment, type ReactNode } from 'react'
import { retryDelayOf } from '../../api/problem.ts'
import type { Api } from '../../api/types.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { Loaded, Loading } from '../../components/loaded.tsx'
import { LongDate, Units } from '../../components/values.tsx'
import { formatDistance } from '../../formats.ts'
import { queryOf, useChange } from '../../queries/calls.ts'
import { texts } from '../../texts/texts.ts'
import { DeliveryStatus } from './delivery-table.tsx'
import classes from './webhook.module.css'

type Delivery = Api['WebhookDeliveryDetail']

const INTERVAL_MS = 5_000
const { drawer: words, deliveries } = texts.webhooks

interface DeliveryDrawerProps {
  webhook: Api['Webhook']
  delivery: string
  mayResend: boolean
  onClose: () => void
}

/** One delivery: how it went, what was posted, and what the receiver answered. */
export default function DeliveryDrawer({ webhook, delivery, mayResend, onClose }: DeliveryDrawerProps) {
  const input = { id: webhook.id, delivery }
  const query = useQuery({
    ...queryOf('GET /admin/webhooks/{id}/deliveries/{delivery}', input),
    // Until it has ended.
    refetchInterval: ({ state: { data, error } }) =>
      retryDelayOf(error) ?? (data?.status === 'pending' ? INTERVAL_MS : false),
  })
  const resend = useChange('POST /admin/webhooks/{id}/deliveries/{delivery}/redeliver')
  return (
    <Drawer.Root opened onClose={onClose} position="right" size="36rem" transitionProps={{ duration: 0 }}>
      <Drawer.Overlay />
      <Drawer.Content>
        <div className={classes.drawerHead}>
          <Drawer.Title>
            {query.data?.type ?? deliveries.event} <Code>{delivery}</Code>
          </Drawer.Title>
          <Drawer.CloseButton aria-label={words.close} />
        </div>
        <Drawer.Body>
          <Loaded query={query} loading={<Loading rows={6} height={32} />}>
            {data => <Detail delivery={data} webhook={webhook} />}
          </Loaded>
          {mayResend && (
            <Button mt="lg" loading={resend.isPending} onClick={() => resend.mutate(input)}>
              {deliveries.resend}
            </Button>
          )}
          <ErrorNotice variant="action" error={resend.error} />
          <div role="status">{resend.isSuccess && words.isDue}</div>
        </Drawer.Body>
      </Drawer.Content>
    </Drawer.Root>
  )
}

function Detail({ delivery, webhook: { kind, url } }: { delivery: Delivery; webhook: Api['Webhook'] }) {
  const { status, attempts, response_code, error, answer, payload } = delivery
  return (
    <>
      <DeliveryStatus status={status} />
      <Text size="sm" c="dimmed">
        {words.about[status]}
      </Text>
      <Facts
        facts={[
          [words.created, <When key="at" at={delivery.created_at} />],
          [deliveries.columns.attempts, <Units key="attempts" value={attempts} />],
          [deliveries.columns.lastAttempt, <When key="at" at={delivery.last_attempt_at} />],
          [deliveries.columns.nextAttempt, <When key="at" at={delivery.next_attempt_at} />],
        ]}
      />
      <Title order={3} size="sm" mt="lg" mb="xs">
        {words.response}
      </Title>
      <Facts
        facts={[
          [words.code, response_code ?? (attempts === 0 ? '–' : deliveries.noResponse)],
          ...(error === null ? [] : [[words.error, error] as const]),
          ...(answer === null ? [] : [[words.answer, answer] as const]),
        ]}
      />
      <Text size="sm" c="dimmed">
        {words.aboutResponse}
      </Text>
      {kind === 'webhook' && (
        <>
          <Title order={3} size="sm" mt="lg" mb="xs">
            {words.request}
          </Title>
          <Code block>{headOf(delivery, url ?? '')}</Code>
          <Text size="sm" c="dimmed">
            {words.aboutSignature}
          </Text>
        </>
      )}
      {payload === null ? (
        <Text size="sm" c="dimmed">
          {words.eventDeleted}
        </Text>
      ) : (
        <>
          <div className={classes.bodyHead}>
            <Title order={3} size="sm">
              {words.body}
            </Title>
            <CopyButton value={JSON.stringify(payload)} />
          </div>
          <Code block>{JSON.stringify(payload, null, 2)}</Code>
        </>
      )}
    </>
  )
}

/** The head of the request, with what differs between attempts left open. */
function headOf({ id, last_attempt_at }: Delivery, url: string): string {
  const sent = last_attempt_at === null ? '…' : String(Math.floor(Date.parse(last_attempt_at) / 1_000))
  return [
    `POST ${url}`,
    'content-type: application/json',
    'user-agent: sms-quota',
    `webhook-id: ${id}`,
    `webhook-timestamp: ${sent}`,
    'webhook-signature: v1,…',
  ].join('\n')
}

function When({ at }: { at: string | null }) {
  if (at === null) return '–'
  return (
    <>
      <LongDate at={at} /> ({formatDistance(at, Date.now())})
    </>
  )
}

function Facts({ facts }: { facts: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className={classes.facts}>
      {facts.map(([name, value]) => (
        <Fragment key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </Fragment>
      ))}
    </dl>
  )
}
