import { Button, Group, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useRef, useState } from 'react'
import type { Api } from '../../api/types.ts'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { fieldErrors } from '../../components/field-errors.ts'
import { useFocusFirstError } from '../../components/focus-first-error.ts'
import { Section } from '../../components/section.tsx'
import { FIELDS, WebhookFields, type WebhookForm } from './fields.tsx'
import classes from './webhook.module.css'
import { cacheWebhook, updateWebhook } from './webhook-queries.ts'

/** Settings of a webhook. Only changed fields are sent, so that concurrent changes of other fields are kept. */
export function Settings({ webhook }: { webhook: Api['Webhook'] }) {
  const form = useRef<HTMLFormElement>(null)
  const [changes, setChanges] = useState<Partial<WebhookForm>>({})
  const save = useMutation({
    mutationFn: () => updateWebhook(webhook.id, changes),
    onSuccess: saved => {
      setChanges({})
      cacheWebhook(saved)
    },
  })
  const errors = fieldErrors(save.error, FIELDS)
  useFocusFirstError(form, save.error)
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
        <WebhookFields value={{ ...webhook, ...changes }} errors={errors} onChange={change} />
        <ErrorNotice variant="action" error={errors.rest} />
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
              Discard changes
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
