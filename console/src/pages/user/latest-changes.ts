import { MAX_PAGE_SIZE } from '../../../../src/domain/bounds.ts'
import { request } from '../../api/client.ts'
import type { Api } from '../../api/types.ts'

type Quota = Api['SmsQuota']

/** A change and the quota it belongs to. */
export interface ChangeOfQuota {
  change: Api['QuotaChange']
  quota: Quota
}

/**
 * The latest `count` changes of all quotas of a user, newest first, including deleted quotas. The API has a history per
 * quota, so this reads the histories of the `count` quotas updated last: no other quota can have a newer change.
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
  const changes = await Promise.all(quotas.slice(0, count).map(quota => changedSettings(quota, count, signal)))
  return changes
    .flat()
    .sort(byTime(({ change }) => change.at))
    .slice(0, count)
}

async function changedSettings(quota: Quota, count: number, signal: AbortSignal): Promise<ChangeOfQuota[]> {
  const { items } = await request<Api['QuotaHistory']>(`/admin/quota/${quota.id}/history`, {
    query: { page_size: count },
    signal,
  })
  return items.map(change => ({ change, quota }))
}

/** Newest first; API timestamps sort as text. */
function byTime<T>(timeOf: (item: T) => string): (one: T, other: T) => number {
  return (one, other) => (timeOf(one) < timeOf(other) ? 1 : -1)
}
