import { keepPreviousData, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { MAX_PAGE_SIZE } from '../../../src/domain/bounds.ts'
import { newIdempotencyKey } from '../api/http.ts'
import { ApiProblem } from '../api/problem.ts'
import type { Api } from '../api/types.ts'
import { type PauseValues, pausedUsersOf, type pauseTerms } from '../model/pauses.ts'
import { receiverOf } from '../model/transfers.ts'
import { request } from '../session/client.ts'
import { userIdOf } from './profile.ts'

/** Paused destinations. */

type Page = Api['PausePage']

export interface PauseFilter {
  active?: 'true' | 'false' | null
  country?: string | null
  user_id?: number | null
  origin?: string | null
}

/** A page of pauses, newest first. @param cursor null for the first page */
export function pausesQuery(filter: PauseFilter, cursor: string | null) {
  return queryOptions({
    queryKey: ['pauses', filter, cursor],
    queryFn: ({ signal }) =>
      request<Page>('/admin/pauses', { query: cursor === null ? { ...filter } : { cursor }, signal }),
    placeholderData: keepPreviousData,
  })
}

/** The pauses that deny messages now: to a country or to all, of a user or of all who have one. As many as a few pages hold. */
export function activePausesQuery(country: string | null, user_id: number | null = null) {
  return queryOptions({
    queryKey: ['pauses', 'active', country, user_id],
    queryFn: async ({ signal }) => {
      const pauses: Page['items'] = []
      let query: object = { active: 'true', country, user_id, page_size: MAX_PAGE_SIZE }
      for (let page = 0; page < MAX_PAGES; page++) {
        const { items, next_cursor } = await request<Page>('/admin/pauses', { query: { ...query }, signal })
        pauses.push(...items)
        if (next_cursor === null) break
        query = { cursor: next_cursor, page_size: MAX_PAGE_SIZE }
      }
      return pauses
    },
  })
}

const MAX_PAGES = 5

/** The users whose messages to a country are all paused. */
export const pausedUsersQuery = (country: string) =>
  queryOptions({ ...activePausesQuery(country), select: pausedUsersOf })

/** What an effect of pauses is seen in. */
function useRefetch() {
  const queryClient = useQueryClient()
  const keys = ['pauses', 'summary', 'overview', 'denials', 'users']
  return () => Promise.all(keys.map(key => queryClient.invalidateQueries({ queryKey: [key] })))
}

interface Pauses {
  /** Null: all users. Some are found first. */
  users: () => Promise<readonly (number | null)[]>
  countries: readonly string[]
  terms: ReturnType<typeof pauseTerms>
}

/** Makes a pause for each user and country, one after the other. A repetition makes those that are missing, for another reason, too. */
export function useMakePauses(onDone: () => void) {
  const refetch = useRefetch()
  const [calls] = useState<Calls>(() => new Map())
  return useMutation({
    mutationFn: async ({ users, countries, terms }: Pauses) => {
      for (const user_id of await users()) {
        for (const country of countries) await makeOnce(calls, { user_id, country, ...terms })
      }
    },
    onSuccess: onDone,
    // Also after an error: some may have been made.
    onSettled: refetch,
  })
}

type Draft = Pauses['terms'] & { user_id: number | null; country: string }

/** The calls of a form that were not refused, by what each pauses: the reason makes no other pause. */
type Calls = Map<string, { draft: Draft; key: string; isMade: boolean }>

/** Makes a pause once. A call without an answer may have taken effect, so it is repeated as it was. */
async function makeOnce(calls: Calls, draft: Draft): Promise<void> {
  const { reason: _, ...what } = draft
  const name = JSON.stringify(what)
  const call = calls.get(name) ?? { draft, key: newIdempotencyKey(), isMade: false }
  if (call.isMade) return
  calls.set(name, call)
  try {
    await request('/admin/pauses', { method: 'POST', body: call.draft, idempotencyKey: call.key })
    calls.set(name, { ...call, isMade: true })
  } catch (error) {
    if (error instanceof ApiProblem && error.status < 500) calls.delete(name)
    throw error
  }
}

/** The users that the form names. */
export async function usersOf({ who, user }: Pick<PauseValues, 'who' | 'user'>): Promise<(number | null)[]> {
  if (who === 'all') return [null]
  const named = receiverOf(user)
  if (named === null) return []
  return ['user_id' in named ? named.user_id : await userIdOf(named.ref)]
}

export function useLiftPause(onDone: () => void) {
  const refetch = useRefetch()
  return useMutation({
    mutationFn: (id: number) => request<undefined>(`/admin/pauses/${id}`, { method: 'DELETE' }),
    onSuccess: onDone,
    onSettled: refetch,
  })
}
