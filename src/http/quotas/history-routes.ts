import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { HistoryQuery } from '../../contract/quota-history.ts'
import { QuotaParams } from '../../contract/quotas.ts'
import { changesOf, closedWindowsOf } from '../../db/quota-history.ts'
import type { Slice } from '../../db/slice.ts'
import { DEFAULT_PAGE_SIZE, MAX_INTEGER } from '../../domain/bounds.ts'
import { formatTimestamp } from '../../domain/time.ts'
import { closedWindowViewOf } from '../../domain/view.ts'
import { invalidRequest } from '../../errors.ts'
import type { RouteContext } from '../context.ts'
import { cursorsOf } from '../platform/cursors.ts'
import { operation, readResponses } from '../platform/openapi.ts'
import { noSuchQuota } from './responses.ts'

/** The past of a quota: `/api/sms/admin/quota/{id}/history` and `…/{id}/windows`. Deleted quotas keep theirs. */
export function quotaHistoryRoutes(server: FastifyInstance, { db, now }: RouteContext): void {
  const app = server.withTypeProvider<TypeBoxTypeProvider>()

  app.get(
    '/:id/history',
    {
      schema: {
        ...operation(
          'Administrator',
          'listChangesOfQuota',
          'Read the history of a quota',
          'All changes by administrators, newest first; also of deleted quotas.',
        ),
        params: QuotaParams,
        querystring: HistoryQuery,
        response: readResponses(Type.Ref('QuotaHistory#'), ['not_found']),
      },
    },
    async request => {
      const { id } = request.params
      const { before, size } = startOf(id, request.query)
      const slice = await changesOf(db, id, before, size)
      return pageOf(
        id,
        size,
        slice,
        change => ({ ...change, at: formatTimestamp(change.at) }),
        ({ version }) => version,
      )
    },
  )

  app.get(
    '/:id/windows',
    {
      schema: {
        ...operation(
          'Administrator',
          'listWindowsOfQuota',
          'Read the past windows of a quota',
          'Past windows, newest first; also of deleted quotas. Settling a reservation later corrects its window. The last window of an expired quota is not listed: the quota itself still shows it.',
        ),
        params: QuotaParams,
        querystring: HistoryQuery,
        response: readResponses(Type.Ref('QuotaWindowPage#'), ['not_found']),
      },
    },
    async request => {
      const { id } = request.params
      const { before, size } = startOf(id, request.query)
      const slice = await closedWindowsOf(db, id, before, size, now())
      return pageOf(id, size, slice, closedWindowViewOf, ({ window_no }) => window_no)
    },
  )
}

/** The quota, and the version or window number before which the next page begins. */
const cursors = cursorsOf(
  Type.Object(
    {
      quota_id: Type.Integer({ minimum: 1, maximum: MAX_INTEGER }),
      before: Type.Integer({ minimum: 0, maximum: MAX_INTEGER }),
    },
    { additionalProperties: false },
  ),
)

function startOf(quotaId: number, query: HistoryQuery): { before: number; size: number } {
  const { page_size: size = DEFAULT_PAGE_SIZE, cursor } = query
  if (cursor === undefined) return { before: MAX_INTEGER, size }
  const { quota_id, before } = cursors.read(cursor)
  if (quota_id !== quotaId) throw invalidRequest([{ path: 'cursor', message: `belongs to another quota, ${quota_id}` }])
  return { before, size }
}

function pageOf<Item, Shown>(
  quotaId: number,
  size: number,
  slice: Slice<Item> | undefined,
  show: (item: Item) => Shown,
  numberOf: (item: Item) => number,
) {
  if (slice === undefined) throw noSuchQuota(quotaId)
  const last = slice.hasMore ? slice.items.at(-1) : undefined
  return {
    items: slice.items.map(show),
    page_size: size,
    next_cursor: last === undefined ? null : cursors.write({ quota_id: quotaId, before: numberOf(last) }),
  }
}
