import { useState } from 'react'
import type { Scope } from '../../queries/denials.ts'
import { texts } from '../../texts/texts.ts'
import { Dialog } from '../dialog.tsx'
import { type QuotaAction, QuotaDialog } from '../quota-dialogs/quota-dialog.tsx'
import { DenialExplanation } from './denial-explanation.tsx'

interface DenialDialogProps {
  scope: Scope
  /** The denial that is explained; null closes the dialog. */
  denialId: string | null
  onClose: () => void
}

/** The explanation of a denial. While the quota is adjusted that limited it, the dialog for that takes its place. */
export function DenialDialog({ scope, denialId, onClose }: DenialDialogProps) {
  const [action, setAction] = useState<QuotaAction | null>(null)
  const [done, setDone] = useState('')
  function close() {
    setDone('')
    onClose()
  }
  return (
    <>
      <Dialog title={texts.denials.explanation.title} isOpen={denialId !== null && action === null} onClose={close}>
        {denialId !== null && <DenialExplanation scope={scope} denialId={denialId} done={done} onAction={setAction} />}
      </Dialog>
      <QuotaDialog action={action} onClose={() => setAction(null)} onDone={setDone} />
    </>
  )
}
