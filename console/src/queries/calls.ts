import { keepPreviousData, queryOptions, useMutation } from '@tanstack/react-query'
import { newIdempotencyKey } from '../api/http.ts'
import type { Answer, Call, Change, Input, Read } from '../api/operations.ts'
import { ApiProblem, isNotFound, isOutdated, retryDelayOf, Unreachable } from '../api/problem.ts'
import { queryClient } from '../api/query-client.ts'
import { call } from '../session/client.ts'
import { isStale } from './stale.ts'

/** Query options for one call. Its key begins with the operation, as does that of a query of several calls. */
export function queryOf<O extends Read>(operation: O, input: Input<O>) {
  return queryOptions({
    queryKey: [operation, input],
    queryFn: ({ signal }) => call(operation, { ...input, signal }),
  })
}

/** The same for a page of a list: the rows before stay until the next ones are loaded. */
export function pageOf<O extends Read>(operation: O, input: Input<O>) {
  return { ...queryOf(operation, input), placeholderData: keepPreviousData }
}

/** What is saved now: not what a query has read, or is reading since before the change. */
export function readNow<O extends Read>(operation: O, input: Input<O>): Promise<Answer<O>> {
  return call(operation, input)
}

/** The interval of a query that is read again from time to time. Nothing is read while the tab is hidden. */
export function every(intervalMs: number) {
  return ({ state: { error } }: { state: { error: Error | null } }) => retryDelayOf(error) ?? intervalMs
}

/** All items of a list, or as many as a number of pages have. @param read gets the cursor of a page; null for the first */
export async function readAll<Item>(
  read: (cursor: string | null) => Promise<{ items: Item[]; next_cursor: string | null }>,
  maxPages = Number.POSITIVE_INFINITY,
): Promise<Item[]> {
  const all: Item[] = []
  let cursor: string | null = null
  for (let pages = 0; pages < maxPages; pages++) {
    const page = await read(cursor)
    all.push(...page.items)
    cursor = page.next_cursor
    if (cursor === null) break
  }
  return all
}

/** Calls for a page. With filters, the service looks at some thousand rows a call, and may find none of them. */
const MAX_CALLS = 10

/** A page of a list with filters, which has rows unless the first calls find none. @param cursor null for the first page */
export async function readFound<Page extends { items: readonly unknown[]; next_cursor: string | null }>(
  cursor: string | null,
  read: (cursor: string | null) => Promise<Page>,
): Promise<Page> {
  let page = await read(cursor)
  for (let calls = 1; calls < MAX_CALLS && page.items.length === 0 && page.next_cursor !== null; calls++)
    page = await read(page.next_cursor)
  return page
}

/** An answer; null if there is nothing of the name or id. */
export function orNull<T>(answer: Promise<T>): Promise<T | null> {
  return answer.catch(error => {
    if (isNotFound(error)) return null
    throw error
  })
}

/** Calls of a form that were not refused, by what each does. */
export type SentCalls<Body> = Map<string, { body: Body; idempotencyKey: string }>

/** Calls once. A call without an answer may have taken effect, so it is repeated as it was; a refused one is forgotten. */
export async function callOnce<Body, T>(
  sent: SentCalls<Body>,
  name: string,
  body: Body,
  send: (input: { body: Body; idempotencyKey: string }) => Promise<T>,
): Promise<T> {
  const input = sent.get(name) ?? { body, idempotencyKey: newIdempotencyKey() }
  sent.set(name, input)
  try {
    return await send(input)
  } catch (error) {
    if (error instanceof ApiProblem && error.status < 500) sent.delete(name)
    throw error
  }
}

/** Reads again what a change makes stale, on any page. */
export function refetchAfter(change: Change): Promise<unknown> {
  return queryClient.invalidateQueries({ predicate: ({ queryKey }) => isStale(change, queryKey) })
}

/**
 * A change of one call. What it makes stale is read again also after an error, as it may have taken effect.
 *
 * @param onOutdated comes before the error, if the change is based on an older version
 */
export function useChange<O extends Change & Call>(
  operation: O,
  onSuccess?: (answer: Answer<O>) => void,
  onOutdated?: () => Promise<void>,
) {
  return useMutation({
    mutationFn: (input: Input<O>) =>
      call(operation, input).catch(async error => {
        if (isOutdated(error)) await onOutdated?.()
        throw error
      }),
    onSuccess: (answer, input) => {
      showAnswer(operation, input, answer)
      onSuccess?.(answer)
    },
    onSettled: async (_, error) => {
      const read = refetchAfter(operation)
      // A service that does not respond answers that no sooner, and the error is to be seen.
      if (!(error instanceof Unreachable)) await read
    },
  })
}

/** Whose answer is another than that of a GET of the same path. */
const ANSWERS_OTHERWISE: ReadonlySet<Change> = new Set([
  'PUT /admin/plans/{id}',
  'PUT /admin/rate-cards/{id}',
  'PUT /admin/rate-cards/{id}/lines',
])

/** Pages show the answer of a PUT at once: it is that of a GET of the same path. */
function showAnswer(operation: Change, input: object, answer: unknown): void {
  if (!operation.startsWith('PUT') || ANSWERS_OTHERWISE.has(operation)) return
  const params = Object.entries(input).filter(([name]) => operation.includes(`{${name}}`))
  queryClient.setQueryData([operation.replace('PUT', 'GET'), Object.fromEntries(params)], answer)
}
