import { Modal } from '@mantine/core'
import type { ReactNode } from 'react'
import { texts } from '../texts/texts.ts'
import classes from './modal.module.css'

interface ModalDialogProps {
  title: string
  isOpen: boolean
  onClose: (() => void) | undefined
  /** Whether Escape and a click outside close it. */
  closesEasily: boolean
  children: ReactNode
}

/** What a `Dialog` shows. */
export default function ModalDialog({ title, isOpen, onClose, closesEasily, children }: ModalDialogProps) {
  return (
    <Modal.Root
      opened={isOpen}
      onClose={onClose ?? (() => {})}
      closeOnEscape={closesEasily}
      closeOnClickOutside={closesEasily}
      centered
    >
      <Modal.Overlay />
      <Modal.Content>
        {/* Not Modal.Header: its <header> element would be a second banner landmark. */}
        <div className={classes.head}>
          <Modal.Title className={classes.title}>{title}</Modal.Title>
          {onClose !== undefined && <Modal.CloseButton aria-label={texts.components.close} />}
        </div>
        <Modal.Body>{children}</Modal.Body>
      </Modal.Content>
    </Modal.Root>
  )
}
