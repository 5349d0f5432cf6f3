import { queryOptions, useQueries } from '@tanstack/react-query'
import { queryClient } from '../api/query-client.ts'
import type { Api } from '../api/types.ts'
import { call } from '../session/client.ts'
import { readsAllUsers } from '../session/rights.ts'
import { useCaller } from '../session/session.ts'

/** The names of actors and senders. Each is a query of its own; what a page asks for at once is one call. */

type PrincipalName = Api['PrincipalName']

/** Names hardly change. */
const STALE_MS = 300_000
/** Subjects of a call. More may not fit into its address. */
const MAX_SUBJECTS = 50

/** The known names of these subjects, by subject. Callers who do not see all users have only their own. */
export function useNames(subjects: readonly string[]): ReadonlyMap<string, string> {
  const caller = useCaller()
  const others = readsAllUsers(caller) ? [...new Set(subjects)].filter(subject => subject !== caller.subject) : []
  const found = useQueries({ queries: others.map(nameQuery), combine: results => results.map(({ data }) => data) })
  const own = caller.name === null ? [] : [{ subject: caller.subject, name: caller.name }]
  return new Map([...own, ...found.flatMap(entry => entry ?? [])].map(({ subject, name }) => [subject, name]))
}

function nameQuery(subject: string) {
  return queryOptions({
    queryKey: ['GET /admin/names', subject],
    queryFn: async () => (await askWithOthers(subject)).find(entry => entry.subject === subject) ?? null,
    staleTime: STALE_MS,
  })
}

/** The name of an actor; null if it is not known. */
export async function findName(subject: string): Promise<string | null> {
  return (await queryClient.fetchQuery(nameQuery(subject)))?.name ?? null
}

/** The call to which subjects are added until it is sent; null: the next subject begins one. */
let next: { subjects: string[]; answer: Promise<readonly PrincipalName[]> } | null = null

function askWithOthers(subject: string): Promise<readonly PrincipalName[]> {
  if (next === null || next.subjects.length === MAX_SUBJECTS) next = beginCall()
  next.subjects.push(subject)
  return next.answer
}

/** A call that is sent when all components of the page have asked. */
function beginCall() {
  const subjects: string[] = []
  const answer = new Promise<void>(resolve => setTimeout(resolve)).then(async () => {
    if (next?.subjects === subjects) next = null
    return (await call('GET /admin/names', { query: { subject: subjects } })).items
  })
  return { subjects, answer }
}
