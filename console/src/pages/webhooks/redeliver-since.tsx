import { Button, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useRef, useState } from 'react'
import { request } from '../../api/client.ts'
import { queryClient } from '../../api/query-client.ts'
import type { Api } from '../../api/types.ts'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { fieldErrors } from '../../components/field-errors.ts'
import { useFocusFirstError } from '../../components/focus-first-error.ts'
import { formatUnits } from '../../formats.ts'
import classes from './webhook.module.css'
import { deliveriesKey } from './webhook-queries.ts'

/** Redelivers all events since a time, for receivers that lost data. */
export function RedeliverSince({ id }: { id: number }) {
  const form = useRef<HTMLFormElement>(null)
  const [since, setSince] = useState('')
  const redeliver = useMutation({
    mutationFn: () => {
      // The field is in the user's time zone.
      const body = { since: since === '' ? '' : new Date(since).toISOString() }
      return request<Api['Redelivered']>(`/admin/webhooks/${id}/redeliver`, { method: 'POST', body })
    },
    onSuccess: () => queryClient.invalidateQueries({ queryKey: deliveriesKey(id) }),
  })
  const errors = fieldErrors(redeliver.error, ['since'])
  useFocusFirstError(form, redeliver.error)

  function submit(event: FormEvent) {
    event.preventDefault()
    redeliver.mutate()
  }
  return (
    <form ref={form} className={classes.copy} onSubmit={submit} noValidate>
      <TextInput
        type="datetime-local"
        step={1}
        label="Redeliver all events since"
        size="xs"
        value={since}
        error={errors.at('since')}
        onChange={event => setSince(event.currentTarget.value)}
      />
      <Button type="submit" variant="default" size="xs" loading={redeliver.isPending}>
        Redeliver
      </Button>
      <Text size="sm" role="status">
        {redeliver.isSuccess && resultText(redeliver.data.redelivered)}
      </Text>
      <ErrorNotice variant="action" error={errors.rest} />
    </form>
  )
}

function resultText(count: number): string {
  if (count === 0) return 'No events since then.'
  return `${formatUnits(count)} ${count === 1 ? 'event is' : 'events are'} being redelivered.`
}
