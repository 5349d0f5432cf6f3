import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { MAX_PAGE_SIZE } from '../../../src/domain/bounds.ts'
import type { Api } from '../api/types.ts'
import { type BreakerValues, budgetsOf } from '../model/breaker-form.ts'
import { addReplayed, NOTHING_REPLAYED, type Replayed } from '../model/breaker-replay.ts'
import { request } from '../session/client.ts'
import type { Job } from './jobs.ts'

/** The breaker against pumped codes. */

type Breaker = Api['Breaker']

const PATH = '/admin/breaker'

/** Its settings, and what it saw lately. */
export function breakerQuery() {
  return queryOptions({
    queryKey: ['breaker'],
    queryFn: ({ signal }) => request<Breaker>(PATH, { signal }),
  })
}

interface Update {
  body: object
  /** The version that the change is based on. */
  version: number
}

/** Changes settings, unless they were changed since `version`. */
export function useUpdateBreaker(onSaved: () => void) {
  const queryClient = useQueryClient()
  const { queryKey } = breakerQuery()
  return useMutation({
    mutationFn: ({ body, version }: Update) => request<Breaker>(PATH, { method: 'PUT', body, ifMatch: version }),
    onSuccess: saved => {
      queryClient.setQueryData(queryKey, saved)
      onSaved()
    },
    // Also after an error: what is saved may have another version.
    onSettled: () => queryClient.invalidateQueries({ queryKey }),
  })
}

/** What is replayed: settings that need not be saved. */
export interface AskedReplay {
  values: BreakerValues
  days: number
  message_type: string | undefined
}

/** Replays the past page by page. What the settings let pass is left out here. */
export function replayJob({ values, days, message_type }: AskedReplay): Job<Replayed> {
  let replayed = NOTHING_REPLAYED
  let next: object = { ...budgetsOf(values), days, message_type }
  return async ({ report, signal }) => {
    for (let isLast = false; !isLast; ) {
      const query = { ...next, page_size: MAX_PAGE_SIZE }
      const page = await request<Api['ReplayPage']>(`${PATH}/replay`, { query, signal })
      replayed = addReplayed(replayed, page, values)
      next = { cursor: page.next_cursor }
      isLast = page.next_cursor === null
      report(replayed)
    }
  }
}
