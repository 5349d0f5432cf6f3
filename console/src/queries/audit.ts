import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { AuditQuery } from '../../../src/contract/audit.ts'
import { type ChangeFilters, CSV_HEAD, csvLineOf } from '../model/audit.ts'
import { call, callLines } from '../session/client.ts'
import { readFound } from './calls.ts'
import { csvExport } from './csv-file.ts'
import { findName } from './names.ts'

const PAGE_SIZE = 50

/** What the changes are of. */
type Of = Pick<AuditQuery, 'user_id' | 'thing_id'>

/** A page of administrators' changes, newest first. @param cursor null for the first page */
export function changesQuery(filters: Partial<ChangeFilters> & Of, cursor: string | null) {
  return queryOptions({
    queryKey: ['GET /admin/audit', filters, cursor],
    queryFn: ({ signal }) =>
      readFound(cursor, at => {
        const query = { page_size: PAGE_SIZE, ...(at === null ? filters : { cursor: at }) }
        return call('GET /admin/audit', { query, signal })
      }),
    placeholderData: keepPreviousData,
  })
}

export const exportChanges = csvExport('sms-quota-changes.csv', CSV_HEAD, linesOf)

async function* linesOf(filters: ChangeFilters, signal: AbortSignal): AsyncGenerator<string, void> {
  const changes = callLines('GET /admin/export/audit', { query: filters, signal })
  for await (const change of changes) yield csvLineOf(change, await findName(change.actor))
}
