import { MAX_PAGE_SIZE } from '../../../../src/domain/bounds.ts'
import { request } from '../../api/client.ts'
import type { Api } from '../../api/types.ts'

type Quota = Api['SmsQuota']

/** A change, and whose. */
export interface ChangeOfQuota {
  change: Api['QuotaChange']
  quota: Quota
}

/**
 * The latest changes of all quotas of a user, the deleted ones included, newest first. The service keeps them by quota.
 * As many quotas as there are changes wanted are enough to ask: an older change of any other quota would be behind the
 * last change of each of these.
 */
export async function latestChanges(userId: number, count: number, signal: AbortSignal): Promise<ChangeOfQuota[]> {
  const pages = await Promise.all(
    [undefined, 'deleted'].map(status =>
      request<Api['QuotaPage']>('/admin/quota/list', {
        query: { user_id: userId, status, page_size: MAX_PAGE_SIZE },
        signal,
      }),
    ),
  )
  const quotas = pages.flatMap(({ items }) => items).sort(byTime(quota => quota.updated_at))
  const changes = await Promise.all(quotas.slice(0, count).map(quota => changesOf(quota, count, signal)))
  return changes
    .flat()
    .sort(byTime(({ change }) => change.at))
    .slice(0, count)
}

async function changesOf(quota: Quota, count: number, signal: AbortSignal): Promise<ChangeOfQuota[]> {
  const { items } = await request<Api['QuotaHistory']>(`/admin/quota/${quota.id}/history`, {
    query: { page_size: count },
    signal,
  })
  return items.map(change => ({ change, quota }))
}

/** The latest first; times of the API sort as text. */
function byTime<T>(timeOf: (item: T) => string): (one: T, other: T) => number {
  return (one, other) => (timeOf(one) < timeOf(other) ? 1 : -1)
}
