import { Button, Radio, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useRef, useState } from 'react'
import { request } from '../../api/client.ts'
import { newIdempotencyKey } from '../../api/idempotency-key.ts'
import { ApiProblem } from '../../api/problem.ts'
import type { Api } from '../../api/types.ts'
import { Dialog } from '../../components/dialog.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { fieldErrors } from '../../components/field-errors.ts'
import { useFocusFirstError } from '../../components/focus-first-error.ts'
import { formatUnits } from '../../formats.ts'
import { BelowUsage } from './below-usage.tsx'
import { TextField } from './fields.tsx'
import { wholeNumber } from './form-values.ts'

type Quota = Api['SmsQuota']

interface AdjustProps {
  quota: Quota
  onClose: () => void
  /** Receives a confirmation message. */
  onDone: (message: string) => void
}

/** Changes a limit by a number of units, so that concurrent adjustments add up. */
export function AdjustDialog({ isOpen, ...props }: AdjustProps & { isOpen: boolean }) {
  return (
    <Dialog title="Adjust the limit" isOpen={isOpen} onClose={props.onClose}>
      <AdjustForm {...props} />
    </Dialog>
  )
}

function AdjustForm({ quota, onClose, onDone }: AdjustProps) {
  const [isDecrease, setDecrease] = useState(false)
  const [units, setUnits] = useState('')
  const [reason, setReason] = useState('')
  const [idempotencyKey] = useState(newIdempotencyKey)
  const delta = deltaOf(units, isDecrease)
  const queryClient = useQueryClient()
  const adjusting = useMutation({
    mutationFn: (allowBelowUsage: boolean) =>
      request<Quota>(`/admin/quota/${quota.id}/adjust`, {
        method: 'POST',
        body: { delta, reason, ...(allowBelowUsage ? { allow_below_usage: true } : {}) },
        idempotencyKey,
      }),
    onSuccess: ({ limit }) => {
      void queryClient.invalidateQueries({ queryKey: ['quotas'] })
      onDone(`The limit is now ${formatUnits(limit ?? 0)}.`)
      onClose()
    },
  })
  const element = useRef<HTMLFormElement>(null)
  useFocusFirstError(element, adjusting.error)
  const errors = fieldErrors(adjusting.error, ['delta', 'reason'])
  const isBelowUsage = adjusting.error instanceof ApiProblem && adjusting.error.code === 'below_usage'

  function submit(event: FormEvent) {
    event.preventDefault()
    if (!adjusting.isPending) adjusting.mutate(false)
  }
  return (
    <form ref={element} onSubmit={submit} noValidate>
      <Stack gap="md">
        {errors.rest !== null && (
          <ErrorNotice variant="form" error={errors.rest}>
            {isBelowUsage && <BelowUsage onConfirm={() => adjusting.mutate(true)} />}
          </ErrorNotice>
        )}
        <DirectionField isDecrease={isDecrease} onChange={setDecrease} />
        <TextField
          label="Units"
          about={<NewLimitHint limit={quota.limit ?? 0} delta={delta} />}
          value={units}
          onChange={setUnits}
          error={errors.at('delta')}
          isRequired
          isNumber
        />
        <TextField
          label="Reason"
          about="Shown in the history."
          value={reason}
          onChange={setReason}
          error={errors.at('reason')}
          isRequired
        />
        <Button type="submit" loading={adjusting.isPending}>
          Adjust limit
        </Button>
      </Stack>
    </form>
  )
}

function DirectionField({ isDecrease, onChange }: { isDecrease: boolean; onChange: (isDecrease: boolean) => void }) {
  return (
    <Radio.Group
      label="Direction"
      value={isDecrease ? 'decrease' : 'increase'}
      onChange={value => onChange(value === 'decrease')}
    >
      <Stack gap={6} mt={6}>
        <Radio value="increase" label="Add units" />
        <Radio value="decrease" label="Remove units" />
      </Stack>
    </Radio.Group>
  )
}

function NewLimitHint({ limit, delta }: { limit: number; delta: number | string }) {
  if (typeof delta === 'string') return <>The limit is {formatUnits(limit)}.</>
  return (
    <Text span inherit>
      The limit goes from {formatUnits(limit)} to {formatUnits(limit + delta)}.
    </Text>
  )
}

/** The signed change; invalid input stays a string, which the service rejects with a message. */
function deltaOf(units: string, isDecrease: boolean): number | string {
  const value = wholeNumber(units)
  return typeof value === 'number' && isDecrease ? -value : value
}
