import { createContext, lazy, type ReactNode, Suspense, useContext, useEffect, useState } from 'react'

const ModalDialog = lazy(() => import('./modal.tsx'))

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

/**
 * A modal dialog: it traps the focus and restores it when it closes. What it takes for that is loaded after the page, as soon
 * as a closed dialog is rendered, so that it opens at once.
 */
export function Dialog({ title, isOpen, onClose, children }: DialogProps) {
  const [hasInput, setInput] = useState(false)
  return (
    <Suspense>
      <ModalDialog title={title} isOpen={isOpen} onClose={onClose} closesEasily={onClose !== undefined && !hasInput}>
        <InputContext value={setInput}>{children}</InputContext>
      </ModalDialog>
    </Suspense>
  )
}
