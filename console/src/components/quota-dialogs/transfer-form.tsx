import { Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { newIdempotencyKey } from '../../api/http.ts'
import { ApiProblem } from '../../api/problem.ts'
import { formatTimestamp, LOCAL_ZONE } from '../../formats.ts'
import { type NamedUser, userText } from '../../model/addresses.ts'
import { toTimestamp } from '../../model/local-time.ts'
import { namedBy, searchedReceiver, takerOf, transferableUnits } from '../../model/transfers.ts'
import { wholeNumber } from '../../model/typed.ts'
import { userSearchQuery } from '../../queries/quotas.ts'
import { useTransfer } from '../../queries/transfers.ts'
import { texts } from '../../texts/texts.ts'
import { useDialogInput } from '../dialog.tsx'
import { Form } from '../form.tsx'
import { fieldErrors } from '../form-errors.ts'
import { TextField } from '../text-field.tsx'
import { releaseInput, useUnsavedInput } from '../unsaved-input.ts'
import { UserName } from '../user-link.tsx'
import { AboutQuota, type QuotaFormProps } from './effect.tsx'
import { ReceiverField } from './receiver-field.tsx'

const words = texts.transfers.form

const EMPTY = { receiver: '', units: '', reason: '', end: '' }
type Input = typeof EMPTY

/** Hands units of a grant on to a user. */
export default function TransferForm({ quota, onClose, onDone }: QuotaFormProps) {
  const [input, setInput] = useState(EMPTY)
  const [key] = useState(newIdempotencyKey)
  const hasInput = Object.values(input).some(text => text !== '')
  useDialogInput(hasInput)
  useUnsavedInput(hasInput)
  const change = (part: Partial<Input>) => setInput({ ...input, ...part })
  const available = transferableUnits(quota) ?? 0
  const units = wholeNumber(input.units)
  const { users, named } = useFoundUsers(input.receiver)
  const moving = useTransfer(quota.id, key, transfer => {
    releaseInput()
    const taker = named ?? takerOf(transfer)
    onDone(words.done(transfer.units, taker === null ? '' : userText(taker, texts.transfers.user(taker.user_id))))
    onClose()
  })
  const problem = problemOf(moving.error, available)

  function submit() {
    const reason = input.reason.trim() || null
    const expires_at = input.end === '' ? null : toTimestamp(input.end)
    moving.mutate({ receiver: input.receiver, units, reason, expires_at })
  }
  return (
    <Form
      sending={moving}
      rest={problem.rest}
      remedy={problem.isOther && words.earlier}
      onSubmit={submit}
      submit={words.submit}
    >
      <AboutQuota quota={quota} />
      <ReceiverField
        value={input.receiver}
        onChange={text => change({ receiver: text })}
        users={users}
        named={named}
        error={problem.receiver}
      />
      <TermsFields {...{ input, available, problem }} end={quota.window_end} onChange={change} />
      <Result receiver={named} units={units} available={available} />
    </Form>
  )
}

/** A pause in typing after which users are searched. */
const PAUSE_MS = 200

/** The users found for a text, and the one that it names. Of another text, nothing is known yet. */
function useFoundUsers(text: string): { users: readonly NamedUser[] | undefined; named: NamedUser | undefined } {
  const current = searchedReceiver(text)
  const [searched] = useDebouncedValue(current, PAUSE_MS)
  const found = useQuery({ ...userSearchQuery(searched), enabled: searched !== '' })
  const users = current === searched && !found.isPlaceholderData ? found.data?.users : undefined
  return { users, named: namedBy(text, users ?? []) }
}

interface TermsProps {
  input: Input
  available: number
  /** When the units of the grant end; null: never. */
  end: string | null
  problem: ReturnType<typeof problemOf>
  onChange: (part: Partial<Input>) => void
}

/** How many units go, why, and until when. */
function TermsFields({ input, available, end, problem, onChange }: TermsProps) {
  return (
    <>
      <TextField
        label={words.units}
        about={words.unitsAbout(available)}
        value={input.units}
        onChange={text => onChange({ units: text })}
        error={problem.units}
        required
        isNumber
      />
      <TextField
        label={words.reason}
        about={words.reasonAbout}
        value={input.reason}
        onChange={text => onChange({ reason: text })}
        error={problem.reason}
      />
      <TextField
        type="datetime-local"
        label={words.end}
        about={words.endAbout(end === null ? null : formatTimestamp(end), LOCAL_ZONE)}
        value={input.end}
        onChange={text => onChange({ end: text })}
        error={problem.end}
      />
    </>
  )
}

interface ResultProps {
  receiver: NamedUser | undefined
  units: number | string
  available: number
}

/** Who gets how many units, and what stays. Empty until that can be said. */
function Result({ receiver, units, available }: ResultProps) {
  const isValid = receiver !== undefined && typeof units === 'number' && units > 0 && units <= available
  return (
    <Text size="sm" role="status">
      {isValid &&
        words.result(
          units,
          <UserName user={receiver} unnamed={texts.shell.account.user(receiver.user_id)} />,
          available - units,
        )}
    </Text>
  )
}

/** What the service refused, at its field. @param available the units that can go now */
function problemOf(error: Error | null, available: number) {
  const code = error instanceof ApiProblem ? error.code : null
  const { errors } = words
  const found = fieldErrors(error, ['to_user_id', 'user_id', 'units', 'reason', 'expires_at'], {
    to_user_id: errors.to,
    user_id: errors.to,
    units: errors.units,
    reason: errors.reason,
    expires_at: errors.end,
  })
  const isOfField = code === 'unknown_user' || code === 'not_enough_units'
  return {
    // The reference stands in a path, the id in the body.
    receiver: code === 'unknown_user' ? errors.unknownReference : (found.at('to_user_id') ?? found.at('user_id')),
    units: code === 'not_enough_units' ? words.notEnough(available) : found.at('units'),
    reason: found.at('reason'),
    end: found.at('expires_at'),
    rest: isOfField ? null : found.rest,
    /** Whether an earlier call under the key took effect with other values. */
    isOther: code === 'idempotency_mismatch',
  }
}
