import { lazy, Suspense } from 'react'
import type { Api } from '../../api/types.ts'
import { type ColumnId, QuotaTable } from '../../components/quota-table.tsx'
import { useRowActions } from '../../components/row-actions.tsx'
import type { BulkAction } from '../../model/bulk-change.ts'
import { filtersOf, type ListState } from '../../model/quota-lists.ts'
import { may } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { isEmpty, type useSelection } from './selection.ts'

const SelectionBar = lazy(() => import('./selection-bar.tsx'))

type Quota = Api['SmsQuota']

interface RowsProps {
  state: ListState
  select: (parts: Partial<ListState>) => void
  columns: readonly ColumnId[]
  selection: ReturnType<typeof useSelection>
  onBulk: ((action: BulkAction) => void) | null
  items: readonly Quota[]
  /** How many quotas match; null if the service did not count them. */
  total: number | null
  isStale: boolean
}

/** A page of the list, and what can be done to its rows. */
export function Rows({ state, select, columns, selection, onBulk, items, total, isStale }: RowsProps) {
  const canChange = may(useCaller(), 'change')
  const { actions, outcome, menu } = useRowActions()
  return (
    <>
      {outcome}
      <QuotaTable
        quotas={items}
        owner="all"
        sort={state.sort}
        onSort={sort => select({ sort })}
        canSortByRemaining={state.user_id !== null}
        isStale={isStale}
        columns={columns}
        selection={canChange && onBulk !== null ? selection.rows : undefined}
        actions={actions}
      />
      {onBulk !== null && !isEmpty(selection.current) && (
        <Suspense>
          <SelectionBar
            selection={selection.current}
            filters={filtersOf(state)}
            total={total}
            onSelect={selection.select}
            onClear={selection.clear}
            onBulk={onBulk}
          />
        </Suspense>
      )}
      {menu}
    </>
  )
}
