import type { QuotaIdentity } from '../../domain/quotas/quota-settings.ts'
import { type Sql, sql } from '../connection/sql.ts'

type Fields = Pick<QuotaIdentity, 'period' | 'anchor' | 'per' | 'counts'>

/**
 * The column `period` of a quota with an anchor, or of one that counts each value by itself, or messages, says so: versions that do not know
 * the columns `anchor`, `per` and `counts` know no such period either, and open no window of it
 * (docs/decisions/interface.md#where-months-begin).
 */
export function storedPeriod({ period, anchor, per, counts }: Fields): string | null {
  if (per !== null) return `per_${period}`
  if (counts === 'messages') return `messages_${period ?? ONCE}`
  return period === null || anchor === null ? period : `anchored_${period}`
}

const ONCE = 'once'

/** The period of a column that holds it as it is stored, or as this has read it before. */
export const periodIn = (column: Sql) => sql`nullif(split_part(${column}, '_', -1), 'once')`

/** The slot of a plan as it is stored. */
export const storedSlot = <Slot extends Fields>(slot: Slot) => ({ ...slot, period: storedPeriod(slot) })

/** The slot of a plan, of which the period is read as `periodIn` does. */
export function slotIn<Slot extends { period?: string | null }>(stored: Slot): Slot {
  const period = stored.period?.split('_').at(-1) ?? null
  return { ...stored, period: period === ONCE ? null : period }
}
