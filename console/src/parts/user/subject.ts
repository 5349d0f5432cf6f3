import { request } from '../../api/client.ts'
import type { Call } from '../../api/http.ts'
import type { Api } from '../../api/types.ts'

/** Whose records are shown: any user's to an administrator, by the administrators' paths; their own to everybody. */
export interface Subject {
  user_id: number
  isOwn: boolean
}

/** What can be read of one user, by its name below both paths. */
interface Readable {
  list: Api['QuotaPage']
  summary: Api['QuotaSummary']
  usage: Api['Usage']
  reservations: Api['ReservationPage']
}

/** How it is called in the keys of queries: what changes quotas tells all that shows them by these. */
const KEYS: Record<keyof Readable, string> = {
  list: 'quotas',
  summary: 'summary',
  usage: 'usage',
  reservations: 'reservations',
}

/** A query for something of a user. */
export function readOf<R extends keyof Readable>(
  subject: Subject,
  resource: R,
  query: NonNullable<Call['query']> = {},
) {
  const { user_id, isOwn } = subject
  return {
    queryKey: [KEYS[resource], subject, query],
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      isOwn
        ? request<Readable[R]>(`/quota/${resource}`, { query, signal })
        : request<Readable[R]>(`/admin/quota/${resource}`, { query: { user_id, ...query }, signal }),
  }
}
