import type { QuotaIdentity } from '../../domain/quota-settings.ts'
import { type Sql, sql } from '../connection/sql.ts'

/**
 * The column `period` of a quota with an anchor says so: versions that do not know the column `anchor` know no such period either, and
 * open no window of it (docs/decisions/interface.md#where-months-begin).
 */
export function storedPeriod({ period, anchor }: Pick<QuotaIdentity, 'period' | 'anchor'>): string | null {
  return period === null || anchor === null ? period : `anchored_${period}`
}

/** The period of a column that holds it as it is stored, or as this has read it before. */
export const periodIn = (column: Sql) => sql`replace(${column}, 'anchored_', '')`
