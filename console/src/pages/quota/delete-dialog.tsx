import { Button, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { request } from '../../api/client.ts'
import { ApiProblem } from '../../api/problem.ts'
import type { Api } from '../../api/types.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Refusal } from '../../parts/refusal.tsx'
import { TextField } from './fields.tsx'

interface DeleteProps {
  quota: Api['SmsQuota']
  isOpen: boolean
  onClose: () => void
}

/** Asks for the quota's id before it deletes: what is deleted does not come back. */
export function DeleteDialog({ quota, isOpen, onClose }: DeleteProps) {
  return (
    <Dialog title={`Delete quota ${quota.id}`} isOpen={isOpen} onClose={onClose}>
      <DeleteForm quota={quota} />
    </Dialog>
  )
}

function DeleteForm({ quota: { id, user_id, version } }: Pick<DeleteProps, 'quota'>) {
  const [word, setWord] = useState('')
  const [fault, setFault] = useState<string>()
  const queries = useQueryClient()
  const deletion = useMutation({
    mutationFn: () => request(`/admin/quota/${id}`, { method: 'DELETE', ifMatch: version }),
    // Changed or deleted meanwhile: what is shown beneath is not true any more.
    onSettled: () => queries.invalidateQueries({ queryKey: ['quotas'] }),
  })
  const isChanged = deletion.error instanceof ApiProblem && deletion.error.code === 'version_mismatch'

  function submit(event: FormEvent) {
    event.preventDefault()
    const isMeant = word.trim() === String(id)
    setFault(isMeant ? undefined : `Type ${id}, the id of this quota.`)
    if (isMeant && !deletion.isPending) deletion.mutate()
  }
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        {deletion.error !== null && (
          <Refusal error={deletion.error}>
            {isChanged && ' Somebody changed it meanwhile; press again if you still want to delete it.'}
          </Refusal>
        )}
        <Text size="sm">
          User {user_id} can spend nothing of it any more, and it does not come back. Its history stays, and what is
          reserved on it can still be settled.
        </Text>
        <TextField
          label={`Type ${id} to delete it`}
          about="The id of the quota, so that it is not the wrong one."
          value={word}
          onChange={setWord}
          fault={fault}
          isNumber
        />
        <Button type="submit" color="red" loading={deletion.isPending}>
          Delete quota
        </Button>
      </Stack>
    </form>
  )
}
