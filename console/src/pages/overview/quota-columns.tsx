import type { ReactNode } from 'react'
import type { Api } from '../../api/types.ts'
import type { Column } from '../../components/data-table.tsx'
import { QuotaName } from '../../components/links.tsx'
import { UsageBar } from '../../components/usage-bar.tsx'
import { UserLink } from './user-columns.tsx'

type Quota = Api['SmsQuota']

/** A quota and its user. */
export function quotaColumn(label: string, actions?: (quota: Quota) => ReactNode): Column<Quota> {
  return {
    label,
    kind: 'name',
    cell: quota => (
      <>
        <QuotaName quota={quota} actions={actions?.(quota)} />
        <UserLink id={quota.user_id} size="xs" fw={400} />
      </>
    ),
  }
}

export function usageColumn(label: string): Column<Quota> {
  return { label, kind: 'usage', cell: quota => <UsageBar {...quota} /> }
}
