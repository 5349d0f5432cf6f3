import { Button, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { request } from '../../api/client.ts'
import { ApiProblem } from '../../api/problem.ts'
import type { Api } from '../../api/types.ts'
import { Dialog } from '../../components/dialog.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { TextField } from './fields.tsx'

interface DeleteProps {
  quota: Api['SmsQuota']
  isOpen: boolean
  onClose: () => void
}

/** Asks for the id of the quota as a confirmation, because deleting cannot be undone. */
export function DeleteDialog({ quota, isOpen, onClose }: DeleteProps) {
  return (
    <Dialog title={`Delete quota ${quota.id}`} isOpen={isOpen} onClose={onClose}>
      <DeleteForm quota={quota} />
    </Dialog>
  )
}

function DeleteForm({ quota: { id, user_id, version } }: Pick<DeleteProps, 'quota'>) {
  const [confirmation, setConfirmation] = useState('')
  const [error, setError] = useState<string>()
  const queryClient = useQueryClient()
  const deletion = useMutation({
    mutationFn: () => request(`/admin/quota/${id}`, { method: 'DELETE', ifMatch: version }),
    // Also after an error: the quota may have been changed or deleted, so the page is stale.
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['quotas'] }),
  })
  const isChanged = deletion.error instanceof ApiProblem && deletion.error.code === 'version_mismatch'

  function submit(event: FormEvent) {
    event.preventDefault()
    const isConfirmed = confirmation.trim() === String(id)
    setError(isConfirmed ? undefined : `Type ${id}, the id of this quota.`)
    if (isConfirmed && !deletion.isPending) deletion.mutate()
  }
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        {deletion.error !== null && (
          <ErrorNotice variant="form" error={deletion.error}>
            {isChanged && ' The quota was changed by someone else. Confirm again to delete it.'}
          </ErrorNotice>
        )}
        <Text size="sm">
          User {user_id} can no longer use this quota. This cannot be undone. The history is kept, and open reservations
          can still be committed or released.
        </Text>
        <TextField
          label={`Type ${id} to delete it`}
          about="The id of the quota."
          value={confirmation}
          onChange={setConfirmation}
          error={error}
          isNumber
        />
        <Button type="submit" color="red" loading={deletion.isPending}>
          Delete quota
        </Button>
      </Stack>
    </form>
  )
}
