import { useCallback, useEffect, useRef, useState } from 'react'

/** What is typed into the search. */
export interface SearchInput {
  text: string
  /** Whether Enter was pressed before the result was there. */
  isEntered: boolean
}

const EMPTY: SearchInput = { text: '', isEntered: false }

/**
 * The input of the search dialog. Keys count from when it is opened, also while its code is loading and until its
 * field has the focus: without this, the first keys went to the page, and the rest of a number found another user.
 *
 * @param onCancel for the Escape key until then
 */
export function useSearchInput(isOpen: boolean, onCancel: () => void) {
  const [input, setInput] = useState(EMPTY)
  const hasField = useRef(false)
  const onFieldFocus = useCallback(() => {
    hasField.current = true
  }, [])
  useEffect(() => {
    if (!isOpen) return
    hasField.current = false
    setInput(EMPTY)
    function onKey(event: KeyboardEvent) {
      if (hasField.current || event.ctrlKey || event.metaKey || event.altKey) return
      if (event.key === 'Escape') onCancel()
      else if (event.key === 'Enter') setInput(({ text }) => ({ text, isEntered: true }))
      else if (event.key === 'Backspace') setInput(({ text }) => ({ text: text.slice(0, -1), isEntered: false }))
      else if (event.key.length === 1) setInput(({ text }) => ({ text: text + event.key, isEntered: false }))
      else return
      // A field of the page may have the focus still.
      event.preventDefault()
      event.stopPropagation()
    }
    window.addEventListener('keydown', onKey, { capture: true })
    return () => window.removeEventListener('keydown', onKey, { capture: true })
  }, [isOpen, onCancel])
  return { input, setInput, onFieldFocus }
}
