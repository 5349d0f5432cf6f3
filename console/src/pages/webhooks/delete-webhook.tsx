import { Button, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useLocation } from 'wouter'
import { request } from '../../api/client.ts'
import { queryClient } from '../../api/query-client.ts'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { Section } from '../../components/section.tsx'
import classes from './webhook.module.css'
import { webhookKey } from './webhook-queries.ts'

const WORD = 'delete'

/** Asks for a word as a confirmation. */
export function DeleteWebhook({ id }: { id: number }) {
  const [confirmation, setConfirmation] = useState('')
  const [, navigate] = useLocation()
  const remove = useMutation({
    mutationFn: () => request(`/admin/webhooks/${id}`, { method: 'DELETE' }),
    onSuccess: () => {
      navigate('/webhooks', { replace: true })
      queryClient.removeQueries({ queryKey: webhookKey(id) })
      void queryClient.invalidateQueries({ queryKey: ['webhooks', 'list'] })
    },
  })
  const isConfirmed = confirmation.trim().toLowerCase() === WORD

  function submit(event: FormEvent) {
    event.preventDefault()
    if (isConfirmed) remove.mutate()
  }
  return (
    <Section isFramed title="Delete">
      <form className={classes.stack} onSubmit={submit}>
        <p className={classes.note}>
          Events are no longer sent to it, and its deliveries are deleted. This cannot be undone.
        </p>
        <div className={classes.copy}>
          <TextInput
            label={`Type “${WORD}” to confirm`}
            size="xs"
            value={confirmation}
            autoComplete="off"
            spellCheck={false}
            onChange={event => setConfirmation(event.currentTarget.value)}
          />
          <Button
            type="submit"
            size="xs"
            color="red"
            variant="outline"
            disabled={!isConfirmed}
            loading={remove.isPending}
          >
            Delete webhook
          </Button>
        </div>
        <ErrorNotice variant="action" error={remove.error} />
      </form>
    </Section>
  )
}
