import { Button, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useRef, useState } from 'react'
import { newIdempotencyKey } from '../../api/http.ts'
import { ApiProblem } from '../../api/problem.ts'
import { useDialogInput } from '../../components/dialog.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { fieldErrors, useFocusFirstError } from '../../components/form-errors.ts'
import { TextField } from '../../components/text-field.tsx'
import { releaseInput, useUnsavedInput } from '../../components/unsaved-input.ts'
import { UserName } from '../../components/user-link.tsx'
import { giverOf, returnableUnits, type Transfer, takerOf } from '../../model/transfers.ts'
import { wholeNumber } from '../../model/typed.ts'
import { quotaQuery } from '../../queries/quota.ts'
import { useReturn } from '../../queries/transfers.ts'
import { texts } from '../../texts/texts.ts'

const { form: errorTexts, giveBack: words, list } = texts.transfers

interface ReturnFormProps {
  transfer: Transfer
  onClose: () => void
  /** Receives a confirmation message. */
  onDone: (message: string) => void
}

/** Gives units of a transfer back: by default all that the receiver has neither used nor reserved. */
export function ReturnForm({ transfer, onClose, onDone }: ReturnFormProps) {
  const { id, to_quota_id, units } = transfer
  const element = useRef<HTMLFormElement>(null)
  const [text, setText] = useState('')
  const [key] = useState(newIdempotencyKey)
  useDialogInput(text !== '')
  useUnsavedInput(text !== '')
  const receiver = useQuery({ ...quotaQuery(to_quota_id ?? 0), enabled: to_quota_id !== null, staleTime: 0 })
  const unused = receiver.data === undefined ? null : returnableUnits(transfer, receiver.data)
  const returning = useReturn(id, key, ({ returned }) => {
    releaseInput()
    onDone(words.done(returned, units))
    onClose()
  })
  const { error } = returning
  const code = error instanceof ApiProblem ? error.code : null
  const errors = fieldErrors(error, ['units'], errorTexts.errors)
  const tooMany = code === 'not_enough_units' ? errorTexts.notEnough(unused ?? 0) : undefined
  useFocusFirstError(element, error)

  function submit(event: FormEvent) {
    event.preventDefault()
    if (!returning.isPending) returning.mutate(text.trim() === '' ? null : wholeNumber(text))
  }
  return (
    <form ref={element} onSubmit={submit} noValidate>
      <Stack gap="md">
        {errors.rest !== null && tooMany === undefined && (
          <ErrorNotice variant="form" error={errors.rest}>
            {code === 'idempotency_mismatch' && words.earlier}
          </ErrorNotice>
        )}
        <Text size="sm">{words.about(units, <Who user={giverOf(transfer)} />, <Who user={takerOf(transfer)} />)}</Text>
        <TextField
          label={words.units}
          about={words.unitsAbout(unused)}
          value={text}
          onChange={setText}
          error={tooMany ?? errors.at('units')}
          isNumber
        />
        <Button type="submit" loading={returning.isPending}>
          {words.submit}
        </Button>
      </Stack>
    </form>
  )
}

function Who({ user }: { user: ReturnType<typeof takerOf> }) {
  return user === null ? list.erased : <UserName user={user} unnamed={texts.transfers.user(user.user_id)} />
}
