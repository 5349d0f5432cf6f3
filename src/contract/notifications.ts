import Type, { type Static, type TSchema } from 'typebox'
import { ADDRESS_STATUSES, MAX_LINKS_PER_HOUR } from '../domain/users/user-address.ts'
import { MESSAGE_LANGUAGES } from '../domain/webhooks/webhook.ts'
import { closed, nullable, patterned, time } from './schemas.ts'

/** Messages to users about their own events: the address, and the links that confirm it and take it back. */

const language = Type.Enum([...MESSAGE_LANGUAGES], { description: 'The language of the messages.', examples: ['en'] })

export const NotificationsReq = Type.Object(
  {
    email: Type.String({
      format: 'email-address',
      maxLength: 254,
      description: 'Where the messages go, once the link in the first one is followed.',
      examples: ['ann@example.com'],
    }),
    language: Type.Optional(Type.With(language, { default: 'en' })),
  },
  {
    $id: 'NotificationsReq',
    ...closed,
    description: `An address replaces the one before at once. Of a confirmed address only the language changes; any other is sent a link, at most ${MAX_LINKS_PER_HOUR} in the hour that begins with the first, for each user and for each address; what follows a \`+\` before the @ makes no other address.`,
    examples: [{ email: 'ann@example.com', language: 'en' }],
  },
)

export const Notifications = Type.Object(
  {
    status: Type.Enum([...ADDRESS_STATUSES], {
      description:
        '`off`: the service sends users no messages. `none`: there is no address. `pending`: the link that was sent to it is not followed yet. `confirmed`: messages go there. `refused`: its mail server refused a message for good, so none goes there until it is confirmed again.',
    }),
    email: nullable(Type.String(), { examples: ['ann@example.com'] }),
    profile_email: nullable(Type.String(), {
      description:
        'The address in the profile of the user, which a form may begin with. No message goes there by itself.',
      examples: [null],
    }),
    language: nullable(language),
    confirmed_at: nullable(time()),
    refused_at: nullable(time(), { examples: [null] }),
  },
  { $id: 'Notifications', description: 'Where a user has messages about their own events sent to.' },
)

const code = patterned('addressCode', { description: 'What follows `#` in the link.' })

export const NotificationCodeReq = Type.Object(
  { code },
  {
    $id: 'NotificationCodeReq',
    ...closed,
    description: 'The link of a message.',
    examples: [{ code: '7.4711.K7gNU3sdo-OL0wNhqoVWhr3g6s1xYv72ol_pe_Unols' }],
  },
)

export const NotificationCodeParams = Type.Object({ code })

/** The named schemas of the OpenAPI document, by `$id`. */
export const NOTIFICATION_COMPONENTS = {
  NotificationsReq,
  Notifications,
  NotificationCodeReq,
} satisfies Record<string, TSchema>

export type Notifications = Static<typeof Notifications>
