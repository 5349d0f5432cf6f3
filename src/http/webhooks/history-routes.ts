import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { HistoryQuery } from '../../contract/quota-history.ts'
import { WebhookParams } from '../../contract/webhooks.ts'
import { changesOfWebhook } from '../../db/webhooks/history.ts'
import { formatTimestamp } from '../../domain/time.ts'
import type { RouteContext } from '../context.ts'
import { cursorAfter, startOf } from '../platform/numbered-pages.ts'
import { operation, readResponses } from '../platform/openapi.ts'
import { foundOrThrow } from './responses.ts'

/** The past of a webhook: `/api/sms/admin/webhooks/{id}/history`. Deleted webhooks keep theirs. */
export function webhookHistoryRoutes(server: FastifyInstance, { db }: RouteContext): void {
  server.withTypeProvider<TypeBoxTypeProvider>().get(
    '/:id/history',
    {
      schema: {
        ...operation(
          'Events',
          'listChangesOfWebhook',
          'Read the history of a webhook',
          'All changes, newest first; also of deleted webhooks. It holds no secret.',
        ),
        params: WebhookParams,
        querystring: HistoryQuery,
        response: readResponses(Type.Ref('WebhookHistory#'), ['not_found']),
      },
    },
    async request => {
      const { id } = request.params
      const { before, size } = startOf('webhook', id, request.query)
      const slice = foundOrThrow(await changesOfWebhook(db, id, before, size), id)
      const items = slice.items.map(change => ({ ...change, at: formatTimestamp(change.at) }))
      return { items, page_size: size, next_cursor: cursorAfter('webhook', id, slice, ({ version }) => version) }
    },
  )
}
