import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { createWebhook, rotateSecret, updateWebhook } from '../../admin/webhooks.ts'
import { NoQuery } from '../../contract/quotas.ts'
import {
  CreateWebhookReq,
  DeliveriesQuery,
  DeliveryParams,
  RedeliverReq,
  UpdateWebhookReq,
  WebhookParams,
} from '../../contract/webhooks.ts'
import { type DeliveryKey, listDeliveries, redeliver, redeliverSince } from '../../db/delivery-lists.ts'
import { deleteWebhook, findWebhook, listWebhooks } from '../../db/webhooks.ts'
import { eventKeyOf } from '../../domain/event.ts'
import { type EpochMs, parseTimestamp } from '../../domain/time.ts'
import { MAX_WEBHOOKS, type Webhook, webhookView } from '../../domain/webhook.ts'
import { type ErrorCode, invalidRequest, Problem } from '../../errors.ts'
import { isPublicAddress, literalAddress } from '../../events/addresses.ts'
import { newSecret, secretText } from '../../events/signature.ts'
import { deliveryView } from '../../events/views.ts'
import { principalOf } from '../auth/guard.ts'
import type { RouteContext } from '../context.ts'
import { responses } from '../platform/openapi.ts'

const WITH_BODY: ErrorCode[] = ['forbidden', 'payload_too_large', 'unsupported_media_type', 'invalid_request']
/** A route that takes no body refuses one that it cannot read. */
const OF_ONE: ErrorCode[] = [...WITH_BODY, 'not_found']

/** Where events are sent: `/api/sms/admin/webhooks…`. */
export function webhookRoutes(server: FastifyInstance, { db, now, webhooks }: RouteContext): void {
  const app = server.withTypeProvider<TypeBoxTypeProvider>()
  const describe = (operationId: string, summary: string) => ({ operationId, summary, tags: ['Events'] })
  const one = { params: WebhookParams, querystring: NoQuery }

  app.get(
    '',
    {
      schema: {
        ...describe('listWebhooks', 'List webhooks'),
        querystring: NoQuery,
        response: responses({ 200: Type.Ref('WebhookList#') }, ['forbidden', 'invalid_request']),
      },
    },
    async () => ({ items: (await listWebhooks(db)).map(webhook => webhookView(webhook, now())) }),
  )

  app.post(
    '',
    {
      schema: {
        ...describe('createWebhook', 'Create a webhook'),
        querystring: NoQuery,
        body: CreateWebhookReq,
        response: responses({ 201: Type.Ref('WebhookWithSecret#') }, [...WITH_BODY, 'too_many_webhooks']),
      },
    },
    async (request, reply) => {
      checkUrl(request.body.url)
      const secret = newSecret()
      const webhook = await createWebhook(db, request.body, secret, writerOf(request))
      if (webhook === undefined)
        throw new Problem('too_many_webhooks', `There are ${MAX_WEBHOOKS} webhooks, the most there can be.`)
      reply.code(201).header('location', `/api/sms/admin/webhooks/${webhook.id}`)
      return { ...webhookView(webhook, now()), secret: secretText(secret) }
    },
  )

  app.get(
    '/:id',
    {
      schema: {
        ...describe('getWebhook', 'Read a webhook'),
        ...one,
        response: responses({ 200: Type.Ref('Webhook#') }, ['forbidden', 'invalid_request', 'not_found']),
      },
    },
    async request => webhookView(found(await findWebhook(db, request.params.id), request.params.id), now()),
  )

  app.put(
    '/:id',
    {
      schema: {
        ...describe('updateWebhook', 'Update a webhook'),
        ...one,
        body: UpdateWebhookReq,
        response: responses({ 200: Type.Ref('Webhook#') }, OF_ONE),
      },
    },
    async request => {
      if (request.body.url !== undefined) checkUrl(request.body.url)
      const { id } = request.params
      return webhookView(found(await updateWebhook(db, id, request.body, writerOf(request)), id), now())
    },
  )

  app.delete(
    '/:id',
    {
      schema: {
        ...describe('deleteWebhook', 'Delete a webhook and its deliveries'),
        ...one,
        response: responses({ 204: Type.Null({ description: 'Deleted; nothing is returned.' }) }, OF_ONE),
      },
    },
    async (request, reply) => {
      if (!(await deleteWebhook(db, request.params.id))) throw noSuchWebhook(request.params.id)
      return reply.code(204).send(null)
    },
  )

  app.post(
    '/:id/rotate-secret',
    {
      schema: {
        ...describe('rotateWebhookSecret', 'Give a webhook a new secret; for a day both sign'),
        ...one,
        response: responses({ 200: Type.Ref('WebhookWithSecret#') }, OF_ONE),
      },
    },
    async request => {
      const { id } = request.params
      const secret = newSecret()
      const webhook = found(await rotateSecret(db, id, secret, writerOf(request)), id)
      return { ...webhookView(webhook, now()), secret: secretText(secret) }
    },
  )

  app.post(
    '/:id/test',
    {
      schema: {
        ...describe('testWebhook', 'Send a test event, and say what came of it'),
        ...one,
        response: responses({ 200: Type.Ref('WebhookAttempt#') }, OF_ONE),
      },
    },
    async request => webhooks.test(found(await findWebhook(db, request.params.id), request.params.id)),
  )

  app.get(
    '/:id/deliveries',
    {
      schema: {
        ...describe('listWebhookDeliveries', 'List the deliveries of a webhook'),
        params: WebhookParams,
        querystring: DeliveriesQuery,
        response: responses({ 200: Type.Ref('WebhookDeliveryPage#') }, ['forbidden', 'invalid_request', 'not_found']),
      },
    },
    async request => {
      const { id } = request.params
      const { status, limit = 100, cursor } = request.query
      const after = cursor === undefined ? {} : { after: readKey(cursor) }
      found(await findWebhook(db, id), id)
      const page = await listDeliveries(db, id, { ...after, ...(status === undefined ? {} : { status }), limit })
      return { items: page.deliveries.map(deliveryView), next_cursor: page.next && writeKey(page.next) }
    },
  )

  app.post(
    '/:id/deliveries/:delivery/redeliver',
    {
      schema: {
        ...describe('redeliverWebhookDelivery', 'Send an event again'),
        params: DeliveryParams,
        querystring: NoQuery,
        response: responses({ 200: Type.Ref('Redelivered#') }, OF_ONE),
      },
    },
    async request => {
      const { id, delivery } = request.params
      const key = eventKeyOf(delivery)
      if (key === undefined || !(await redeliver(db, id, key, now())))
        throw new Problem('not_found', `There is no delivery ${delivery} of a webhook ${id}.`)
      return { redelivered: 1 }
    },
  )

  app.post(
    '/:id/redeliver',
    {
      schema: {
        ...describe('redeliverWebhook', 'Send everything since a moment again'),
        ...one,
        body: RedeliverReq,
        response: responses({ 200: Type.Ref('Redelivered#') }, OF_ONE),
      },
    },
    async request => {
      const { id } = request.params
      const since = parseTimestamp(request.body.since) ?? now()
      return { redelivered: found(await redeliverSince(db, id, since, now()), id) }
    },
  )

  /** An address that will be refused is better refused now than at each delivery. A name is judged when it resolves. */
  function checkUrl(url: string): void {
    const literal = literalAddress(new URL(url))
    if (webhooks.allowPrivate || literal === undefined || isPublicAddress(literal)) return
    throw invalidRequest([{ path: '/url', message: 'must be an address of the public internet' }])
  }

  function writerOf(request: FastifyRequest): { now: EpochMs; actor: string } {
    return { now: now(), actor: principalOf(request).subject }
  }
}

function found<T>(what: T | undefined, id: number): T {
  if (what === undefined) throw noSuchWebhook(id)
  return what
}

function noSuchWebhook(id: Webhook['id']): Problem {
  return new Problem('not_found', `There is no webhook ${id}.`)
}

function writeKey({ created_at, shard, number }: DeliveryKey): string {
  return Buffer.from(`${created_at}_${shard}_${number}`).toString('base64url')
}

function readKey(cursor: string): DeliveryKey {
  const text = Buffer.from(cursor, 'base64url').toString()
  const [, at, shard, number] = /^(\d{1,15})_(\d{1,2})_(\d{1,15})$/.exec(text) ?? []
  if (number === undefined)
    throw invalidRequest([{ path: 'cursor', message: 'must be a next_cursor as this service gave it' }])
  return { created_at: Number(at), shard: Number(shard), number: Number(number) }
}
