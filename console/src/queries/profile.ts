import { queryOptions, useQueries } from '@tanstack/react-query'
import { emptyProfile } from '../../../src/domain/users/user-profile.ts'
import type { Api } from '../api/types.ts'
import type { NamedUser } from '../model/addresses.ts'
import { receiverOf } from '../model/transfers.ts'
import { call } from '../session/client.ts'
import { orNull } from './calls.ts'

/** What another system and people call a user. */

/** The id of the user with a reference. */
export async function userIdOf(ref: string): Promise<number> {
  return (await call('GET /admin/users/{user_id}', { user_id: `ref:${ref}` })).user_id
}

/** The same; null if no user has the reference. */
export const findUserId = (ref: string) => orNull(userIdOf(ref))

/** The users that a text names: by ref: the one with this reference, otherwise the first ones whose name or reference begins so. */
export async function findUsers(text: string): Promise<readonly NamedUser[]> {
  const named = receiverOf(text)
  if (named === null || 'user_id' in named) return (await call('GET /admin/search', { query: { q: text } })).users
  const user_id = await findUserId(named.ref)
  return user_id === null ? [] : [{ user_id }]
}

/** The profile of a user; an empty one if nothing is stored of the user, as the first change makes it. */
export function profileQuery(user_id: number) {
  return queryOptions({
    queryKey: ['GET /admin/users/{user_id}/profile', { user_id }],
    queryFn: async ({ signal }): Promise<Api['UserProfile']> =>
      (await orNull(call('GET /admin/users/{user_id}/profile', { user_id, signal }))) ?? emptyProfile(user_id),
  })
}

/** Users whose names are read, each by a call: of further ones, a list shows the ids. */
const MAX_NAMED = 50

/** Users, by their ids, with their names as far as they are read. */
export function useNamedUsers(ids: readonly number[]): NamedUser[] {
  const profiles = useQueries({ queries: ids.slice(0, MAX_NAMED).map(profileQuery) })
  return ids.map((user_id, index) => {
    const profile = profiles[index]?.data
    return { user_id, user_ref: profile?.ref, user_name: profile?.name }
  })
}
