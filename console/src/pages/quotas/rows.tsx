import { Button } from '@mantine/core'
import type { Api } from '../../api/types.ts'
import { QuotaTable } from '../../components/quota-table.tsx'
import { useRowActions } from '../../components/row-actions.tsx'
import type { BulkAction } from '../../model/bulk-change.ts'
import { filtersOf, type ListState } from '../../model/quota-lists.ts'
import { may } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import type { TableOptions } from './options.ts'
import { isEmpty, SelectionBar, type useSelection } from './selection.tsx'

type Quota = Api['SmsQuota']

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
      {menu}
    </>
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
