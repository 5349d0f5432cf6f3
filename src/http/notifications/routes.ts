import { randomInt } from 'node:crypto'
import { domainToASCII } from 'node:url'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import { confirmAddress, setUserAddress, withdrawAddress } from '../../admin/users/user-address.ts'
import { NotificationCodeParams, NotificationCodeReq, NotificationsReq } from '../../contract/notifications.ts'
import { NoQuery } from '../../contract/schemas.ts'
import { findAddress, uncountLink } from '../../db/users/addresses.ts'
import { findProfile } from '../../db/users/profiles.ts'
import { markRefused } from '../../db/webhooks/recipients.ts'
import { sendsToUsers } from '../../db/webhooks/webhooks.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import { addressViewOf, type UserAddress } from '../../domain/users/user-address.ts'
import { SERVICE_ACTOR } from '../../domain/webhooks/webhook.ts'
import { Problem } from '../../errors.ts'
import type { LinkCounter } from '../../events/address-codes.ts'
import { userIdOf } from '../auth/guard.ts'
import { accepted } from '../changes/outcomes.ts'
import { authorOf } from '../changes/requests.ts'
import type { RouteContext } from '../context.ts'
import { operation, problems } from '../platform/openapi.ts'
import { createRoom } from '../platform/rate-limiter.ts'
import { change, get } from '../platform/routes.ts'
import { ADDRESS, isOff, namedBy } from './responses.ts'

/**
 * Links of all users that did not go out and are not counted. Those beyond are: else a user could have the service ask the mail server without
 * end, by an address that it refuses each time.
 */
const MAX_UNSENT_PER_MINUTE = 10

/** `randomInt` gives no larger numbers. */
const MAX_SERIAL = 2 ** 48 - 1

/** Where a user's messages go: `/api/sms/quota/notifications`. */
export function notificationRoutes(server: FastifyInstance, { db, now, webhooks, addressCodes }: RouteContext): void {
  const unsent = createRoom(MAX_UNSENT_PER_MINUTE)
  const isOn = async () => (await sendsToUsers(db)) && webhooks.userMail !== null

  async function readView(userId: number) {
    const [address, profile] = [await findAddress(db, userId), await findProfile(db, userId)]
    return { ...addressViewOf(address, !(await isOn())), profile_email: profile.email }
  }

  get(server, '/notifications', {
    ...operation('User', 'getNotifications', 'Read where messages about my quotas go'),
    answer: 'Notifications',
    handler: request => readView(userIdOf(request)),
  })

  change(server, 'PUT', '/notifications', {
    ...operation(
      'User',
      'setNotifications',
      'Have messages about my quotas sent to an e-mail address',
      'The address is sent a link, and gets messages once that is followed. The call waits until the mail server has answered.',
    ),
    body: NotificationsReq,
    answer: 'Notifications',
    errors: ['not_found', 'being_erased'],
    handler: async request => {
      if (!(await isOn()) || addressCodes === null) throw isOff()
      const { email: address, language = 'en' } = request.body
      const user_id = userIdOf(request)
      const draft = { user_id, address, language, serial: randomInt(1, MAX_SERIAL) }
      const counters = [`user ${user_id}`, `address ${mailboxOf(address)}`].map(addressCodes.counterOf)
      const set = accepted(await setUserAddress(db, draft, counters, authorOf(request, now())), ADDRESS)
      if (set.mustConfirm) await sendLink({ ...set.address, address }, counters)
      return readView(user_id)
    },
  })

  async function sendLink(address: UserAddress & { address: string }, counters: readonly LinkCounter[]): Promise<void> {
    const sent = await webhooks.userMail?.sendLink(address)
    if (sent === undefined || sent.delivered) return
    if (sent.isRefused === true) return markRefused(db, address, now())
    if (unsent.take()) for (const { shard, digest } of counters) await uncountLink(db, shard, digest)
    const detail = 'The mail server did not take the message. Repeat the call later.'
    throw new Problem('unavailable', detail, { retryAfterSeconds: 60 })
  }

  change(server, 'DELETE', '/notifications', {
    ...operation('User', 'stopNotifications', 'Have no more messages sent', 'To repeat the call changes nothing.'),
    answer: null,
    handler: async (request, reply) => {
      await withdrawAddress(db, userIdOf(request), authorOf(request, now()))
      return reply.code(204).send(null)
    },
  })
}

/** The mailbox that an address leads to: what follows a `+` only sorts its mail. */
function mailboxOf(address: string): string {
  const [local = '', domain = ''] = address.toLowerCase().split('@')
  return `${local.replace(/(?<=.)\+.*/, '')}@${domainToASCII(domain)}`
}

/** The link is the proof; who follows it is not known. */
const authorOfLink = (request: FastifyRequest, now: EpochMs) => ({ now, actor: SERVICE_ACTOR, requestId: request.id })

/** The frame of a call that needs no token but the code of a link. */
const openRoute = {
  security: [],
  body: NotificationCodeReq,
  querystring: NoQuery,
  response: {
    204: Type.Null({ description: 'Done. The response has no body.' }),
    ...problems([
      'invalid_request',
      'link_outdated',
      'payload_too_large',
      'unsupported_media_type',
      'rate_limited',
      'internal',
      'unavailable',
    ]),
  },
}

/** What the links of messages lead to, without a token: `/api/sms/quota/notifications/…`. */
export async function notificationLinkRoutes(app: FastifyInstance, context: RouteContext): Promise<void> {
  const { db, now, addressCodes } = context
  type ByCode = { Body: Static<typeof NotificationCodeReq> }

  const confirmation = operation(
    'User',
    'confirmNotifications',
    'Confirm an e-mail address by its link',
    'Needs no token: the link proves that its message was read. To repeat the call changes nothing.',
  )
  app.post<ByCode>('/confirm', { schema: { ...confirmation, ...openRoute } }, async (request, reply) => {
    const named = namedBy(addressCodes, 'confirm', request.body.code)
    accepted(await confirmAddress(db, named, authorOfLink(request, now())), ADDRESS)
    return reply.code(204).send(null)
  })

  const end = operation(
    'User',
    'stopNotificationsByLink',
    'Have no more messages sent, by the link in one',
    'Needs no token. To repeat the call changes nothing.',
  )
  app.post<ByCode>('/stop', { schema: { ...end, ...openRoute } }, async (request, reply) => {
    await stop(context, request, request.body.code)
    return reply.code(204).send(null)
  })

  await app.register(async scope => oneClickRoutes(scope, context))
}

async function stop({ db, now, addressCodes }: RouteContext, request: FastifyRequest, code: string): Promise<void> {
  const { user_id, serial } = namedBy(addressCodes, 'stop', code)
  accepted(await withdrawAddress(db, user_id, authorOfLink(request, now()), serial), ADDRESS)
}

const FORMS = ['application/x-www-form-urlencoded', 'multipart/form-data']
const MAX_FORM_BYTES = 1_024

/**
 * What mail programs call (RFC 8058): they post a form, of which the service needs nothing, or open the address as a page. The log has
 * only the pattern of the path.
 */
function oneClickRoutes(app: FastifyInstance, context: RouteContext): void {
  app.addContentTypeParser(FORMS, (_request, stream, done) =>
    app.bodyReader.read(stream, MAX_FORM_BYTES, error => done(error)),
  )
  const hidden = { schema: { hide: true, params: NotificationCodeParams, querystring: NoQuery } }
  type InPath = { Params: Static<typeof NotificationCodeParams> }
  app.post<InPath>('/stop/:code', hidden, async (request, reply) => {
    await stop(context, request, request.params.code)
    return reply.code(204).send(null)
  })
  app.get<InPath>('/stop/:code', hidden, (request, reply) =>
    reply.redirect(`${context.settings.publicUrl ?? ''}/console/notifications/stop#${request.params.code}`),
  )
}
