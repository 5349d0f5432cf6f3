import { createUnfinished } from '../../components/unfinished.ts'
import type { ConfirmedRollOut } from '../../model/roll-out.ts'

export const unfinishedRollOut = createUnfinished<ConfirmedRollOut>('sms-quota.unfinished-roll-out')
