import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useSearch } from 'wouter'
import { ErrorNotice } from './error-notice.tsx'
import classes from './export-button.module.css'
import { Icon } from './icon.tsx'

interface ExportButtonProps {
  words: {
    button: string
    cancel: string
    running: (count: number) => string
    done: (count: number) => string
  }
  /** Saves what the page selects as CSV. @param onCount gets how many have been read */
  onExport: (signal: AbortSignal, onCount: (count: number) => void) => Promise<void>
}

/** Saves a list as a file, which can be stopped, and says how far it is. */
export function ExportButton({ words, onExport }: ExportButtonProps) {
  const [count, setCount] = useState(0)
  const controller = useRef<AbortController>(null)
  const exportation = useMutation({ mutationFn: (signal: AbortSignal) => onExport(signal, setCount) })
  const { isPending, isSuccess } = exportation
  // Of other filters, what was exported says nothing.
  const search = useSearch()
  const [exported, setExported] = useState(search)

  function start(): void {
    setCount(0)
    setExported(search)
    controller.current = new AbortController()
    exportation.mutate(controller.current.signal)
  }
  return (
    <>
      <span className={classes.exported} role="status">
        {isPending ? words.running(count) : isSuccess && exported === search && words.done(count)}
      </span>
      {isPending ? (
        <Button variant="default" size="xs" onClick={() => controller.current?.abort()}>
          {words.cancel}
        </Button>
      ) : (
        <Button variant="default" size="xs" leftSection={<Icon name="download" size={16} />} onClick={start}>
          {words.button}
        </Button>
      )}
      {exportation.error !== null && controller.current?.signal.aborted !== true && (
        <ErrorNotice variant="action" error={exportation.error} />
      )}
    </>
  )
}
