import { randomUUID } from 'node:crypto'
import type { WebhookAttempt } from '../contract/webhooks.ts'
import type { Database, Log } from '../db/connection/database.ts'
import type { Attempt } from '../db/webhooks/deliveries.ts'
import { markRefused, type Recipient } from '../db/webhooks/recipients.ts'
import type { SecretKeys } from '../db/webhooks/secret-keys.ts'
import { findSigningWebhook, type SigningWebhook } from '../db/webhooks/secrets.ts'
import { eventIdOf } from '../domain/events/event.ts'
import { type EpochMs, formatTimestamp } from '../domain/time/time.ts'
import type { AddressCodes } from '../events/address-codes.ts'
import { createKinds, type Parcel } from '../events/kinds.ts'
import { createMailer, MAIL_TIMEOUT_MS, type MailOptions } from '../events/mailer.ts'
import { createPoster } from '../events/post.ts'
import type { Settled } from '../events/settle-delivery.ts'
import { createUserMail, type UserMail } from '../events/user-mail.ts'
import { payloadOf } from '../events/views.ts'
import type { Tracer } from '../tracing.ts'
import { type Claimed, createWebhookChannel, type WebhookChannel } from './webhook-channel.ts'

/** Attempts the deliveries of webhooks. Each webhook has its own channel, so that a slow receiver delays no other. */
export interface WebhookSender {
  /** Starts the attempts at a webhook's deliveries that are due. No more start once the signal has aborted. */
  start(webhookId: number, signal: AbortSignal): void
  /** Resolves when no attempt is under way. */
  idle(): Promise<void>
  /** Sends a test event to one webhook, enabled or not. Resolves to the result; undefined if there is no such webhook. */
  test(webhookId: number): Promise<WebhookAttempt | undefined>
  readonly allowPrivate: boolean
  /** Whether there is an SMTP server. */
  readonly canMail: boolean
  /** What sends users messages about their own events; null: they get none. */
  readonly userMail: UserMail | null
}

export interface WebhookSenderOptions {
  db: Database
  /** The keys that decrypt the secrets that sign. */
  keys: SecretKeys
  now: () => EpochMs
  log: Log
  /** Whether webhooks may be sent into private networks and to this machine; default false. */
  allowPrivate?: boolean
  /** How long a receiver may take to answer, in milliseconds; default 10,000. */
  timeoutMs?: number
  /** The SMTP server of e-mails; null or left out: there is none. */
  mail?: MailOptions | null
  /** Where people reach the console; null or left out: messages have no links. */
  publicUrl?: string | null
  /** What stands in the links of messages to users; null or left out: users are sent none. */
  addressCodes?: AddressCodes | null
  onDelivery?: (outcome: Settled) => void
  /** Each attempt is a span, which its receiver can continue. */
  tracer?: Tracer | undefined
}

const TIMEOUT_MS = 10_000

/** `stopping` aborts the attempts under way; those deliveries are due again at once. */
export function createWebhookSender(options: WebhookSenderOptions, stopping: AbortSignal): WebhookSender {
  const { now: clock, timeoutMs = TIMEOUT_MS, allowPrivate = false, publicUrl = null } = options
  const { db, keys, log, onDelivery, tracer, mail = null, addressCodes = null } = options
  const poster = createPoster({ allowPrivate, timeoutMs })
  const mailer = mail === null ? undefined : createMailer(mail)
  const close = () => {
    poster.close()
    mailer?.close()
  }
  stopping.addEventListener('abort', close, { once: true })
  const canMailUsers = mailer !== undefined && addressCodes !== null && publicUrl !== null
  const userMail = canMailUsers ? createUserMail(mailer, addressCodes, publicUrl) : null
  const onRefused = (to: Recipient) => markRefused(db, to, clock())
  const kinds = createKinds({ now: clock, poster, mailer, userMail, onRefused, publicUrl })
  /** The channels with something to do, by webhook. */
  const channels = new Map<number, WebhookChannel>()

  function open(id: number): WebhookChannel {
    const channel = createWebhookChannel(id, {
      db,
      keys,
      now: clock,
      log,
      timeoutMsOf: kind => (kind === 'email' || kind === 'users' ? MAIL_TIMEOUT_MS : timeoutMs),
      stopping,
      onDelivery,
      send: (webhook, claimed) => send(webhook, parcelOf(claimed)),
      onIdle: () => channels.delete(id),
    })
    channels.set(id, channel)
    return channel
  }

  async function send(webhook: SigningWebhook, parcel: Parcel): Promise<Attempt> {
    const span = tracer?.start(`webhook ${parcel.payload?.type ?? 'events'}`, 'client')
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'sms-quota',
      ...(span === undefined ? {} : { traceparent: span.traceparent }),
    }
    const attempt = await kinds[webhook.kind](webhook, parcel, headers)
    span?.end(!attempt.delivered, {
      'webhook.id': parcel.id,
      'sms_quota.webhook': webhook.id,
      ...(attempt.response_code === null ? {} : { 'http.response.status_code': attempt.response_code }),
    })
    return attempt
  }

  return {
    start(id, signal) {
      const channel = channels.get(id) ?? open(id)
      channel.start(signal)
    },
    async idle() {
      // A channel whose database failed stays, and is idle.
      await Promise.all([...channels.values()].map(channel => channel.idle()))
    },
    async test(webhookId) {
      const webhook = await findSigningWebhook(db, keys, webhookId)
      if (webhook === undefined) return undefined
      const { delivered, response_code, error, answer = null } = await send(webhook, testOf(webhook, clock()))
      return { delivered, response_code, error, answer }
    },
    allowPrivate,
    canMail: mailer !== undefined,
    userMail,
  }
}

function parcelOf({ claims, first, counts, names, to }: Claimed): Parcel {
  const [claim] = claims
  const [event] = first
  const isOne = claims.length === 1 && event !== undefined
  return {
    id: claim === undefined ? '' : isOne ? eventIdOf(claim) : `${eventIdOf(claim)}-${claims.length}`,
    payload: isOne ? payloadOf(event) : null,
    first,
    counts,
    names,
    addresses: claim?.addresses ?? null,
    to,
  }
}

function testOf({ id, description }: SigningWebhook, now: EpochMs): Parcel {
  const type = 'webhook.test'
  const data = { webhook: { id, description } }
  return {
    id: `evt_test_${randomUUID()}`,
    payload: { type, timestamp: formatTimestamp(now), data },
    first: [{ type, at: now, user_id: null, data }],
    counts: [{ type, count: 1 }],
    names: new Map(),
    addresses: null,
    to: null,
  }
}
