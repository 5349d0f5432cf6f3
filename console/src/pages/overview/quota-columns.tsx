import type { ReactNode } from 'react'
import type { Api } from '../../api/types.ts'
import type { Column } from '../../components/data-table.tsx'
import { QuotaName } from '../../components/links.tsx'
import { UsageBar } from '../../components/usage-bar.tsx'
import { UserLink } from '../../components/user-link.tsx'
import { texts } from '../../texts/texts.ts'

type Quota = Api['SmsQuota']

/** A quota and its user. */
export function quotaColumn(label: string, actions?: (quota: Quota) => ReactNode): Column<Quota> {
  return {
    label,
    kind: 'name',
    cell: quota => (
      <>
        <QuotaName quota={quota} actions={actions?.(quota)} />
        <UserLink user={quota} unnamed={texts.overview.user(quota.user_id)} size="xs" />
      </>
    ),
  }
}

export function usageColumn(label: string): Column<Quota> {
  return { label, kind: 'usage', cell: quota => <UsageBar {...quota} /> }
}
