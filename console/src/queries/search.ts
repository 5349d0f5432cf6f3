import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { request } from '../api/client.ts'
import { ApiProblem } from '../api/problem.ts'
import type { Api } from '../api/types.ts'
import { uint } from '../components/url-state.ts'

/** `unknownUser`: the user id that was searched for, if the service has nothing of that user. */
export type Found = Api['SearchResult'] & { unknownUser: number | null }

/** What ids, names and references begin with the text, over all users. Nothing is asked for an empty text. */
export function searchQuery(text: string) {
  return queryOptions({
    queryKey: ['search', text],
    queryFn: ({ signal }) => find(text, signal),
    enabled: text !== '',
    placeholderData: keepPreviousData,
  })
}

async function find(text: string, signal: AbortSignal): Promise<Found> {
  const found = await request<Api['SearchResult']>('/admin/search', { query: { q: text }, signal })
  const id = uint(text)
  if (id === null || found.users.some(({ user_id }) => user_id === id)) return { ...found, unknownUser: null }
  // The directory of users lacks those who only have reservations that were never committed.
  const user = await findUser(id, signal)
  if (user === null) return { ...found, unknownUser: id }
  const entry = { user_id: id, quotas: user.quotas.unexpired, last_activity_at: user.last_activity_at }
  return { ...found, users: [entry, ...found.users], unknownUser: null }
}

async function findUser(id: number, signal: AbortSignal): Promise<Api['User'] | null> {
  try {
    return await request<Api['User']>(`/admin/users/${id}`, { signal })
  } catch (error) {
    if (error instanceof ApiProblem && error.code === 'not_found') return null
    throw error
  }
}
