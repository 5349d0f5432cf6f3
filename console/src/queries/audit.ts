import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Api } from '../api/types.ts'
import { type Change, type ChangeFilters, CSV_HEAD, csvLineOf } from '../model/audit.ts'
import { request, requestLines } from '../session/client.ts'
import { type Save, saveCsv } from './csv-file.ts'
import { findName } from './names.ts'

const PAGE_SIZE = 50

/** Calls for a page. With filters, the service looks at 5,000 changes a call, and may find none of them. */
const MAX_CALLS = 10

/** A page of administrators' changes, newest first. @param cursor null for the first page */
export function changesQuery(filters: Partial<ChangeFilters> & { user_id?: number }, cursor: string | null) {
  return queryOptions({
    queryKey: ['audit', filters, cursor],
    queryFn: async ({ signal }) => {
      const read = (part: typeof filters | { cursor: string }) =>
        request<Api['AuditPage']>('/admin/audit', { query: { page_size: PAGE_SIZE, ...part }, signal })
      let page = await read(cursor === null ? filters : { cursor })
      for (let calls = 1; calls < MAX_CALLS && page.items.length === 0 && page.next_cursor !== null; calls++)
        page = await read({ cursor: page.next_cursor })
      return page
    },
    placeholderData: keepPreviousData,
  })
}

/** Writes all changes that the filters select to a file. @param onCount gets how many have been read */
export function exportChanges(
  filters: ChangeFilters,
  signal: AbortSignal,
  onCount: (count: number) => void,
  save: Save,
): Promise<void> {
  return saveCsv('sms-quota-changes.csv', CSV_HEAD, linesOf(filters, signal), { onCount, save })
}

async function* linesOf(filters: ChangeFilters, signal: AbortSignal): AsyncGenerator<string, void> {
  const changes = requestLines<Change>('/admin/export/audit', { query: { ...filters }, signal })
  for await (const change of changes) yield csvLineOf(change, await findName(change.actor))
}
