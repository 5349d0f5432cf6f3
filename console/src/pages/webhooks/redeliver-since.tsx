import { Button, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useRef, useState } from 'react'
import { request } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import type { Api } from '../../api/types.ts'
import { fieldFaults } from '../../parts/field-faults.ts'
import { useLeadToFault } from '../../parts/lead-to-fault.ts'
import { NotDone } from '../../parts/not-done.tsx'
import { formatUnits } from '../../parts/units.tsx'
import classes from './webhook.module.css'
import { deliveriesKey } from './webhook-calls.ts'

/** Has everything since a moment sent again: after a receiver has lost what it was told. */
export function RedeliverSince({ id }: { id: number }) {
  const form = useRef<HTMLFormElement>(null)
  const [since, setSince] = useState('')
  const redeliver = useMutation({
    mutationFn: () => {
      // The field speaks in the viewer's zone.
      const body = { since: since === '' ? '' : new Date(since).toISOString() }
      return request<Api['Redelivered']>(`/admin/webhooks/${id}/redeliver`, { method: 'POST', body })
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: deliveriesKey(id) }),
  })
  const faults = fieldFaults(redeliver.error, ['since'])
  useLeadToFault(form, redeliver.error)

  function submit(event: FormEvent) {
    event.preventDefault()
    redeliver.mutate()
  }
  return (
    <form ref={form} className={classes.copy} onSubmit={submit} noValidate>
      <TextInput
        type="datetime-local"
        step={1}
        label="Send everything again since"
        size="xs"
        value={since}
        error={faults.at('since')}
        onChange={event => setSince(event.currentTarget.value)}
      />
      <Button type="submit" variant="default" size="xs" loading={redeliver.isPending}>
        Send again
      </Button>
      <Text size="sm" role="status">
        {redeliver.isSuccess && wordsFor(redeliver.data.redelivered)}
      </Text>
      <NotDone error={faults.rest} />
    </form>
  )
}

function wordsFor(count: number): string {
  if (count === 0) return 'Nothing has happened since.'
  return `${formatUnits(count)} ${count === 1 ? 'event is' : 'events are'} sent again.`
}
