import type { Api } from '../api/types.ts'
import classes from './status-badge.module.css'

type Status = Api['SmsQuota']['status']

/** What each status is called. */
export const STATUS_WORDS: Record<Status, string> = {
  active: 'Active',
  exhausted: 'Exhausted',
  scheduled: 'Scheduled',
  suspended: 'Suspended',
  expired: 'Expired',
  deleted: 'Deleted',
}

export function StatusBadge({ status }: { status: Status }) {
  return (
    <span className={classes.badge} data-status={status}>
      {STATUS_WORDS[status]}
    </span>
  )
}
