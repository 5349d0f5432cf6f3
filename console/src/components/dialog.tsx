import { Modal } from '@mantine/core'
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react'
import { texts } from '../texts/texts.ts'
import classes from './dialog.module.css'

interface DialogProps {
  title: string
  isOpen: boolean
  /** Without it the user cannot dismiss the dialog. */
  onClose?: () => void
  children: ReactNode
}

const InputContext = createContext<(hasInput: boolean) => void>(() => {})

/** Keeps the dialog around a form open on Escape and on a click outside, which would lose its input. */
export function useDialogInput(hasInput: boolean): void {
  const setInput = useContext(InputContext)
  useEffect(() => {
    setInput(hasInput)
    return () => setInput(false)
  }, [setInput, hasInput])
}

/** A modal dialog: it traps the focus and restores it when it closes. */
export function Dialog({ title, isOpen, onClose, children }: DialogProps) {
  const [hasInput, setInput] = useState(false)
  const canClose = onClose !== undefined
  const closesEasily = canClose && !hasInput
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
          <Modal.Title className={classes.title ?? ''}>{title}</Modal.Title>
          {canClose && <Modal.CloseButton aria-label={texts.components.close} />}
        </div>
        <Modal.Body>
          <InputContext value={setInput}>{children}</InputContext>
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  )
}
