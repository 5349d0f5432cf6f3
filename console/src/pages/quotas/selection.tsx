import { Button } from '@mantine/core'
import { type ReactNode, useCallback, useState } from 'react'
import type { QuotaSelection } from '../../components/quota-table.tsx'
import type { Selection } from '../../model/bulk-change.ts'
import { type Filters, filterCount } from '../../model/quota-lists.ts'
import { texts } from '../../texts/texts.ts'
import classes from './quotas.module.css'

const NONE: Selection = { by: 'ids', quotas: new Map() }

export function isEmpty(selection: Selection): boolean {
  return selection.by === 'ids' && selection.quotas.size === 0
}

/** The selection of a list. It lasts while pages are turned; other filters begin a new one. */
export function useSelection(filters: Filters) {
  const [{ key, selection }, set] = useState<{ key: string; selection: Selection }>({ key: '', selection: NONE })
  const currentKey = JSON.stringify(filters)
  const current: Selection = key === currentKey ? selection : NONE
  const select = (next: Selection) => set({ key: currentKey, selection: next })
  const onSelect: QuotaSelection['onSelect'] = useCallback(
    (changed, isSelected) =>
      set(before => {
        // A single row cannot be taken out of all that match, so the choice begins again with that row.
        const known = before.key === currentKey ? before.selection : NONE
        const quotas = new Map(known.by === 'ids' ? known.quotas : [])
        for (const quota of changed) {
          if (isSelected) quotas.set(quota.id, quota)
          else quotas.delete(quota.id)
        }
        return { key: currentKey, selection: { by: 'ids', quotas } }
      }),
    [currentKey],
  )
  const rows: QuotaSelection = {
    isSelected: ({ id }) => current.by === 'filters' || current.quotas.has(id),
    onSelect,
  }
  return { current, select, clear: () => select(NONE), rows }
}

interface SelectionBarProps {
  selection: Selection
  filters: Filters
  /** How many quotas match the filters; null if the service did not count them. */
  total: number | null
  onSelect: (selection: Selection) => void
  onClear: () => void
  /** What can be done with the selection. */
  children: ReactNode
}

/** Says how many quotas are selected, over all pages, and holds the actions. Shown while there is a selection. */
export function SelectionBar({ selection, filters, total, onSelect, onClear, children }: SelectionBarProps) {
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
      <div className={classes.bulk}>{children}</div>
    </section>
  )
}
