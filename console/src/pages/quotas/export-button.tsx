import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { saveFile } from '../../components/download.ts'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { Icon } from '../../components/icon.tsx'
import type { Filters } from '../../model/quota-lists.ts'
import { exportMutation } from '../../queries/quotas.ts'
import { texts } from '../../texts/texts.ts'
import classes from './quotas.module.css'

const { exporting } = texts.quotas

/** Saves all quotas that match the filters as CSV, in the form that the import reads. */
export function ExportButton({ filters }: { filters: Filters }) {
  const [count, setCount] = useState(0)
  const controller = useRef<AbortController>(null)
  const exportation = useMutation(exportMutation(setCount, saveFile))
  const { isPending, isSuccess } = exportation

  function start(): void {
    setCount(0)
    controller.current = new AbortController()
    exportation.mutate({ filters, signal: controller.current.signal })
  }
  return (
    <>
      <span className={classes.exported} role="status">
        {isPending ? exporting.running(count) : isSuccess && exporting.done(count)}
      </span>
      {isPending ? (
        <Button variant="default" size="xs" onClick={() => controller.current?.abort()}>
          {exporting.cancel}
        </Button>
      ) : (
        <Button variant="default" size="xs" leftSection={<Icon name="download" size={16} />} onClick={start}>
          {exporting.button}
        </Button>
      )}
      {exportation.error !== null && controller.current?.signal.aborted !== true && (
        <ErrorNotice variant="action" error={exportation.error} />
      )}
    </>
  )
}
