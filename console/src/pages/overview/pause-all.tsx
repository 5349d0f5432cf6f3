import { Anchor, Button, Group } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'wouter'
import classes from '../../components/data-table.module.css'
import { useDialogInput } from '../../components/dialog.tsx'
import { Form, Leave } from '../../components/form.tsx'
import { PauseReason } from '../../components/pause-form.tsx'
import { countryName } from '../../formats.ts'
import { useMakePauses } from '../../queries/pauses.ts'
import type { SomeUsers } from '../../texts/en/some-users.ts'
import { texts } from '../../texts/texts.ts'

const { senders: words, form } = texts.pauses

interface PauseAllProps {
  country: string
  /** Users whose messages there are not paused. */
  users: readonly number[]
  /** Which users they are of those who send there. */
  of: SomeUsers
}

/** Pauses a country for several users at once, with one reason; or leads to a pause for all users. */
export function PauseAll({ country, users, of }: PauseAllProps) {
  // While the form is open: after an error, some of them are paused.
  const [open, setOpen] = useState<Pick<PauseAllProps, 'users' | 'of'> | null>(null)
  if (open !== null) return <PauseUsers country={country} {...open} onCancel={() => setOpen(null)} />
  return (
    <Group gap="sm" mt="sm">
      {users.length > 0 && (
        <Button size="xs" color="red" onClick={() => setOpen({ users, of })}>
          {words.open(countryName(country), of, users.length)}
        </Button>
      )}
      <Anchor component={Link} href={`/pauses?pause=${country}`} size="sm">
        {words.all}
      </Anchor>
    </Group>
  )
}

function PauseUsers({ country, users, of, onCancel }: PauseAllProps & { onCancel: () => void }) {
  const [reason, setReason] = useState('')
  const [isTried, setTried] = useState(false)
  const [done, setDone] = useState('')
  useDialogInput(reason !== '' && done === '')
  const name = countryName(country)
  const making = useMakePauses(() => setDone(words.done(name, of, users.length)))

  function submit() {
    setTried(true)
    if (reason.trim() === '') return
    const terms = { message_types: null, until: null, reason: reason.trim() }
    making.mutate({ users: async () => users, countries: [country], terms })
  }

  if (done !== '') return <p role="status">{done}</p>
  return (
    <Form
      sending={making}
      remedy={form.part}
      onSubmit={submit}
      submit={words.confirm(of, users.length)}
      isDanger
      beside={<Leave onClick={onCancel}>{texts.quota.form.cancel}</Leave>}
    >
      <PauseReason value={reason} onChange={setReason} isWrong={isTried && reason.trim() === ''} />
      <p className={classes.more}>{words.about(name, of, users.length)}</p>
    </Form>
  )
}
