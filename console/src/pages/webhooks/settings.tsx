import { Button, Group, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useRef, useState } from 'react'
import type { Api } from '../../api/types.ts'
import { fieldFaults } from '../../parts/field-faults.ts'
import { useLeadToFault } from '../../parts/lead-to-fault.ts'
import { NotDone } from '../../parts/not-done.tsx'
import { Section } from '../../parts/section.tsx'
import { FIELDS, WebhookFields, type WebhookForm } from './fields.tsx'
import classes from './webhook.module.css'
import { keepWebhook, updateWebhook } from './webhook-calls.ts'

/** How a webhook is set. Only what was changed here is sent, so that nobody else's change is undone. */
export function Settings({ webhook }: { webhook: Api['Webhook'] }) {
  const form = useRef<HTMLFormElement>(null)
  const [changes, setChanges] = useState<Partial<WebhookForm>>({})
  const save = useMutation({
    mutationFn: () => updateWebhook(webhook.id, changes),
    onSuccess: saved => {
      setChanges({})
      keepWebhook(saved)
    },
  })
  const faults = fieldFaults(save.error, FIELDS)
  useLeadToFault(form, save.error)
  const isChanged = Object.keys(changes).length > 0

  function submit(event: FormEvent) {
    event.preventDefault()
    if (isChanged) save.mutate()
  }
  function change(parts: Partial<WebhookForm>) {
    setChanges({ ...changes, ...parts })
    if (save.isSuccess) save.reset()
  }
  return (
    <Section isFramed title="Settings">
      <form ref={form} className={classes.stack} onSubmit={submit} noValidate>
        <WebhookFields value={{ ...webhook, ...changes }} faults={faults} onChange={change} />
        <NotDone error={faults.rest} />
        <Group gap="sm">
          <Button type="submit" size="xs" disabled={!isChanged} loading={save.isPending}>
            Save
          </Button>
          {isChanged && (
            <Button
              variant="default"
              size="xs"
              onClick={() => {
                setChanges({})
                save.reset()
              }}
            >
              Undo the changes
            </Button>
          )}
          <Text size="sm" role="status">
            {save.isSuccess && 'Saved.'}
          </Text>
        </Group>
      </form>
    </Section>
  )
}
