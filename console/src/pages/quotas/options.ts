import { COLUMN_IDS, type ColumnId, DEFAULT_COLUMNS, type Density } from '../../components/quota-table.tsx'

export const DENSITIES: readonly Density[] = ['comfortable', 'compact']

/** How the reader wants the table. */
export interface TableOptions {
  columns: readonly ColumnId[]
  density: Density
}

export const DEFAULT_OPTIONS: TableOptions = { columns: DEFAULT_COLUMNS, density: 'comfortable' }

/** Options from the storage of the browser; what is not known there is left out. */
export function readOptions(stored: unknown): TableOptions {
  if (typeof stored !== 'object' || stored === null) return DEFAULT_OPTIONS
  const { columns, density } = stored as Record<string, unknown>
  return {
    columns: Array.isArray(columns) ? COLUMN_IDS.filter(id => columns.includes(id)) : DEFAULT_COLUMNS,
    density: DENSITIES.find(one => one === density) ?? DEFAULT_OPTIONS.density,
  }
}
