import { Button } from '@mantine/core'
import type { BulkAction, Selection } from '../../model/bulk-change.ts'
import { type Filters, filterCount } from '../../model/quota-lists.ts'
import { texts } from '../../texts/texts.ts'
import classes from './quotas.module.css'

interface SelectionBarProps {
  selection: Selection
  filters: Filters
  /** How many quotas match the filters; null if the service did not count them. */
  total: number | null
  onSelect: (selection: Selection) => void
  onClear: () => void
  /** Begins a change of the selection. */
  onBulk: (action: BulkAction) => void
}

/** Says how many quotas are selected, over all pages, and holds the actions. Shown while there is a selection. */
export default function SelectionBar({ selection, filters, total, onSelect, onClear, onBulk }: SelectionBarProps) {
  const { selected, allSelected, selectAll, clear } = texts.quotas.selection
  const isAll = selection.by === 'filters'
  // Without a filter all quotas of the service would be changed: that is never daily work.
  const canSelectAll = !isAll && filterCount(filters) > 0 && (total === null || total > selection.quotas.size)
  return (
    <section className={classes.selection} aria-label={texts.quotas.selection.label}>
      <span role="status">{isAll ? allSelected(selection.total) : selected(selection.quotas.size)}</span>
      {canSelectAll && (
        <Button variant="subtle" size="compact-sm" onClick={() => onSelect({ by: 'filters', filters, total })}>
          {selectAll(total)}
        </Button>
      )}
      <Button variant="subtle" size="compact-sm" onClick={onClear}>
        {clear}
      </Button>
      <div className={classes.bulk}>
        <BulkButtons onBulk={onBulk} />
      </div>
    </section>
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
