import { queryOptions } from '@tanstack/react-query'
import { MAX_PAGE_SIZE } from '../../../src/domain/basics/bounds.ts'
import { call } from '../session/client.ts'
import { readAll } from './calls.ts'

/** All plans that can be given, by name: a thousand at most. */
export function givablePlansQuery() {
  return queryOptions({
    queryKey: ['GET /admin/plans', 'givable'],
    queryFn: async ({ signal }) => {
      const plans = await readAll(cursor =>
        call('GET /admin/plans', { query: { page_size: MAX_PAGE_SIZE, cursor }, signal }),
      )
      return plans.toSorted((one, other) => one.name.localeCompare(other.name))
    },
  })
}
