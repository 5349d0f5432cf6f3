import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { redeliverOnce, redeliverSinceOnce } from '../../admin/webhooks/webhooks-once.ts'
import { IdempotencyHeaders } from '../../contract/schemas.ts'
import { DeliveriesQuery, DeliveryParams, RedeliverReq, WebhookParams } from '../../contract/webhooks.ts'
import { findEvents } from '../../db/outbox/outbox.ts'
import { type DeliveryKey, findDelivery, listDeliveries } from '../../db/webhooks/delivery-lists.ts'
import { findWebhook } from '../../db/webhooks/webhooks.ts'
import { SHARD_COUNT, shardFrom } from '../../domain/basics/shard.ts'
import { eventKeyOf } from '../../domain/events/event.ts'
import { deliveryView, payloadOf } from '../../events/views.ts'
import { accepted, found, refusal } from '../changes/outcomes.ts'
import { authorOf } from '../changes/requests.ts'
import type { RouteContext } from '../context.ts'
import { cursorInteger, cursorsOf, cursorTime } from '../platform/cursors.ts'
import { timestampOf } from '../platform/formats.ts'
import { operation } from '../platform/openapi.ts'
import { change, get } from '../platform/routes.ts'
import { webhookOf } from './requests.ts'

/** The last delivery of a page. */
const cursors = cursorsOf(
  Type.Object(
    {
      created_at: cursorTime,
      shard: Type.Integer({ minimum: 0, maximum: SHARD_COUNT - 1 }),
      number: cursorInteger,
    },
    { additionalProperties: false },
  ),
)

function deliveryKeyOf(cursor: string): DeliveryKey {
  const key = cursors.read(cursor)
  return { ...key, shard: shardFrom(key.shard) }
}

/** The deliveries of a webhook: `/api/sms/admin/webhooks/{id}/…`. */
export function deliveryRoutes(server: FastifyInstance, context: RouteContext): void {
  readRoutes(server, context)
  redeliveryRoutes(server, context)
}

function readRoutes(server: FastifyInstance, { db }: RouteContext): void {
  get(server, '/:id/deliveries', {
    ...operation('Events', 'listWebhookDeliveries', 'List the deliveries of a webhook'),
    params: WebhookParams,
    query: DeliveriesQuery,
    answer: 'WebhookDeliveryPage',
    errors: ['not_found'],
    handler: async request => {
      const { id } = request.params
      const { status, limit = 100, cursor } = request.query
      const after = cursor === undefined ? undefined : deliveryKeyOf(cursor)
      found(await findWebhook(db, id), webhookOf(id))
      const { items, next } = await listDeliveries(db, id, { status }, { after, size: limit })
      return { items: items.map(deliveryView), next_cursor: next && cursors.write(next) }
    },
  })

  get(server, '/:id/deliveries/:delivery', {
    ...operation('Events', 'getWebhookDelivery', 'Read a delivery of a webhook, and what it posts'),
    params: DeliveryParams,
    answer: 'WebhookDeliveryDetail',
    errors: ['not_found'],
    handler: async request => {
      const { id, delivery } = request.params
      found(await findWebhook(db, id), webhookOf(id))
      const key = eventKeyOf(delivery)
      const known = key && (await findDelivery(db, id, key))
      if (key === undefined || known === undefined) throw refusal({ outcome: 'not_found' }, deliveryOf(id, delivery))
      const [event] = await findEvents(db, [key])
      return { ...deliveryView(known), payload: event === undefined ? null : payloadOf(event) }
    },
  })
}

function redeliveryRoutes(server: FastifyInstance, { db, now }: RouteContext): void {
  change(server, 'POST', '/:id/deliveries/:delivery/redeliver', {
    ...operation('Events', 'redeliverWebhookDelivery', 'Send one event again'),
    params: DeliveryParams,
    headers: IdempotencyHeaders,
    answer: 'Redelivered',
    errors: ['not_found', 'idempotency_mismatch'],
    handler: async request => {
      const { id, delivery } = request.params
      const event = found(eventKeyOf(delivery), deliveryOf(id, delivery))
      const key = request.headers['idempotency-key']
      const done = await redeliverOnce(db, id, event, authorOf(request, now()), key)
      return { redelivered: accepted(done, deliveryOf(id, delivery)).redelivered }
    },
  })

  change(server, 'POST', '/:id/redeliver', {
    ...operation('Events', 'redeliverWebhook', 'Send all events since a time again'),
    params: WebhookParams,
    headers: IdempotencyHeaders,
    body: RedeliverReq,
    answer: 'Redelivered',
    errors: ['not_found', 'idempotency_mismatch'],
    handler: async request => {
      const { id } = request.params
      const since = timestampOf(request.body.since)
      const key = request.headers['idempotency-key']
      const done = await redeliverSinceOnce(
        db,
        id,
        { since, status: request.body.status },
        authorOf(request, now()),
        key,
      )
      const { redelivered } = accepted(done, webhookOf(id))
      return { redelivered }
    },
  })
}

const deliveryOf = (id: number, delivery: string) => ({
  what: 'delivery',
  missing: `Webhook ${id} has no delivery ${delivery}.`,
})
