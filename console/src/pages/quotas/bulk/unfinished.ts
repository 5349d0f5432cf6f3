import { createUnfinished } from '../../../components/unfinished.ts'
import type { BulkAction } from '../../../model/bulk-change.ts'
import type { Confirmed } from './bulk-preview.tsx'

/** A change of many quotas that was confirmed. */
export interface Unfinished {
  action: BulkAction
  confirmed: Confirmed
}

export const unfinishedBulk = createUnfinished<Unfinished>('sms-quota.unfinished-change')
