import { Anchor, Button, Group } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useRef, useState } from 'react'
import { Link } from 'wouter'
import { request } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import type { Api } from '../../api/types.ts'
import { fieldFaults } from '../../parts/field-faults.ts'
import { useLeadToFault } from '../../parts/lead-to-fault.ts'
import { NotDone } from '../../parts/not-done.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { FIELDS, WebhookFields, type WebhookForm } from './fields.tsx'
import { Secret } from './secret.tsx'
import { TestEvent } from './test-event.tsx'
import classes from './webhook.module.css'

const BLANK: WebhookForm = { url: '', types: null, description: null }

/** Makes a webhook, and shows its secret. */
export default function NewWebhook() {
  const [made, setMade] = useState<Api['WebhookWithSecret'] | null>(null)
  return made === null ? <Form onMade={setMade} /> : <Made webhook={made} />
}

function Form({ onMade }: { onMade: (webhook: Api['WebhookWithSecret']) => void }) {
  const form = useRef<HTMLFormElement>(null)
  const [value, setValue] = useState(BLANK)
  const create = useMutation({
    mutationFn: () => request<Api['WebhookWithSecret']>('/admin/webhooks', { method: 'POST', body: value }),
    onSuccess: webhook => {
      void queries.invalidateQueries({ queryKey: ['webhooks'] })
      onMade(webhook)
    },
  })
  const faults = fieldFaults(create.error, FIELDS)
  useLeadToFault(form, create.error)

  function submit(event: FormEvent) {
    event.preventDefault()
    create.mutate()
  }
  return (
    <>
      <PageTitle title="New webhook" about="Events from now on are posted to an address of yours, each signed." />
      <form ref={form} className={classes.form} onSubmit={submit} noValidate>
        <WebhookFields value={value} faults={faults} onChange={change => setValue({ ...value, ...change })} />
        <NotDone error={faults.rest} />
        <Group gap="sm">
          <Button type="submit" loading={create.isPending}>
            Make the webhook
          </Button>
          <Button component={Link} href="/webhooks" variant="default">
            Cancel
          </Button>
        </Group>
      </form>
    </>
  )
}

function Made({ webhook }: { webhook: Api['WebhookWithSecret'] }) {
  return (
    <>
      <PageTitle title="The webhook is made" about={<bdi>{webhook.url}</bdi>} />
      <div className={classes.form}>
        <Secret secret={webhook.secret} />
        <TestEvent id={webhook.id} />
        <Anchor component={Link} href={`/webhooks/${webhook.id}`} size="sm" underline="always">
          I have copied the secret: go to the webhook
        </Anchor>
      </div>
    </>
  )
}
