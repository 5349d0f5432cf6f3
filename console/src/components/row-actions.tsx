import { Button } from '@mantine/core'
import { lazy, type ReactNode, Suspense, useCallback, useState } from 'react'
import type { Api } from '../api/types.ts'
import { texts } from '../texts/texts.ts'
import { ErrorNotice } from './error-notice.tsx'
import { Icon } from './icon.tsx'
import { quotaName } from './quota-labels.ts'
import classes from './row-actions.module.css'

const RowMenu = lazy(() => import('./row-menu.tsx'))

type Quota = Api['SmsQuota']

/** The row whose menu is open, and the button that it hangs on. */
interface OpenMenu {
  quota: Quota
  anchor: HTMLElement
}

interface RowActions {
  /** The last cell of a row, for `QuotaTable`. */
  actions: (quota: Quota) => ReactNode
  /** What an action has done, or why it failed. It stands above the table. */
  outcome: ReactNode
  /** The open menu, anywhere on the page. */
  menu: ReactNode
}

/** The actions of the rows of a table of quotas. */
export function useRowActions(): RowActions {
  const [open, setOpen] = useState<OpenMenu | null>(null)
  const [done, setDone] = useState('')
  const [error, setError] = useState<Error | null>(null)
  const actions = useCallback((quota: Quota) => <MenuButton quota={quota} onOpen={setOpen} />, [])
  return {
    actions,
    outcome: (
      <>
        <p role="status" className={classes.done}>
          {done}
        </p>
        <ErrorNotice variant="action" error={error} />
      </>
    ),
    menu: open !== null && (
      <Suspense>
        <RowMenu key={open.quota.id} {...open} onClose={() => setOpen(null)} onDone={setDone} onError={setError} />
      </Suspense>
    ),
  }
}

function MenuButton({ quota, onOpen }: { quota: Quota; onOpen: (menu: OpenMenu) => void }) {
  return (
    <Button
      variant="subtle"
      color="gray"
      size="compact-sm"
      aria-label={texts.quotas.actions.of(quotaName(quota))}
      aria-haspopup="menu"
      onClick={event => onOpen({ quota, anchor: event.currentTarget })}
    >
      <Icon name="more" />
    </Button>
  )
}
