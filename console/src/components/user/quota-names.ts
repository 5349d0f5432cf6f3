import { useQuery } from '@tanstack/react-query'
import { MAX_PAGE_SIZE } from '../../../../src/domain/bounds.ts'
import { quotaName } from '../quota-labels.ts'
import { type ViewedUser, viewedUserQuery } from './viewed-user.ts'

const EMPTY: ReadonlyMap<number, string> = new Map()

/** Names of a user's newest quotas by id, at most one page. Empty until loaded. */
export function useQuotaNames(user: ViewedUser, enabled = true): ReadonlyMap<number, string> {
  const list = useQuery({ ...viewedUserQuery(user, 'list', { page_size: MAX_PAGE_SIZE }), enabled })
  return list.data === undefined ? EMPTY : new Map(list.data.items.map(quota => [quota.id, quotaName(quota)]))
}
