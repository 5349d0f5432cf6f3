import { Modal } from '@mantine/core'
import type { ReactNode } from 'react'
import { texts } from '../texts/texts.ts'
import classes from './dialog.module.css'

interface DialogProps {
  title: string
  isOpen: boolean
  /** Without it the user cannot dismiss the dialog. */
  onClose?: () => void
  children: ReactNode
}

/** A modal dialog: it traps the focus and restores it when it closes. */
export function Dialog({ title, isOpen, onClose, children }: DialogProps) {
  const canClose = onClose !== undefined
  return (
    <Modal.Root
      opened={isOpen}
      onClose={onClose ?? (() => {})}
      closeOnEscape={canClose}
      closeOnClickOutside={canClose}
      centered
    >
      <Modal.Overlay />
      <Modal.Content>
        {/* Not Modal.Header: its <header> element would be a second banner landmark. */}
        <div className={classes.head}>
          <Modal.Title className={classes.title ?? ''}>{title}</Modal.Title>
          {canClose && <Modal.CloseButton aria-label={texts.components.close} />}
        </div>
        <Modal.Body>{children}</Modal.Body>
      </Modal.Content>
    </Modal.Root>
  )
}
