import { Menu, Portal } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'wouter'
import type { Api } from '../api/types.ts'
import { transferableUnits } from '../model/transfers.ts'
import { useChange } from '../queries/calls.ts'
import { adjustsQuotas, changesQuotas } from '../session/rights.ts'
import { useCaller } from '../session/session.ts'
import { texts } from '../texts/texts.ts'
import { type QuotaAction, QuotaDialog } from './quota-dialogs/quota-dialog.tsx'
import { quotaName } from './quota-labels.ts'

type Quota = Api['SmsQuota']

interface RowMenuProps {
  quota: Quota
  /** The button that the menu hangs on. */
  anchor: HTMLElement
  onClose: () => void
  /** Receives a confirmation message. */
  onDone: (message: string) => void
  onError: (error: Error) => void
}

/** The actions of one row, and their dialogs. One for the whole table: two hundred menus would be slow to render. */
export default function RowMenu({ quota, anchor, onClose, onDone, onError }: RowMenuProps) {
  const [action, setAction] = useState<QuotaAction['name'] | null>(null)
  const resumption = useChange('PUT /admin/quota/{id}', () => onDone(texts.quotas.actions.resumed(quotaName(quota))))
  const close = () => {
    onClose()
    anchor.focus()
  }
  return (
    <>
      <ActionsMenu
        quota={quota}
        anchor={anchor}
        isOpen={action === null}
        onClose={close}
        onAction={setAction}
        onResume={() => {
          resumption.mutate({ id: quota.id, body: { enabled: true } }, { onError })
          close()
        }}
      />
      <QuotaDialog action={action === null ? null : { name: action, quota }} onClose={close} onDone={onDone} />
    </>
  )
}

interface ActionsMenuProps extends Pick<RowMenuProps, 'quota' | 'anchor' | 'onClose'> {
  isOpen: boolean
  onAction: (action: QuotaAction['name']) => void
  onResume: () => void
}

function ActionsMenu({ quota, anchor, isOpen, onClose, onAction, onResume }: ActionsMenuProps) {
  const { id, enabled, limit, status } = quota
  const { actions } = texts.quotas
  const caller = useCaller()
  const canChange = changesQuotas(caller)
  const isDeleted = status === 'deleted'
  return (
    <Menu opened={isOpen} position="bottom-end" shadow="md" onClose={onClose} closeOnItemClick={false}>
      <Portal>
        <Menu.Target>
          <div style={{ position: 'absolute', pointerEvents: 'none', ...placeOf(anchor) }} />
        </Menu.Target>
      </Portal>
      <Menu.Dropdown aria-label={actions.of(quotaName(quota))}>
        <Menu.Item component={Link} href={`/quotas/${id}`}>
          {actions.open}
        </Menu.Item>
        {adjustsQuotas(caller) && limit !== null && !isDeleted && (
          <Menu.Item onClick={() => onAction('adjust')}>{actions.adjust}</Menu.Item>
        )}
        {canChange && !isDeleted && (
          <Menu.Item onClick={enabled ? () => onAction('suspend') : onResume}>
            {enabled ? actions.suspend : actions.resume}
          </Menu.Item>
        )}
        {canChange && transferableUnits(quota) !== null && (
          <Menu.Item onClick={() => onAction('transfer')}>{texts.dialogTitles.transfer.grant}</Menu.Item>
        )}
        {canChange && (
          <Menu.Item component={Link} href={`/quotas/new?copy=${id}`}>
            {actions.duplicate}
          </Menu.Item>
        )}
        {canChange && !isDeleted && (
          <Menu.Item c="var(--mantine-color-error)" onClick={() => onAction('delete')}>
            {actions.delete}
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}

/** Where an element is on the page. */
function placeOf(element: HTMLElement) {
  const { top, left, width, height } = element.getBoundingClientRect()
  return { top: top + window.scrollY, left: left + window.scrollX, width, height }
}
