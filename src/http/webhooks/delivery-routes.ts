import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { NoQuery } from '../../contract/schemas.ts'
import { DeliveriesQuery, DeliveryParams, RedeliverReq, WebhookParams } from '../../contract/webhooks.ts'
import { type DeliveryKey, listDeliveries, redeliver, redeliverSince } from '../../db/delivery-lists.ts'
import { findWebhook } from '../../db/webhooks.ts'
import { eventKeyOf } from '../../domain/event.ts'
import { SHARD_COUNT, shardFrom } from '../../domain/shard.ts'
import { LATEST } from '../../domain/time.ts'
import { Problem } from '../../errors.ts'
import { deliveryView } from '../../events/views.ts'
import type { RouteContext } from '../context.ts'
import { cursorsOf } from '../platform/cursors.ts'
import { timestampOf } from '../platform/formats.ts'
import { changeResponses, operation, readResponses } from '../platform/openapi.ts'
import { foundOrThrow } from './responses.ts'

/** The last delivery of a page. */
const cursors = cursorsOf(
  Type.Object(
    {
      created_at: Type.Integer({ minimum: 0, maximum: LATEST }),
      shard: Type.Integer({ minimum: 0, maximum: SHARD_COUNT - 1 }),
      number: Type.Integer({ minimum: 0, maximum: 999_999_999_999_999 }),
    },
    { additionalProperties: false },
  ),
)

function deliveryKeyOf(cursor: string): DeliveryKey {
  const key = cursors.read(cursor)
  return { ...key, shard: shardFrom(key.shard) }
}

/** The deliveries of a webhook: `/api/sms/admin/webhooks/{id}/…`. */
export function deliveryRoutes(server: FastifyInstance, { db, now }: RouteContext): void {
  const app = server.withTypeProvider<TypeBoxTypeProvider>()

  app.get(
    '/:id/deliveries',
    {
      schema: {
        ...operation('Events', 'listWebhookDeliveries', 'List the deliveries of a webhook'),
        params: WebhookParams,
        querystring: DeliveriesQuery,
        response: readResponses(Type.Ref('WebhookDeliveryPage#'), ['not_found']),
      },
    },
    async request => {
      const { id } = request.params
      const { status, limit = 100, cursor } = request.query
      const after = cursor === undefined ? {} : { after: deliveryKeyOf(cursor) }
      foundOrThrow(await findWebhook(db, id), id)
      const page = await listDeliveries(db, id, { ...after, ...(status === undefined ? {} : { status }), limit })
      return { items: page.deliveries.map(deliveryView), next_cursor: page.next && cursors.write(page.next) }
    },
  )

  app.post(
    '/:id/deliveries/:delivery/redeliver',
    {
      schema: {
        ...operation('Events', 'redeliverWebhookDelivery', 'Send one event again'),
        params: DeliveryParams,
        querystring: NoQuery,
        response: changeResponses({ 200: Type.Ref('Redelivered#') }, ['not_found']),
      },
    },
    async request => {
      const { id, delivery } = request.params
      const key = eventKeyOf(delivery)
      if (key === undefined || !(await redeliver(db, id, key, now()))) {
        throw new Problem('not_found', `Webhook ${id} has no delivery ${delivery}.`)
      }
      return { redelivered: 1 }
    },
  )

  app.post(
    '/:id/redeliver',
    {
      schema: {
        ...operation('Events', 'redeliverWebhook', 'Send all events since a time again'),
        params: WebhookParams,
        querystring: NoQuery,
        body: RedeliverReq,
        response: changeResponses({ 200: Type.Ref('Redelivered#') }, ['not_found']),
      },
    },
    async request => {
      const { id } = request.params
      const since = timestampOf(request.body.since)
      return { redelivered: foundOrThrow(await redeliverSince(db, id, since, now()), id) }
    },
  )
}
