import { Button, Group } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { newIdempotencyKey } from '../../api/http.ts'
import { BlockReason } from '../../components/block-reason.tsx'
import classes from '../../components/data-table.module.css'
import { useDialogInput } from '../../components/dialog.tsx'
import { refetchAfter } from '../../queries/calls.ts'
import { type ImportLine, importJob } from '../../queries/jobs.ts'
import type { SomeUsers } from '../../texts/en/some-users.ts'
import { texts } from '../../texts/texts.ts'
import { JobView } from '../quotas/jobs/job-view.tsx'

const { blockAll } = texts.overviewParts.senders

interface BlockAllProps {
  type: string
  /** Users who are not blocked there. */
  users: readonly number[]
  /** Which users they are of those who send there. */
  of: SomeUsers
}

/** Blocks a message type for several users at once: a cap of 0 for each, with one reason. */
export function BlockAll({ type: name, users, of }: BlockAllProps) {
  const [isOpen, setOpen] = useState(false)
  const [reason, setReason] = useState('')
  const [isTried, setTried] = useState(false)
  const [lines, setLines] = useState<readonly ImportLine[] | null>(null)
  // Names the caps, so that one is made for each user however often the job is continued.
  const [reference] = useState(() => `block-${name}-${newIdempotencyKey()}`)
  const [isDone, setDone] = useState(false)
  // While it runs, as well: closed, it would stop after a step.
  useDialogInput(isOpen && reason !== '' && !isDone)
  const text = reason.trim()

  function submit(event: FormEvent) {
    event.preventDefault()
    setTried(true)
    if (text === '') return
    const cap = {
      kind: 'cap',
      limit: 0,
      name: texts.quota.form.blockName(name),
      external_ref: reference,
      message_types: [name],
    }
    setLines(
      users.map(user_id => {
        const json = JSON.stringify({ ...cap, user_id, metadata: { reason: text } })
        return { json, place: texts.overview.user(user_id) }
      }),
    )
  }

  if (lines !== null) {
    return (
      <JobView
        job={importJob(lines, { isDryRun: false })}
        total={lines.length}
        reportName={`sms-quota-block-${name}`}
        onEnd={isAllDone => {
          setDone(isAllDone)
          void refetchAfter('POST /admin/quota/import')
        }}
      >
        {() => null}
      </JobView>
    )
  }
  if (users.length === 0) return null
  if (!isOpen) {
    return (
      <Button size="xs" color="red" mt="sm" onClick={() => setOpen(true)}>
        {blockAll.open(name, of, users.length)}
      </Button>
    )
  }
  return (
    <form onSubmit={submit} noValidate>
      <BlockReason value={reason} onChange={setReason} isTried={isTried} />
      <p className={classes.more}>{blockAll.about(name, of, users.length)}</p>
      <Group gap="xs">
        <Button type="submit" color="red" size="xs">
          {blockAll.confirm(of, users.length)}
        </Button>
        <Button variant="default" size="xs" onClick={() => setOpen(false)}>
          {texts.quota.form.cancel}
        </Button>
      </Group>
    </form>
  )
}
