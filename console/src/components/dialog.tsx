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

/**
 * For a form in a dialog: its first field has the focus instead of the button that closes, and while it has input, Escape and a click
 * outside do not close the dialog.
 */
export function useDialogInput(hasInput: boolean): void {
  const setInput = useContext(InputContext)
  useEffect(focusFirstField, [])
  useEffect(() => {
    setInput(hasInput)
    return () => setInput(false)
  }, [setInput, hasInput])
}

/** Radio buttons and ticks have a choice already. */
const FIELD = '[role="dialog"] form :is(input:not([type="radio"], [type="checkbox"]), select, textarea):enabled'

function focusFirstField(): void {
  // With a finger, the keyboard would cover the form before it is read.
  if (!matchMedia('(pointer: fine)').matches) return
  const field = document.querySelector<HTMLElement>(FIELD)
  // A list that opens would cover the form.
  if (field?.getAttribute('aria-haspopup') === 'listbox') return
  // The dialog looks for this mark when it opens; a form that is loaded comes later.
  field?.setAttribute('data-autofocus', 'true')
  field?.focus({ preventScroll: true })
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
