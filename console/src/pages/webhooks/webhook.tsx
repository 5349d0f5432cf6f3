import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useParams } from 'wouter'
import { request } from '../../api/client.ts'
import { ApiProblem } from '../../api/problem.ts'
import type { Api } from '../../api/types.ts'
import { Loaded } from '../../parts/loaded.tsx'
import { Loading } from '../../parts/loading.tsx'
import { NotDone } from '../../parts/not-done.tsx'
import { NotFound } from '../../parts/not-found.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { Section } from '../../parts/section.tsx'
import { uint } from '../../parts/url-state.ts'
import { DeleteWebhook } from './delete-webhook.tsx'
import { Deliveries } from './deliveries.tsx'
import { RotateSecret } from './rotate-secret.tsx'
import { Settings } from './settings.tsx'
import { TestEvent } from './test-event.tsx'
import classes from './webhook.module.css'
import { keepWebhook, updateWebhook, webhookKey } from './webhook-calls.ts'
import { WebhookState } from './webhook-state.tsx'

/** One webhook: how it is set, and what became of what was sent. */
export default function WebhookPage() {
  const id = uint(useParams().id ?? null)
  return id === null ? <NotFound /> : <One key={id} id={id} />
}

function One({ id }: { id: number }) {
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
              <State webhook={data} />
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

function State({ webhook }: { webhook: Api['Webhook'] }) {
  const { id, enabled } = webhook
  const toggle = useMutation({
    mutationFn: () => updateWebhook(id, { enabled: !enabled }),
    onSuccess: keepWebhook,
  })
  return (
    <Section
      isFramed
      title="State"
      aside={
        <Button variant="default" size="xs" loading={toggle.isPending} onClick={() => toggle.mutate()}>
          {enabled ? 'Disable' : 'Enable'}
        </Button>
      }
    >
      <div className={classes.stack}>
        <div role="status">
          <WebhookState {...webhook} />
        </div>
        <p className={classes.note}>
          {enabled
            ? 'What fails is tried again for three days, ever less often.'
            : 'What happens meanwhile is kept, and sent when it is enabled again.'}
        </p>
        <NotDone error={toggle.error} />
        <TestEvent id={id} />
      </div>
    </Section>
  )
}
