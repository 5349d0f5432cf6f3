import { useCallback, useState } from 'react'
import type { QuotaSelection } from '../../components/quota-table.tsx'
import type { Selection } from '../../model/bulk-change.ts'
import type { Filters } from '../../model/quota-lists.ts'

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
