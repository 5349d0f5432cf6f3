import { Button, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useLocation } from 'wouter'
import { request } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { NotDone } from '../../parts/not-done.tsx'
import { Section } from '../../parts/section.tsx'
import classes from './webhook.module.css'
import { webhookKey } from './webhook-calls.ts'

const WORD = 'delete'

/** Takes a word, so that nobody does it by a slip of the hand. */
export function DeleteWebhook({ id }: { id: number }) {
  const [word, setWord] = useState('')
  const [, navigate] = useLocation()
  const remove = useMutation({
    mutationFn: () => request(`/admin/webhooks/${id}`, { method: 'DELETE' }),
    onSuccess: () => {
      navigate('/webhooks', { replace: true })
      queries.removeQueries({ queryKey: webhookKey(id) })
      void queries.invalidateQueries({ queryKey: ['webhooks', 'list'] })
    },
  })
  const isMeant = word.trim().toLowerCase() === WORD

  function submit(event: FormEvent) {
    event.preventDefault()
    if (isMeant) remove.mutate()
  }
  return (
    <Section isFramed title="Delete">
      <form className={classes.stack} onSubmit={submit}>
        <p className={classes.note}>Nothing is sent any more, and its deliveries are forgotten. It cannot be undone.</p>
        <div className={classes.copy}>
          <TextInput
            label={`Type “${WORD}” to confirm`}
            size="xs"
            value={word}
            autoComplete="off"
            spellCheck={false}
            onChange={event => setWord(event.currentTarget.value)}
          />
          <Button type="submit" size="xs" color="red" variant="outline" disabled={!isMeant} loading={remove.isPending}>
            Delete the webhook
          </Button>
        </div>
        <NotDone error={remove.error} />
      </form>
    </Section>
  )
}
