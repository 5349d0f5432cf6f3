import { Button, Radio, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useRef, useState } from 'react'
import { request } from '../../api/client.ts'
import { newIdempotencyKey } from '../../api/idempotency-key.ts'
import { ApiProblem } from '../../api/problem.ts'
import type { Api } from '../../api/types.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { fieldFaults } from '../../parts/field-faults.ts'
import { useLeadToFault } from '../../parts/lead-to-fault.ts'
import { Refusal } from '../../parts/refusal.tsx'
import { formatUnits } from '../../parts/units.tsx'
import { BelowUsage } from './below-usage.tsx'
import { TextField } from './fields.tsx'
import { wholeNumber } from './typed.ts'

type Quota = Api['SmsQuota']

interface AdjustProps {
  quota: Quota
  onClose: () => void
  /** Says what has been done. */
  onDone: (words: string) => void
}

/** Moves a limit by so many units, whatever it is by then: two who do it at once both count. */
export function AdjustDialog({ isOpen, ...props }: AdjustProps & { isOpen: boolean }) {
  return (
    <Dialog title="Adjust the limit" isOpen={isOpen} onClose={props.onClose}>
      <AdjustForm {...props} />
    </Dialog>
  )
}

function AdjustForm({ quota, onClose, onDone }: AdjustProps) {
  const [isLess, setLess] = useState(false)
  const [units, setUnits] = useState('')
  const [reason, setReason] = useState('')
  const [idempotencyKey] = useState(newIdempotencyKey)
  const delta = deltaOf(units, isLess)
  const queries = useQueryClient()
  const adjusting = useMutation({
    mutationFn: (mayGoBelow: boolean) =>
      request<Quota>(`/admin/quota/${quota.id}/adjust`, {
        method: 'POST',
        body: { delta, reason, ...(mayGoBelow ? { allow_below_usage: true } : {}) },
        idempotencyKey,
      }),
    onSuccess: ({ limit }) => {
      void queries.invalidateQueries({ queryKey: ['quotas'] })
      onDone(`The limit is ${formatUnits(limit ?? 0)} now.`)
      onClose()
    },
  })
  const element = useRef<HTMLFormElement>(null)
  useLeadToFault(element, adjusting.error)
  const faults = fieldFaults(adjusting.error, ['delta', 'reason'])
  const isBelowUsage = adjusting.error instanceof ApiProblem && adjusting.error.code === 'below_usage'

  function submit(event: FormEvent) {
    event.preventDefault()
    if (!adjusting.isPending) adjusting.mutate(false)
  }
  return (
    <form ref={element} onSubmit={submit} noValidate>
      <Stack gap="md">
        {faults.rest !== null && (
          <Refusal error={faults.rest}>
            {isBelowUsage && <BelowUsage onConfirm={() => adjusting.mutate(true)} />}
          </Refusal>
        )}
        <Radio.Group label="Direction" value={isLess ? 'less' : 'more'} onChange={value => setLess(value === 'less')}>
          <Stack gap={6} mt={6}>
            <Radio value="more" label="Add units" />
            <Radio value="less" label="Take units away" />
          </Stack>
        </Radio.Group>
        <TextField
          label="Units"
          about={<AfterWords limit={quota.limit ?? 0} delta={delta} />}
          value={units}
          onChange={setUnits}
          fault={faults.at('delta')}
          isRequired
          isNumber
        />
        <TextField
          label="Reason"
          about="Why, in your words. The history shows it."
          value={reason}
          onChange={setReason}
          fault={faults.at('reason')}
          isRequired
        />
        <Button type="submit" loading={adjusting.isPending}>
          Adjust limit
        </Button>
      </Stack>
    </form>
  )
}

function AfterWords({ limit, delta }: { limit: number; delta: number | string }) {
  if (typeof delta === 'string') return <>The limit is {formatUnits(limit)}.</>
  return (
    <Text span inherit>
      The limit goes from {formatUnits(limit)} to {formatUnits(limit + delta)}.
    </Text>
  )
}

/** What is no number stays what it is, for the service to judge. */
function deltaOf(units: string, isLess: boolean): number | string {
  const value = wholeNumber(units)
  return typeof value === 'number' && isLess ? -value : value
}
