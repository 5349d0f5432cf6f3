import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { newIdempotencyKey } from '../../api/http.ts'
import { ApiProblem } from '../../api/problem.ts'
import type { Api } from '../../api/types.ts'
import { useDialogInput } from '../../components/dialog.tsx'
import { Form } from '../../components/form.tsx'
import { fieldErrors } from '../../components/form-errors.ts'
import { TextField } from '../../components/text-field.tsx'
import { releaseInput, useUnsavedInput } from '../../components/unsaved-input.ts'
import { UserName } from '../../components/user-link.tsx'
import { giverOf, leftAfterReturn, returnableUnits, type Transfer, takerOf } from '../../model/transfers.ts'
import { wholeNumber } from '../../model/typed.ts'
import { useChange } from '../../queries/calls.ts'
import { quotaQuery } from '../../queries/quota.ts'
import { texts } from '../../texts/texts.ts'

const { form: errorTexts, giveBack: words, list } = texts.transfers

interface ReturnFormProps {
  transfer: Transfer
  /** On the page of the receiver, or of the giver. */
  action: 'give' | 'take'
  onClose: () => void
  /** Receives a confirmation message. */
  onDone: (message: string) => void
}

/** Gives units of a transfer back: by default all that the receiver has neither used nor reserved. */
export function ReturnForm({ transfer, action, onClose, onDone }: ReturnFormProps) {
  const { id, units } = transfer
  const [text, setText] = useState('')
  const [reason, setReason] = useState('')
  const [key] = useState(newIdempotencyKey)
  const hasInput = text !== '' || reason !== ''
  useDialogInput(hasInput)
  useUnsavedInput(hasInput)
  const { giver, receiver } = useBothGrants(transfer)
  const unused = receiver === undefined ? null : returnableUnits(transfer, receiver)
  const asked = text.trim() === '' ? null : wholeNumber(text)
  const returning = useChange('POST /admin/transfers/{id}/return', ({ transfer: { returned } }) => {
    releaseInput()
    onDone(words.done(returned, units))
    onClose()
  })
  const { error } = returning
  const code = error instanceof ApiProblem ? error.code : null
  const errors = fieldErrors(error, ['units', 'reason'], errorTexts.errors)
  const tooMany = code === 'not_enough_units' ? errorTexts.notEnough(unused ?? 0) : undefined

  function submit() {
    const body = { reason: reason.trim() || null, ...(asked === null ? {} : { units: asked }) }
    returning.mutate({ id, body, idempotencyKey: key })
  }
  return (
    <Form
      sending={returning}
      rest={tooMany === undefined ? errors.rest : null}
      remedy={code === 'idempotency_mismatch' && words.earlier}
      onSubmit={submit}
      submit={words[action].submit}
    >
      <Text size="sm">{words.about(units, <Who user={giverOf(transfer)} />, <Who user={takerOf(transfer)} />)}</Text>
      <TextField
        label={words.units}
        about={words.unitsAbout(unused)}
        value={text}
        onChange={setText}
        error={tooMany ?? errors.at('units')}
        isNumber
      />
      <TextField
        label={errorTexts.reason}
        about={errorTexts.reasonAbout}
        value={reason}
        onChange={setReason}
        error={errors.at('reason')}
      />
      <Text size="sm" role="status">
        {giver !== undefined && receiver !== undefined && (
          <Result units={asked ?? unused} {...{ transfer, giver, receiver }} />
        )}
      </Text>
    </Form>
  )
}

/** Both grants as they are now; undefined until they are read, or without one. */
function useBothGrants({ quota_id, to_quota_id }: Transfer) {
  const giver = useQuery({ ...quotaQuery(quota_id), staleTime: 0 })
  const receiver = useQuery({ ...quotaQuery(to_quota_id ?? 0), enabled: to_quota_id !== null, staleTime: 0 })
  return { giver: giver.data, receiver: receiver.data }
}

interface ResultProps {
  units: number | string | null
  transfer: Transfer
  giver: Api['SmsQuota']
  receiver: Api['SmsQuota']
}

/** Who has how many units afterwards. Empty for units that cannot go back. */
function Result({ units, transfer, ...grants }: ResultProps) {
  if (typeof units !== 'number' || units < 1 || units > returnableUnits(transfer, grants.receiver)) return null
  const left = leftAfterReturn(units, transfer, grants)
  return words.result(<Who user={giverOf(transfer)} />, left.giver, <Who user={takerOf(transfer)} />, left.receiver)
}

function Who({ user }: { user: ReturnType<typeof takerOf> }) {
  return user === null ? list.erased : <UserName user={user} unnamed={texts.transfers.user(user.user_id)} />
}
