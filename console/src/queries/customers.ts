import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { CSV_HEAD, type CustomerFilters, csvLineOf, customersRequest } from '../model/customers.ts'
import { call, callLines } from '../session/client.ts'
import { every, readFound } from './calls.ts'
import { csvExport } from './csv-file.ts'

const PAGE_SIZE = 50

/** Refetch interval: what customers can send changes with every message. */
const INTERVAL_MS = 20_000

/** A page of customers. @param cursor null for the first page */
export function customersQuery(filters: CustomerFilters, cursor: string | null) {
  return queryOptions({
    queryKey: ['GET /admin/customers', filters, cursor],
    queryFn: ({ signal }) =>
      readFound(cursor, at => {
        const query = { page_size: PAGE_SIZE, ...(at === null ? customersRequest(filters) : { cursor: at }) }
        return call('GET /admin/customers', { query, signal })
      }),
    placeholderData: keepPreviousData,
    refetchInterval: every(INTERVAL_MS),
  })
}

/** There is no search among them. */
export const exportCustomers = csvExport('sms-quota-customers.csv', CSV_HEAD, linesOf)

async function* linesOf(filters: CustomerFilters, signal: AbortSignal): AsyncGenerator<string, void> {
  const customers = callLines('GET /admin/export/customers', { query: customersRequest(filters), signal })
  for await (const customer of customers) yield csvLineOf(customer)
}
