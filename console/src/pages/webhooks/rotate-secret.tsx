import { Button, Group } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { request } from '../../api/client.ts'
import type { Api } from '../../api/types.ts'
import { Moment } from '../../parts/moment.tsx'
import { NotDone } from '../../parts/not-done.tsx'
import { Section } from '../../parts/section.tsx'
import { Secret } from './secret.tsx'
import classes from './webhook.module.css'
import { keepWebhook } from './webhook-calls.ts'

/** Gives a webhook another secret; the one before signs beside it for a day. */
export function RotateSecret({ webhook: { id, previous_until } }: { webhook: Api['Webhook'] }) {
  const [isAsked, setAsked] = useState(false)
  const rotate = useMutation({
    mutationFn: () => request<Api['WebhookWithSecret']>(`/admin/webhooks/${id}/rotate-secret`, { method: 'POST' }),
    onSuccess: ({ secret: _, ...webhook }) => {
      setAsked(false)
      keepWebhook(webhook)
    },
  })
  return (
    <Section isFramed title="Signing secret">
      <div className={classes.stack}>
        <p className={classes.note}>
          {previous_until === null ? (
            'One secret signs. Rotate it when somebody may have seen it: the old one signs as well for a day.'
          ) : (
            <>
              Two secrets sign: the one before does until <Moment at={previous_until} />.
            </>
          )}
        </p>
        {rotate.isSuccess && !isAsked && <Secret key={rotate.data.secret} secret={rotate.data.secret} />}
        {isAsked ? (
          <>
            <p className={classes.note}>
              {previous_until === null
                ? 'A new secret is made and shown once.'
                : 'A new secret is made and shown once. The one of the time before signs no more from now on.'}
            </p>
            <Group gap="sm">
              <Button size="xs" loading={rotate.isPending} onClick={() => rotate.mutate()} data-autofocus>
                Make a new secret
              </Button>
              <Button variant="default" size="xs" onClick={() => setAsked(false)}>
                Cancel
              </Button>
            </Group>
          </>
        ) : (
          <div>
            <Button variant="default" size="xs" onClick={() => setAsked(true)}>
              Rotate the secret…
            </Button>
          </div>
        )}
        <NotDone error={rotate.error} />
      </div>
    </Section>
  )
}
