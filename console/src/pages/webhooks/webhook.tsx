import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useParams } from 'wouter'
import { request } from '../../api/client.ts'
import { ApiProblem } from '../../api/problem.ts'
import type { Api } from '../../api/types.ts'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Loading } from '../../components/loading.tsx'
import { NotFound } from '../../components/not-found.tsx'
import { PageTitle } from '../../components/page-title.tsx'
import { Section } from '../../components/section.tsx'
import { uint } from '../../components/url-state.ts'
import { DeleteWebhook } from './delete-webhook.tsx'
import { Deliveries } from './deliveries.tsx'
import { RotateSecret } from './rotate-secret.tsx'
import { Settings } from './settings.tsx'
import { TestEvent } from './test-event.tsx'
import classes from './webhook.module.css'
import { cacheWebhook, updateWebhook, webhookKey } from './webhook-queries.ts'
import { WebhookStatus } from './webhook-status.tsx'

/** The page of a webhook: state, deliveries and settings. */
export default function WebhookPage() {
  const id = uint(useParams().id ?? null)
  return id === null ? <NotFound /> : <WebhookDetail key={id} id={id} />
}

function WebhookDetail({ id }: { id: number }) {
  const webhook = useQuery({
    queryKey: webhookKey(id),
    queryFn: ({ signal }) => request<Api['Webhook']>(`/admin/webhooks/${id}`, { signal }),
  })
  if (webhook.error instanceof ApiProblem && webhook.error.code === 'not_found') return <NotFound />
  const about = webhook.data === undefined ? `Webhook ${id}` : <bdi>{webhook.data.url}</bdi>
  return (
    <>
      <PageTitle title={webhook.data?.description ?? `Webhook ${id}`} about={about} />
      <Loaded query={webhook} loading={<Loading rows={8} height={40} />}>
        {data => (
          <div className={classes.page}>
            <div className={classes.column}>
              <StatusSection webhook={data} />
              <Deliveries id={id} />
            </div>
            <div className={`${classes.column} ${classes.aside}`}>
              <Settings webhook={data} />
              <RotateSecret webhook={data} />
              <DeleteWebhook id={id} />
            </div>
          </div>
        )}
      </Loaded>
    </>
  )
}

function StatusSection({ webhook }: { webhook: Api['Webhook'] }) {
  const { id, enabled } = webhook
  const toggle = useMutation({
    mutationFn: () => updateWebhook(id, { enabled: !enabled }),
    onSuccess: cacheWebhook,
  })
  return (
    <Section
      isFramed
      title="Status"
      aside={
        <Button variant="default" size="xs" loading={toggle.isPending} onClick={() => toggle.mutate()}>
          {enabled ? 'Disable' : 'Enable'}
        </Button>
      }
    >
      <div className={classes.stack}>
        <div role="status">
          <WebhookStatus {...webhook} />
        </div>
        <p className={classes.note}>
          {enabled
            ? 'Failed deliveries are retried for 3 days with increasing delays.'
            : 'Events are kept and sent when the webhook is enabled again.'}
        </p>
        <ErrorNotice variant="action" error={toggle.error} />
        <TestEvent id={id} />
      </div>
    </Section>
  )
}
