import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { HistoryQuery } from '../../contract/quota-history.ts'
import { QuotaParams } from '../../contract/quotas.ts'
import { closed } from '../../contract/schemas.ts'
import type { Slice } from '../../db/lists/pages.ts'
import { changesOf, closedWindowsOf } from '../../db/quotas/history.ts'
import { DEFAULT_PAGE_SIZE, MAX_INTEGER } from '../../domain/basics/bounds.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import { closedWindowViewOf } from '../../domain/units/view.ts'
import { invalidRequest } from '../../errors.ts'
import { changeViewOf } from '../audit/responses.ts'
import { found } from '../changes/outcomes.ts'
import type { RouteContext } from '../context.ts'
import { cursorInteger, cursorsOf } from '../platform/cursors.ts'
import { operation } from '../platform/openapi.ts'
import { get } from '../platform/routes.ts'
import { quotaOf } from './responses.ts'

/** A quota, and the number of a change or a window before which the next page begins. */
const cursors = cursorsOf(
  Type.Object(
    {
      resource: Type.Literal('quota'),
      id: Type.Integer({ minimum: 1, maximum: MAX_INTEGER }),
      before: cursorInteger,
    },
    closed,
  ),
)

/** Where a page begins. @throws Problem `invalid_request` if the cursor belongs to another quota */
function startOf(id: number, { page_size: size = DEFAULT_PAGE_SIZE, cursor }: HistoryQuery, now: EpochMs) {
  if (cursor === undefined) return { size, now }
  const { id: of, before: after } = cursors.read(cursor)
  if (of !== id) throw invalidRequest([{ path: 'cursor', message: `belongs to quota ${of}` }])
  return { after, size, now }
}

/** What a page answers. @throws Problem `not_found` if there never was such a quota */
function pageOf<Item>(id: number, slice: Slice<Item, number> | undefined, size: number, view: (item: Item) => object) {
  const { items, next } = found(slice, quotaOf(id))
  return {
    items: items.map(view),
    page_size: size,
    next_cursor: next === null ? null : cursors.write({ resource: 'quota', id, before: next }),
  }
}

/** The past of a quota: `/api/sms/admin/quota/{id}/history` and `…/{id}/windows`. Deleted quotas keep theirs. */
export function quotaHistoryRoutes(server: FastifyInstance, { db, now }: RouteContext): void {
  get(server, '/:id/history', {
    ...operation(
      'Administrator',
      'listChangesOfQuota',
      'Read the history of a quota',
      'All changes by administrators, newest first; also of deleted quotas.',
    ),
    params: QuotaParams,
    isReport: true,
    query: HistoryQuery,
    answer: 'QuotaHistory',
    errors: ['not_found'],
    handler: async request => {
      const { id } = request.params
      const page = startOf(id, request.query, now())
      return pageOf(id, await changesOf(db, id, page), page.size, changeViewOf)
    },
  })

  get(server, '/:id/windows', {
    ...operation(
      'Administrator',
      'listWindowsOfQuota',
      'Read the past windows of a quota',
      'Past windows, newest first; also of deleted quotas. Settling a reservation later corrects its window. The last window of an expired quota is not listed: the quota itself still shows it.',
    ),
    params: QuotaParams,
    query: HistoryQuery,
    answer: 'QuotaWindowPage',
    errors: ['not_found'],
    handler: async request => {
      const { id } = request.params
      const page = startOf(id, request.query, now())
      return pageOf(id, await closedWindowsOf(db, id, page), page.size, closedWindowViewOf)
    },
  })
}
