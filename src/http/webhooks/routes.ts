import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { deleteWebhook } from '../../admin/webhooks/webhooks.ts'
import { createWebhookOnce, rotateSecretOnce, updateWebhookOnce } from '../../admin/webhooks/webhooks-once.ts'
import { IdempotencyHeaders } from '../../contract/schemas.ts'
import { CreateWebhookReq, UpdateWebhookReq, WebhookParams } from '../../contract/webhooks.ts'
import { findWebhook, listWebhooks } from '../../db/webhooks/webhooks.ts'
import { type WebhookKind, webhookView } from '../../domain/webhooks/webhook.ts'
import { invalidRequest } from '../../errors.ts'
import { newSecret, secretText } from '../../events/signature.ts'
import { accepted, found, refusal } from '../changes/outcomes.ts'
import { authorOf } from '../changes/requests.ts'
import type { RouteContext } from '../context.ts'
import { operation } from '../platform/openapi.ts'
import { change, get } from '../platform/routes.ts'
import { destinationOf, digestOf, requireDestination, typesOf, webhookOf } from './requests.ts'

/** The receivers of events: `/api/sms/admin/webhooks…`. */
export function webhookRoutes(server: FastifyInstance, context: RouteContext): void {
  listRoute(server, context)
  createRoute(server, context)
  getRoute(server, context)
  updateRoute(server, context)
  deleteRoute(server, context)
  rotateSecretRoute(server, context)
  testRoute(server, context)
}

function listRoute(server: FastifyInstance, { db, now }: RouteContext): void {
  get(server, '', {
    ...operation('Events', 'listWebhooks', 'List webhooks'),
    answer: 'WebhookList',
    handler: async () => ({ items: (await listWebhooks(db)).map(webhook => webhookView(webhook, now())) }),
  })
}

function createRoute(server: FastifyInstance, { db, now, webhooks, secretKeys }: RouteContext): void {
  change(server, 'POST', '', {
    ...operation('Events', 'createWebhook', 'Create a webhook'),
    headers: IdempotencyHeaders,
    body: CreateWebhookReq,
    answer: { 201: Type.Ref('WebhookWithSecret#') },
    errors: ['too_many_webhooks', 'idempotency_mismatch'],
    handler: async (request, reply) => {
      const { kind = 'webhook', ...body } = request.body
      const { secretUrl, ...destination } = destinationOf(kind, body, webhooks)
      requireDestination(kind, destination, webhooks)
      const key = request.headers['idempotency-key']
      const draft = { ...body, ...destination, ...typesOf(kind, body.types, true), ...digestOf(kind, body), kind }
      const made = { secret: secretUrl ?? newSecret(), keys: secretKeys }
      const created = await createWebhookOnce(db, draft, made, authorOf(request, now()), key)
      const { webhook, secret, at } = accepted(created, webhookOf())
      reply.code(201).header('location', `/api/sms/admin/webhooks/${webhook.id}`)
      return { ...webhookView(webhook, at), secret: webhook.kind === 'webhook' ? secret && secretText(secret) : null }
    },
  })
}

function getRoute(server: FastifyInstance, { db, now }: RouteContext): void {
  get(server, '/:id', {
    ...operation('Events', 'getWebhook', 'Read a webhook'),
    params: WebhookParams,
    answer: 'Webhook',
    errors: ['not_found'],
    handler: async request =>
      webhookView(found(await findWebhook(db, request.params.id), webhookOf(request.params.id)), now()),
  })
}

function updateRoute(server: FastifyInstance, { db, now, webhooks, secretKeys }: RouteContext): void {
  change(server, 'PUT', '/:id', {
    ...operation('Events', 'updateWebhook', 'Update a webhook'),
    params: WebhookParams,
    headers: IdempotencyHeaders,
    body: UpdateWebhookReq,
    answer: 'Webhook',
    errors: ['not_found', 'idempotency_mismatch'],
    handler: async request => {
      const { id } = request.params
      const kind = await kindOf(db, id)
      const { secretUrl, ...destination } = destinationOf(kind ?? 'webhook', request.body, webhooks)
      const key = request.headers['idempotency-key']
      const url = secretUrl && { secret: secretUrl, keys: secretKeys }
      const types = typesOf(kind ?? 'webhook', request.body.types, false)
      const patch = { ...request.body, ...destination, ...types, ...digestOf(kind, request.body) }
      const updated = await updateWebhookOnce(db, id, patch, authorOf(request, now()), key, url)
      const { webhook, at } = accepted(updated, webhookOf(id))
      return webhookView(webhook, at)
    },
  })
}

function deleteRoute(server: FastifyInstance, { db, now }: RouteContext): void {
  change(server, 'DELETE', '/:id', {
    ...operation('Events', 'deleteWebhook', 'Delete a webhook and its deliveries'),
    params: WebhookParams,
    answer: null,
    errors: ['not_found'],
    handler: async (request, reply) => {
      const { id } = request.params
      if (!(await deleteWebhook(db, id, authorOf(request, now()))))
        throw refusal({ outcome: 'not_found' }, webhookOf(id))
      return reply.code(204).send(null)
    },
  })
}

function rotateSecretRoute(server: FastifyInstance, { db, now, secretKeys }: RouteContext): void {
  change(server, 'POST', '/:id/rotate-secret', {
    ...operation('Events', 'rotateWebhookSecret', 'Replace the secret of a webhook; for a day, both secrets sign'),
    params: WebhookParams,
    headers: IdempotencyHeaders,
    answer: 'WebhookWithSecret',
    errors: ['not_found', 'idempotency_mismatch'],
    handler: async request => {
      const { id } = request.params
      const kind = await kindOf(db, id)
      if (kind !== undefined && kind !== 'webhook')
        throw invalidRequest([{ path: 'id', message: `is of the kind ${kind}, which has no secret that signs` }])
      const key = request.headers['idempotency-key']
      const made = { secret: newSecret(), keys: secretKeys }
      const rotated = await rotateSecretOnce(db, id, made, authorOf(request, now()), key)
      const { webhook, secret, at } = accepted(rotated, webhookOf(id))
      return { ...webhookView(webhook, at), secret: secret && secretText(secret) }
    },
  })
}

function testRoute(server: FastifyInstance, { webhooks }: RouteContext): void {
  change(server, 'POST', '/:id/test', {
    ...operation('Events', 'testWebhook', 'Send a test event and report the result'),
    params: WebhookParams,
    answer: 'WebhookAttempt',
    errors: ['not_found'],
    handler: async request => found(await webhooks.test(request.params.id), webhookOf(request.params.id)),
  })
}

/** The kind of a webhook, which never changes. A call may repeat one to a webhook that is deleted since: that goes on to its answer. */
async function kindOf(db: RouteContext['db'], id: number): Promise<WebhookKind | undefined> {
  return (await findWebhook(db, id))?.kind
}
