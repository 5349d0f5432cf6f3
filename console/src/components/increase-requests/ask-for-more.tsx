import { Button, NativeSelect, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Api } from '../../api/types.ts'
import type { ViewedUser } from '../../model/addresses.ts'
import {
  type Asked,
  draftOf,
  durationsOf,
  type IncreaseRequest,
  increasableGrants,
} from '../../model/increase-requests.ts'
import { unitsIn } from '../../model/typed.ts'
import { useAskForMore } from '../../queries/increase-requests.ts'
import { newestQuotasQuery } from '../../queries/user.ts'
import { texts } from '../../texts/texts.ts'
import { Dialog, useDialogInput } from '../dialog.tsx'
import { Form } from '../form.tsx'
import { fieldErrors } from '../form-errors.ts'
import { Loaded, Loading } from '../loaded.tsx'
import { RadioField } from '../radio-field.tsx'
import { TextField } from '../text-field.tsx'
import { CapNotice } from '../user/cap-notice.tsx'
import { LongDate } from '../values.tsx'
import { End } from './columns.tsx'

const { ask: words } = texts.increaseRequests

/** Asks for more units on a grant of the caller. */
export default function AskForMore({ user }: { user: ViewedUser }) {
  const [isOpen, setOpen] = useState(false)
  const close = () => setOpen(false)
  return (
    <>
      <Button size="xs" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        {words.open}
      </Button>
      <Dialog title={words.title} isOpen={isOpen} onClose={close}>
        <ChosenGrant user={user} onClose={close} />
      </Dialog>
    </>
  )
}

interface FormProps {
  onClose: () => void
}

function ChosenGrant({ user, onClose }: FormProps & { user: ViewedUser }) {
  const quotas = useQuery(newestQuotasQuery(user))
  return (
    <Loaded query={quotas} loading={<Loading rows={4} height={44} />}>
      {({ items }) => {
        const [first, ...others] = increasableGrants(items)
        return first === undefined ? (
          <Text size="sm">{words.none}</Text>
        ) : (
          <AskForm user={user} grants={[first, ...others]} onClose={onClose} />
        )
      }}
    </Loaded>
  )
}

type Grant = Api['SmsQuota']
type Input = Omit<Asked, 'duration'> & { quota: number | null; duration: Asked['duration'] | null }

const EMPTY: Input = { quota: null, units: '', duration: null, reason: '' }

interface AskFormProps extends FormProps {
  user: ViewedUser
  grants: readonly [Grant, ...Grant[]]
}

function AskForm({ user, grants, onClose }: AskFormProps) {
  const [input, setInput] = useState(EMPTY)
  const change = (part: Partial<Input>) => setInput({ ...input, ...part })
  const asking = useAskForMore()
  useDialogInput(!asking.isSuccess && (input.units !== '' || input.reason !== ''))
  if (asking.isSuccess) return <Sent request={asking.data} onClose={onClose} />

  const grant = grants.find(({ id }) => id === input.quota) ?? grants[0]
  const [first = 'always'] = durationsOf(grant)
  const duration = durationsOf(grant).find(one => one === input.duration) ?? first
  const { units, reason } = input
  const errors = fieldErrors(asking.error, ['units', 'until', 'reason'], words.errors)

  function submit() {
    // Another reason is no other request.
    const name = JSON.stringify([grant.id, units, duration])
    asking.mutate({ name, draft: draftOf({ units, duration, reason }, grant, Date.now()) })
  }
  return (
    <Form sending={asking} rest={errors.rest} onSubmit={submit} submit={words.submit}>
      <CapNotice user={user} units={unitsIn(units)} />
      {grants.length > 1 && <GrantField grants={grants} value={grant.id} onChange={quota => change({ quota })} />}
      <TextField
        label={words.units}
        value={units}
        onChange={text => change({ units: text })}
        error={errors.at('units')}
        required
        isNumber
      />
      <RadioField
        label={words.duration}
        value={duration}
        onChange={chosen => change({ duration: chosen })}
        error={errors.at('until')}
        choices={durationsOf(grant)}
        labels={{ ...words.durations, window: words.durations.window(<LongDate at={grant.window_end ?? ''} />) }}
      />
      <TextField
        label={words.reason}
        about={words.reasonAbout}
        value={reason}
        onChange={text => change({ reason: text })}
        error={errors.at('reason')}
        required
      />
    </Form>
  )
}

interface GrantFieldProps {
  grants: readonly Grant[]
  value: number
  onChange: (id: number) => void
}

function GrantField({ grants, value, onChange }: GrantFieldProps) {
  return (
    <NativeSelect
      label={words.quota}
      description={words.quotaAbout}
      value={String(value)}
      data={grants.map(({ id, name, kind }) => ({
        value: String(id),
        label: name ?? texts.values.unnamed(kind, id, true),
      }))}
      onChange={event => onChange(Number(event.currentTarget.value))}
    />
  )
}

/** What became of the request: most wait for an administrator, small ones are approved at once. */
function Sent({ request: { units, granted }, onClose }: FormProps & { request: IncreaseRequest }) {
  return (
    <Stack gap="md">
      <Text size="sm" role="status">
        {granted === null ? words.sent(units) : words.approved(granted.units, <End at={granted.until} />)}
      </Text>
      <Button variant="default" onClick={onClose}>
        {words.close}
      </Button>
    </Stack>
  )
}
