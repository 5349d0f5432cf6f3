import { Button, Group } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { request } from '../../api/client.ts'
import type { Api } from '../../api/types.ts'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { Section } from '../../components/section.tsx'
import { Timestamp } from '../../components/values.tsx'
import { Secret } from './secret.tsx'
import classes from './webhook.module.css'
import { cacheWebhook } from './webhook-queries.ts'

/** Rotates the secret of a webhook; both secrets sign for one day. */
export function RotateSecret({ webhook: { id, previous_until } }: { webhook: Api['Webhook'] }) {
  const [isConfirming, setConfirming] = useState(false)
  const rotate = useMutation({
    mutationFn: () => request<Api['WebhookWithSecret']>(`/admin/webhooks/${id}/rotate-secret`, { method: 'POST' }),
    onSuccess: ({ secret: _, ...webhook }) => {
      setConfirming(false)
      cacheWebhook(webhook)
    },
  })
  return (
    <Section isFramed title="Signing secret">
      <div className={classes.stack}>
        <p className={classes.note}>
          {previous_until === null ? (
            'Rotate the secret if it may be exposed. Both secrets sign for one day.'
          ) : (
            <>
              Two secrets sign: the previous one until <Timestamp at={previous_until} />.
            </>
          )}
        </p>
        {rotate.data?.secret && !isConfirming && <Secret key={rotate.data.secret} secret={rotate.data.secret} />}
        {isConfirming ? (
          <>
            <p className={classes.note}>
              {previous_until === null
                ? 'The new secret is shown only once.'
                : 'The new secret is shown only once. The secret before the current one stops signing now.'}
            </p>
            <Group gap="sm">
              <Button size="xs" loading={rotate.isPending} onClick={() => rotate.mutate()} data-autofocus>
                Create new secret
              </Button>
              <Button variant="default" size="xs" onClick={() => setConfirming(false)}>
                Cancel
              </Button>
            </Group>
          </>
        ) : (
          <div>
            <Button variant="default" size="xs" onClick={() => setConfirming(true)}>
              Rotate secret…
            </Button>
          </div>
        )}
        <ErrorNotice variant="action" error={rotate.error} />
      </div>
    </Section>
  )
}
