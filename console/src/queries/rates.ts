import { queryOptions } from '@tanstack/react-query'
import { MAX_PAGE_SIZE } from '../../../src/domain/basics/bounds.ts'
import { queryClient } from '../api/query-client.ts'
import type { PriceRow } from '../model/price-file.ts'
import { isDecidedByPrefix } from '../model/rates.ts'
import { call } from '../session/client.ts'
import { readAll } from './calls.ts'

/** All rate cards that are not archived, by name: a hundred at most. */
export function rateCardsQuery() {
  return queryOptions({
    queryKey: ['GET /admin/rate-cards', 'all'],
    queryFn: async ({ signal }) => {
      const { items } = await call('GET /admin/rate-cards', { query: { page_size: MAX_PAGE_SIZE }, signal })
      return items.toSorted((one, other) => one.name.localeCompare(other.name))
    },
  })
}

/** The service takes no longer prefix. */
const MAX_DIGITS = 10

/** A list of prices of a card. It never changes. */
interface List {
  id: number
  version: number
}

/** Lines of a list among which those are that decide for a destination. Without a line by prefix, all: a hundred calls at most. */
export function decidingLinesQuery(list: List, digits: string | null) {
  return queryOptions({
    queryKey: ['GET /admin/rate-cards/{id}/lines', 'deciding', list, digits],
    queryFn: async ({ signal }) => {
      if (digits !== null) {
        const { id, version } = list
        const query = { version, prefix: digits.slice(0, MAX_DIGITS), page_size: MAX_PAGE_SIZE }
        const near = await call('GET /admin/rate-cards/{id}/lines', { id, query, signal })
        if (near.next_cursor === null && isDecidedByPrefix(near.items, digits)) return near.items
      }
      return queryClient.fetchQuery(allLinesQuery(list))
    },
  })
}

function allLinesQuery({ id, version }: List) {
  return queryOptions({
    queryKey: ['GET /admin/rate-cards/{id}/lines', 'all', id, version],
    queryFn: ({ signal }) =>
      readAll(cursor => {
        const query = { page_size: MAX_PAGE_SIZE, ...(cursor === null ? { version } : { cursor }) }
        return call('GET /admin/rate-cards/{id}/lines', { id, query, signal })
      }),
    staleTime: Number.POSITIVE_INFINITY,
  })
}

/** What a list of prices would change. @param valid_from null: at once */
export function previewPrices(id: number, lines: readonly PriceRow[], valid_from: string | null) {
  return call('PUT /admin/rate-cards/{id}/lines', { id, body: { lines }, query: { valid_from, dry_run: 'true' } })
}
