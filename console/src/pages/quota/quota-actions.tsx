import { Button } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'wouter'
import type { Api } from '../../api/types.ts'
import { AdjustDialog } from './adjust-dialog.tsx'
import { DeleteDialog } from './delete-dialog.tsx'

interface QuotaActionsProps {
  quota: Api['SmsQuota']
  isToggling: boolean
  onToggle: () => void
  /** Receives a confirmation message. */
  onDone: (message: string) => void
}

/** The actions of a quota. */
export function QuotaActions({ quota, isToggling, onToggle, onDone }: QuotaActionsProps) {
  const [open, setOpen] = useState<'adjust' | 'delete' | null>(null)
  const close = () => setOpen(null)
  return (
    <>
      <Button component={Link} href={`/quotas/${quota.id}?view=edit`} variant="default" size="xs">
        Edit
      </Button>
      {quota.limit !== null && (
        <Button variant="default" size="xs" onClick={() => setOpen('adjust')}>
          Adjust limit
        </Button>
      )}
      <Button variant="default" size="xs" loading={isToggling} onClick={onToggle}>
        {quota.enabled ? 'Suspend' : 'Resume'}
      </Button>
      <Button variant="outline" color="red" size="xs" onClick={() => setOpen('delete')}>
        Delete
      </Button>
      <AdjustDialog quota={quota} isOpen={open === 'adjust'} onClose={close} onDone={onDone} />
      <DeleteDialog quota={quota} isOpen={open === 'delete'} onClose={close} />
    </>
  )
}
