import { ActionIcon, Button } from '@mantine/core'
import { lazy, Suspense, useCallback, useState } from 'react'
import type { Api } from '../../api/types.ts'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { Icon } from '../../components/icon.tsx'
import { quotaName } from '../../components/quota-labels.ts'
import { QuotaTable } from '../../components/quota-table.tsx'
import { may } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import type { BulkAction } from './bulk/bulk-change.ts'
import { filtersOf, type ListState } from './list-state.ts'
import type { TableOptions } from './options.ts'
import classes from './quotas.module.css'
import { isEmpty, SelectionBar, type useSelection } from './selection.tsx'

const RowMenu = lazy(() => import('./row-menu.tsx'))

type Quota = Api['SmsQuota']

/** The row whose menu is open, and the button that it hangs on. */
interface OpenMenu {
  quota: Quota
  anchor: HTMLElement
}

interface RowsProps {
  state: ListState
  select: (parts: Partial<ListState>) => void
  options: TableOptions
  selection: ReturnType<typeof useSelection>
  onBulk: ((action: BulkAction) => void) | null
  items: readonly Quota[]
  /** How many quotas match; null if the service did not count them. */
  total: number | null
  isStale: boolean
}

/** A page of the list, and what can be done to its rows. */
export function Rows({ state, select, options, selection, onBulk, items, total, isStale }: RowsProps) {
  const canChange = may(useCaller(), 'change')
  const [menu, setMenu] = useState<OpenMenu | null>(null)
  const [done, setDone] = useState('')
  const [error, setError] = useState<Error | null>(null)
  const actions = useCallback((quota: Quota) => <MenuButton quota={quota} onOpen={setMenu} />, [])
  return (
    <>
      <p role="status" className={classes.done}>
        {done}
      </p>
      <ErrorNotice variant="action" error={error} />
      <QuotaTable
        quotas={items}
        owner="all"
        sort={state.sort}
        onSort={sort => select({ sort })}
        canSortByRemaining={state.user_id !== null}
        isStale={isStale}
        columns={options.columns}
        density={options.density}
        selection={canChange && onBulk !== null ? selection.rows : undefined}
        actions={actions}
      />
      {onBulk !== null && !isEmpty(selection.current) && (
        <SelectionBar
          selection={selection.current}
          filters={filtersOf(state)}
          total={total}
          onSelect={selection.select}
          onClear={selection.clear}
        >
          <BulkButtons onBulk={onBulk} />
        </SelectionBar>
      )}
      {menu !== null && (
        <Suspense>
          <RowMenu key={menu.quota.id} {...menu} onClose={() => setMenu(null)} onDone={setDone} onError={setError} />
        </Suspense>
      )}
    </>
  )
}

function MenuButton({ quota, onOpen }: { quota: Quota; onOpen: (menu: OpenMenu) => void }) {
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={texts.quotas.actions.of(quotaName(quota))}
      aria-haspopup="menu"
      onClick={event => onOpen({ quota, anchor: event.currentTarget })}
    >
      <Icon name="more" />
    </ActionIcon>
  )
}

const ACTIONS: readonly BulkAction[] = ['adjust', 'extend', 'suspend', 'resume', 'delete']

function BulkButtons({ onBulk }: { onBulk: (action: BulkAction) => void }) {
  return ACTIONS.map(action => (
    <Button
      key={action}
      size="xs"
      variant={action === 'delete' ? 'outline' : 'default'}
      {...(action === 'delete' ? { color: 'red' } : {})}
      onClick={() => onBulk(action)}
    >
      {texts.quotas.bulkButtons[action]}
    </Button>
  ))
}
