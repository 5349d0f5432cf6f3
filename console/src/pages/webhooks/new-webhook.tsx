import { Anchor, Button, Group } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useRef, useState } from 'react'
import { Link } from 'wouter'
import { request } from '../../api/client.ts'
import { queryClient } from '../../api/query-client.ts'
import type { Api } from '../../api/types.ts'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { fieldErrors } from '../../components/field-errors.ts'
import { useFocusFirstError } from '../../components/focus-first-error.ts'
import { PageTitle } from '../../components/page-title.tsx'
import { FIELDS, WebhookFields, type WebhookForm } from './fields.tsx'
import { Secret } from './secret.tsx'
import { TestEvent } from './test-event.tsx'
import classes from './webhook.module.css'

const BLANK: WebhookForm = { url: '', types: null, description: null }

/** Creates a webhook and shows its secret. */
export default function NewWebhook() {
  const [created, setCreated] = useState<Api['WebhookWithSecret'] | null>(null)
  return created === null ? <Form onCreated={setCreated} /> : <Created webhook={created} />
}

function Form({ onCreated }: { onCreated: (webhook: Api['WebhookWithSecret']) => void }) {
  const form = useRef<HTMLFormElement>(null)
  const [value, setValue] = useState(BLANK)
  const create = useMutation({
    mutationFn: () => request<Api['WebhookWithSecret']>('/admin/webhooks', { method: 'POST', body: value }),
    onSuccess: webhook => {
      void queryClient.invalidateQueries({ queryKey: ['webhooks'] })
      onCreated(webhook)
    },
  })
  const errors = fieldErrors(create.error, FIELDS)
  useFocusFirstError(form, create.error)

  function submit(event: FormEvent) {
    event.preventDefault()
    create.mutate()
  }
  return (
    <>
      <PageTitle title="New webhook" about="New events are signed and posted to your URL." />
      <form ref={form} className={classes.form} onSubmit={submit} noValidate>
        <WebhookFields value={value} errors={errors} onChange={change => setValue({ ...value, ...change })} />
        <ErrorNotice variant="action" error={errors.rest} />
        <Group gap="sm">
          <Button type="submit" loading={create.isPending}>
            Create webhook
          </Button>
          <Button component={Link} href="/webhooks" variant="default">
            Cancel
          </Button>
        </Group>
      </form>
    </>
  )
}

function Created({ webhook }: { webhook: Api['WebhookWithSecret'] }) {
  return (
    <>
      <PageTitle title="Webhook created" about={<bdi>{webhook.url}</bdi>} />
      <div className={classes.form}>
        {webhook.secret !== null && <Secret secret={webhook.secret} />}
        <TestEvent id={webhook.id} />
        <Anchor component={Link} href={`/webhooks/${webhook.id}`} size="sm" underline="always">
          I copied the secret. Go to the webhook
        </Anchor>
      </div>
    </>
  )
}
