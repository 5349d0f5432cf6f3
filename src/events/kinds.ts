/** What each kind of webhook sends, where to, and what an answer means. */
import type { Attempt } from '../db/webhooks/deliveries.ts'
import type { Recipient } from '../db/webhooks/recipients.ts'
import type { SigningWebhook } from '../db/webhooks/secrets.ts'
import type { EpochMs } from '../domain/time/time.ts'
import type { WebhookKind } from '../domain/webhooks/webhook.ts'
import { emailContent, slackBody, teamsBody } from '../messages/formats.ts'
import { type Message, type MessageContext, type MessageEvents, messageOf } from '../messages/message.ts'
import type { Mailer } from './mailer.ts'
import { is2xx, type Judge, type Poster } from './post.ts'
import { signatureHeaders } from './signature.ts'
import type { UserMail } from './user-mail.ts'
import type { Payload } from './views.ts'

/** The content of one delivery: an event, a test, or one message about many events. */
export interface Parcel extends MessageEvents {
  /** Names it: receivers recognize a repetition by it. */
  id: string
  /** The names of the users of those events. */
  names: MessageContext['names']
  /** The body for programs. Null: it is about many events, which only people get. */
  payload: Payload | null
  /** Only these addresses lack it; null: all of the webhook. */
  addresses: readonly string[] | null
  /** The user whose events they are; null: no user has asked for it, as for a test. */
  to: Recipient | null
}

export interface KindOptions {
  now: () => EpochMs
  poster: Poster
  /** Undefined: there is no SMTP server. */
  mailer: Mailer | undefined
  /** Null: users are sent no messages. */
  userMail: UserMail | null
  /** Called before an address that the mail server has refused for good is not used any more. */
  onRefused(to: Recipient): Promise<void>
  publicUrl: string | null
}

/**
 * Slack answers `ok` to what it has posted, and a code to the rest (docs.slack.dev/messaging/sending-messages-using-incoming-webhooks, "Handling
 * errors"). These codes say that the message is wrong: it is refused each time.
 */
const REFUSED_BY_SLACK = new Set(['invalid_payload', 'invalid_blocks', 'no_text', 'too_many_attachments'])
export const judgeSlack: Judge = ({ status, text, isWhole }) => {
  const said = text.trim()
  if (isWhole && is2xx(status) && said === 'ok') return 'taken'
  return REFUSED_BY_SLACK.has(said) ? 'refused' : 'failed'
}

/**
 * A workflow of Teams answers 202 without a body (learn.microsoft.com/azure/connectors/connectors-native-reqres: without an action "Response"); a
 * connector answers 200 with the number of messages, or with what went wrong (github.com/MicrosoftDocs/msteams-docs/issues/9698). Of that, only a
 * message that is too long (413) is refused each time.
 */
export const judgeTeams: Judge = ({ status, text, isWhole }) => {
  if (isWhole && is2xx(status) && /^(?:[1-9]\d*)?$/.test(text.trim())) return 'taken'
  return status === 413 || /HTTP error 413\b/.test(text) ? 'refused' : 'failed'
}

/** Sends a parcel. */
export type Send = (webhook: SigningWebhook, parcel: Parcel, headers: Record<string, string>) => Promise<Attempt>

export function createKinds({
  now,
  poster,
  mailer,
  userMail,
  onRefused,
  publicUrl,
}: KindOptions): Readonly<Record<WebhookKind, Send>> {
  const messageFor = ({ id, language, digest }: SigningWebhook, { names, ...events }: Parcel): Message =>
    messageOf(events, { language, webhookId: id, isDigest: digest !== null, publicUrl, names })

  const toChannel =
    (bodyOf: (message: Message) => object, judge: Judge): Send =>
    async (webhook, parcel, headers) => {
      const body = JSON.stringify(bodyOf(messageFor(webhook, parcel)))
      return poster.post(Buffer.from(webhook.secrets.secret).toString(), headers, body, judge)
    }

  return {
    webhook(webhook, { id, payload }, headers) {
      const body = JSON.stringify(payload)
      return poster.post(webhook.url ?? '', { ...headers, ...signatureHeaders(webhook, id, body, now()) }, body)
    },
    slack: toChannel(slackBody, judgeSlack),
    teams: toChannel(teamsBody, judgeTeams),
    async email(webhook, parcel) {
      const to = webhook.addresses ?? []
      // An address that an administrator has taken out meanwhile gets nothing more.
      const recipients = to.filter(address => parcel.addresses === null || parcel.addresses.includes(address))
      if (recipients.length === 0) return { delivered: true, response_code: null, error: 'no address is left' }
      if (mailer === undefined) return notSent('SMTP_URL is not set')
      const content = emailContent(messageFor(webhook, parcel))
      return mailer.send({ ...content, id: `${parcel.id}.${webhook.id}`, to, recipients })
    },
    async users({ id: webhookId, digest }, { id, to, names, ...events }) {
      if (userMail === null) return notSent('USER_NOTIFICATIONS is not true')
      if (to === null) return notSent('it has no address for a test: users confirm theirs')
      const attempt = await userMail.send(`${id}.${webhookId}`, to, (language, stopUrl) =>
        messageOf(events, { language, webhookId, isDigest: digest !== null, publicUrl, names, own: { stopUrl } }),
      )
      // Not its answer: that names the address.
      const { delivered, response_code, isRefused = false, isContentRefused = false, left } = attempt
      if (isRefused) await onRefused(to)
      // Administrators read the error, and the address is the user's own affair.
      const isOfAddress = isRefused || left !== undefined
      const error = isOfAddress ? `not taken for the user (${response_code})` : attempt.error
      // A server that refuses one address, or what one message says, works.
      return { delivered, response_code, error, isRefused, isTakenForSome: isOfAddress || isContentRefused }
    },
  }
}

/** An attempt that did not begin. */
export const notSent = (error: string): Attempt => ({ delivered: false, response_code: null, error })
