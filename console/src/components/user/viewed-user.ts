import { request } from '../../api/client.ts'
import type { RequestOptions } from '../../api/http.ts'
import type { Api } from '../../api/types.ts'

/** The user whose data a page shows: any user to an administrator, or the signed-in user. */
export interface ViewedUser {
  user_id: number
  /** Reads the user's own endpoints instead of the administrators'. */
  isOwn: boolean
}

/** The resources of a user, by the last segment of their path. */
interface Resources {
  list: Api['QuotaPage']
  summary: Api['QuotaSummary']
  usage: Api['Usage']
  reservations: Api['ReservationPage']
}

/** The first element of the query keys, by which changes of quotas invalidate them. */
const KEYS: Record<keyof Resources, string> = {
  list: 'quotas',
  summary: 'summary',
  usage: 'usage',
  reservations: 'reservations',
}

/** Query options for a resource of a user. */
export function viewedUserQuery<R extends keyof Resources>(
  user: ViewedUser,
  resource: R,
  query: NonNullable<RequestOptions['query']> = {},
) {
  const { user_id, isOwn } = user
  return {
    queryKey: [KEYS[resource], user, query],
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      isOwn
        ? request<Resources[R]>(`/quota/${resource}`, { query, signal })
        : request<Resources[R]>(`/admin/quota/${resource}`, { query: { user_id, ...query }, signal }),
  }
}
