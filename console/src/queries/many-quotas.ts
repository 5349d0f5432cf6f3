import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { MAX_SAMPLES } from '../../../src/domain/basics/bounds.ts'
import { csvRecord } from '../../../src/domain/basics/csv.ts'
import { exportedValue } from '../../../src/domain/quotas/quota-file.ts'
import type { Api } from '../api/types.ts'
import type { BulkCall, Selection } from '../model/bulk-change.ts'
import { type Filters, filterOf } from '../model/quota-lists.ts'
import { callLines } from '../session/client.ts'
import { texts } from '../texts/texts.ts'
import { csvExport } from './csv-file.ts'
import { previewBulk, type Sample } from './jobs.ts'
import { LOOKED_AT } from './many.ts'

/** What changes of many quotas read first, and the export. Loaded when one is begun. */

type Quota = Api['SmsQuota']

/**
 * The dry run of a bulk change, and how many of the quotas that would change are caps.
 *
 * @param caps null if only the service can tell
 */
export const bulkPreviewQuery = (call: BulkCall, caps: number | null) =>
  queryOptions({
    queryKey: ['bulk-preview', call],
    queryFn: async ({ signal }) => {
      const preview = await previewBulk(call, signal)
      if (caps !== null) return { ...preview, caps }
      const ofCaps = { ...call, select: { ...call.select, kind: 'cap' } }
      return { ...preview, caps: (await previewBulk(ofCaps, signal)).changed }
    },
    ...LOOKED_AT,
  })

/** The most quotas that one change reads into the browser. */
const MAX_SELECTED = 10_000

/** The selected quotas themselves. */
export const selectedQuotasQuery = (selection: Selection) =>
  queryOptions({
    queryKey: ['selected-quotas', selection.by === 'ids' ? [...selection.quotas.keys()] : selection.filters],
    queryFn: ({ signal }) => selectedQuotas(selection, signal),
    ...LOOKED_AT,
  })

async function selectedQuotas(selection: Selection, signal: AbortSignal): Promise<readonly Quota[]> {
  if (selection.by === 'ids') return [...selection.quotas.values()]
  const quotas: Quota[] = []
  for await (const quota of exportedQuotas(selection.filters, signal)) {
    quotas.push(quota)
    if (quotas.length > MAX_SELECTED) throw new Error(texts.manyQuotas.bulk.tooMany(MAX_SELECTED))
  }
  return quotas
}

/**
 * The quotas that a bulk change would change beyond the first ones, a page at a time. A dry run shows only `MAX_SAMPLES`, so
 * each asks about as many. Fetched only by `fetchNextPage`.
 */
export const moreSamplesQuery = (call: BulkCall, selection: Selection, first: readonly Sample[], count: number) =>
  infiniteQueryOptions({
    queryKey: ['bulk-samples', call],
    enabled: false,
    initialPageParam: NOT_READ,
    queryFn: async ({ pageParam, signal }) => {
      const known = new Set(first.map(({ before }) => before.id))
      let rest = pageParam ?? (await selectedQuotas(selection, signal)).map(({ id }) => id).filter(id => !known.has(id))
      const samples: Sample[] = []
      while (rest.length > 0 && samples.length < count) {
        const ids = rest.slice(0, Math.min(MAX_SAMPLES, count - samples.length))
        rest = rest.slice(ids.length)
        samples.push(...(await previewBulk({ ...call, select: { ids } }, signal)).samples)
      }
      return { samples, rest }
    },
    getNextPageParam: ({ rest }) => (rest.length === 0 ? undefined : rest),
    ...LOOKED_AT,
  })

/** The ids that are still to be asked about; null before the selection has been read. */
const NOT_READ: readonly number[] | null = null

export const exportToFile = csvExport('sms-quota-quotas.csv', '', exportedLines)

async function* exportedLines(filters: Filters, signal: AbortSignal): AsyncGenerator<string, void> {
  // The names of the fields, which are those of the first quota, stand before it.
  let hasHead = false
  for await (const quota of exportedQuotas(filters, signal)) {
    const line = csvRecord(Object.entries(quota).map(([name, value]) => exportedValue(name, value)))
    yield hasHead ? line : csvRecord(Object.keys(quota)) + line
    hasHead = true
  }
}

/** All quotas that match filters, by id, as the service reads them. */
function exportedQuotas(filters: Filters, signal: AbortSignal): AsyncGenerator<Quota, void> {
  return callLines('GET /admin/export/quotas', { query: filterOf(filters, Date.now()), signal })
}
