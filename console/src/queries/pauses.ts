import { queryOptions, useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { MAX_PAGE_SIZE } from '../../../src/domain/basics/bounds.ts'
import { type PauseValues, pausedUsersOf, type pauseTerms } from '../model/pauses.ts'
import { receiverOf } from '../model/transfers.ts'
import { call } from '../session/client.ts'
import { callOnce, readAll, refetchAfter, type SentCalls } from './calls.ts'
import { userIdOf } from './profile.ts'

/** Paused destinations. */

/** The pauses that deny messages now: to a country or to all, of a user or of all who have one. As many as a few pages hold. */
export function activePausesQuery(country: string | null, user_id: number | null = null) {
  const filter = { active: 'true', country, user_id } as const
  return queryOptions({
    queryKey: ['GET /admin/pauses', filter],
    queryFn: ({ signal }) =>
      readAll(cursor => {
        const query = { ...(cursor === null ? filter : { cursor }), page_size: MAX_PAGE_SIZE }
        return call('GET /admin/pauses', { query, signal })
      }, MAX_PAGES),
  })
}

const MAX_PAGES = 5

/** The users whose messages to a country are all paused. */
export const pausedUsersQuery = (country: string) =>
  queryOptions({ ...activePausesQuery(country), select: pausedUsersOf })

interface Pauses {
  /** Null: all users. Some are found first. */
  users: () => Promise<readonly (number | null)[]>
  countries: readonly string[]
  terms: ReturnType<typeof pauseTerms>
}

/** Makes a pause for each user and country, one after the other. A repetition makes those that are missing, for another reason, too. */
export function useMakePauses(onDone: () => void) {
  const [sent] = useState<SentCalls<Draft>>(() => new Map())
  const [made] = useState(() => new Set<string>())
  return useMutation({
    mutationFn: async ({ users, countries, terms }: Pauses) => {
      for (const user_id of await users()) {
        for (const country of countries) {
          // The reason makes no other pause.
          const { reason, ...what } = { user_id, country, ...terms }
          const name = JSON.stringify(what)
          if (!made.has(name))
            await callOnce(sent, name, { ...what, reason }, input => call('POST /admin/pauses', input))
          made.add(name)
        }
      }
    },
    onSuccess: onDone,
    // Also after an error: some may have been made.
    onSettled: () => refetchAfter('POST /admin/pauses'),
  })
}

type Draft = Pauses['terms'] & { user_id: number | null; country: string }

/** The users that the form names. */
export async function usersOf({ who, user }: Pick<PauseValues, 'who' | 'user'>): Promise<(number | null)[]> {
  if (who === 'all') return [null]
  const named = receiverOf(user)
  if (named === null) return []
  return ['user_id' in named ? named.user_id : await userIdOf(named.ref)]
}
