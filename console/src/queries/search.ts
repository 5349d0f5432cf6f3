import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { RESERVATION_ID_PATTERN } from '../../../src/domain/basics/bounds.ts'
import type { Api } from '../api/types.ts'
import { uint } from '../model/url-parameters.ts'
import { call } from '../session/client.ts'
import { orNull } from './calls.ts'

export type Found = Api['SearchResult'] & {
  /** Denied messages with exactly the id that was searched for, one of each user, which were not granted later. */
  denials: Api['DenialRecord'][]
  /** The user id that was searched for, if the service has nothing of that user. */
  unknownUser: number | null
}

/** What ids, names and references begin with the text, over all users. Nothing is asked for an empty text. */
export function searchQuery(text: string) {
  return queryOptions({
    queryKey: ['GET /admin/search', text],
    queryFn: ({ signal }) => find(text, signal),
    enabled: text !== '',
    placeholderData: keepPreviousData,
  })
}

async function find(text: string, signal: AbortSignal): Promise<Found> {
  const [result, denied] = await Promise.all([
    call('GET /admin/search', { query: { q: text }, signal }),
    findDenials(text, signal),
  ])
  const granted = new Set(result.reservations.filter(({ id }) => id === text).map(({ user_id }) => user_id))
  const found = { ...result, denials: denied.filter(({ user_id }) => !granted.has(user_id)) }
  const id = uint(text)
  if (id === null || found.users.some(({ user_id }) => user_id === id)) return { ...found, unknownUser: null }
  // The directory of users lacks those who only have reservations that were never committed.
  const user = await orNull(call('GET /admin/users/{user_id}', { user_id: id, signal }))
  if (user === null) return { ...found, unknownUser: id }
  const entry = { ...user, quotas: user.quotas.unexpired }
  return { ...found, users: [entry, ...found.users], unknownUser: null }
}

const MAX_DENIALS = 20

/** The latest denial of each user whose message has the id. */
async function findDenials(id: string, signal: AbortSignal): Promise<Api['DenialRecord'][]> {
  if (!new RegExp(RESERVATION_ID_PATTERN).test(id)) return []
  const query = { id, page_size: MAX_DENIALS }
  const { items } = await call('GET /admin/denials', { query, signal })
  return [...new Map(items.toReversed().map(denial => [denial.user_id, denial])).values()]
}
