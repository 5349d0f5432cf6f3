import type { FastifyInstance } from 'fastify'
import { HistoryQuery } from '../../contract/quota-history.ts'
import { QuotaParams } from '../../contract/quotas.ts'
import { changesOf, closedWindowsOf } from '../../db/quotas/history.ts'
import { closedWindowViewOf } from '../../domain/view.ts'
import { changeViewOf } from '../audit/responses.ts'
import type { RouteContext } from '../context.ts'
import { cursorAfter, startOf } from '../platform/numbered-pages.ts'
import { operation } from '../platform/openapi.ts'
import { get } from '../platform/routes.ts'
import { noSuchQuota } from './responses.ts'

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
      const { before, size } = startOf('quota', id, request.query)
      const slice = foundOrThrow(await changesOf(db, id, before, size), id)
      const items = slice.items.map(changeViewOf)
      return { items, page_size: size, next_cursor: cursorAfter('quota', id, slice, ({ version }) => version) }
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
      const { before, size } = startOf('quota', id, request.query)
      const slice = foundOrThrow(await closedWindowsOf(db, id, before, size, now()), id)
      const items = slice.items.map(closedWindowViewOf)
      return { items, page_size: size, next_cursor: cursorAfter('quota', id, slice, ({ window_no }) => window_no) }
    },
  })
}

function foundOrThrow<T>(found: T | undefined, id: number): T {
  if (found === undefined) throw noSuchQuota(id)
  return found
}
