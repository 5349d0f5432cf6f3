import { Modal } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './dialog.module.css'

interface DialogProps {
  title: string
  isOpen: boolean
  /** Without it the dialog stays until what it asks for is done. */
  onClose?: () => void
  children: ReactNode
}

/** Stands over the page, which waits. Holds the focus meanwhile and gives it back. */
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
        {/* Not Modal.Header: its element would count as a second header of the page. */}
        <div className={classes.head}>
          <Modal.Title className={classes.title ?? ''}>{title}</Modal.Title>
          {canClose && <Modal.CloseButton aria-label="Close" />}
        </div>
        <Modal.Body>{children}</Modal.Body>
      </Modal.Content>
    </Modal.Root>
  )
}
