import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { retryDelayOf } from '../api/problem.ts'
import type { Api } from '../api/types.ts'
import { CSV_HEAD, type Customer, type CustomerFilters, csvLineOf, customersRequest } from '../model/customers.ts'
import { request, requestLines } from '../session/client.ts'
import { type Save, saveCsv } from './csv-file.ts'

const PAGE_SIZE = 50

/** Calls for a page. With filters, the service looks at some thousand customers a call, and may find none of them. */
const MAX_CALLS = 10

/** Refetch interval: what customers can send changes with every message. */
const INTERVAL_MS = 20_000

/** A page of customers. @param cursor null for the first page */
export function customersQuery(filters: CustomerFilters, cursor: string | null) {
  return queryOptions({
    queryKey: ['customers', filters, cursor],
    queryFn: async ({ signal }) => {
      const read = (query: object) =>
        request<Api['CustomerPage']>('/admin/customers', { query: { page_size: PAGE_SIZE, ...query }, signal })
      let page = await read(cursor === null ? customersRequest(filters) : { cursor })
      for (let calls = 1; calls < MAX_CALLS && page.items.length === 0 && page.next_cursor !== null; calls++)
        page = await read({ cursor: page.next_cursor })
      return page
    },
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { error } }) => retryDelayOf(error) ?? INTERVAL_MS,
  })
}

/** Writes all customers that the filters select to a file. There is no search among them. @param onCount gets how many have been read */
export function exportCustomers(
  filters: CustomerFilters,
  signal: AbortSignal,
  onCount: (count: number) => void,
  save: Save,
): Promise<void> {
  return saveCsv('sms-quota-customers.csv', CSV_HEAD, linesOf(filters, signal), { onCount, save })
}

async function* linesOf(filters: CustomerFilters, signal: AbortSignal): AsyncGenerator<string, void> {
  const customers = requestLines<Customer>('/admin/export/customers', { query: customersRequest(filters), signal })
  for await (const customer of customers) yield csvLineOf(customer)
}
