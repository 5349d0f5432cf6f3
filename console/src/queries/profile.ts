import { queryOptions, useMutation, useQueries, useQueryClient } from '@tanstack/react-query'
import { emptyProfile } from '../../../src/domain/user-profile.ts'
import { ApiProblem } from '../api/problem.ts'
import type { Api } from '../api/types.ts'
import type { NamedUser } from '../model/addresses.ts'
import { receiverOf } from '../model/transfers.ts'
import { request } from '../session/client.ts'

/** What another system and people call a user. */

type Profile = Api['UserProfile']

const pathOf = (user_id: number) => `/admin/users/${user_id}/profile`

/** The id of the user with a reference. */
export async function userIdOf(ref: string): Promise<number> {
  return (await request<Api['User']>(`/admin/users/${encodeURIComponent(`ref:${ref}`)}`)).user_id
}

/** The same; null if no user has the reference. */
export async function findUserId(ref: string): Promise<number | null> {
  try {
    return await userIdOf(ref)
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return null
    throw error
  }
}

/** The users that a text names: by ref: the one with this reference, otherwise the first ones whose name or reference begins so. */
export async function findUsers(text: string): Promise<readonly NamedUser[]> {
  const named = receiverOf(text)
  if (named === null || 'user_id' in named)
    return (await request<Api['SearchResult']>('/admin/search', { query: { q: text } })).users
  const user_id = await findUserId(named.ref)
  return user_id === null ? [] : [{ user_id }]
}

/** The profile of a user; an empty one if nothing is stored of the user, as the first change makes it. */
export function profileQuery(user_id: number) {
  return queryOptions({
    queryKey: ['users', 'profile', user_id],
    queryFn: async ({ signal }): Promise<Profile> => {
      try {
        return await request<Profile>(pathOf(user_id), { signal })
      } catch (error) {
        if (error instanceof ApiProblem && error.code === 'not_found') return emptyProfile(user_id)
        throw error
      }
    },
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

interface Update {
  body: object
  /** The version that the change is based on. */
  version: number
}

/** Changes fields of a profile, unless it was changed since `version`. */
export function useUpdateProfile(user_id: number, onSaved: () => void) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: ({ body, version }: Update) =>
      request<Profile>(pathOf(user_id), { method: 'PUT', body, ifMatch: version }),
    onSuccess: saved => {
      queryClient.setQueryData(profileQuery(user_id).queryKey, saved)
      onSaved()
    },
    // Each list shows names. Also after an error: what is saved may have another version.
    onSettled: () => queryClient.invalidateQueries(),
  })
}
