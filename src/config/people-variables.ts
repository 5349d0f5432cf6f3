/** The rows of the table of variables for how the service and its operator reach people. */
import { maskUrl, parseHttpUrl, parsePublicUrl, parseSender, parseSmtpUrl, parseText, refuse } from './parse.ts'
import { flag, type Variable } from './variable.ts'

export const PEOPLE_VARIABLES = {
  SMTP_URL: {
    means:
      'the SMTP server that sends the e-mails of webhooks; beyond the local machine with TLS and a verified certificate, unless the URL of a private network says tls=off',
    accepts:
      'smtp://user:password@host:587 (STARTTLS), smtps://… (TLS from the beginning) or smtp://host:25?tls=off (no TLS: only a private address, or a name without a dot or below .internal, .local or .home.arpa), with special characters of the password percent-encoded',
    unset: 'webhooks of the kind email are refused',
    mask: maskUrl,
    secret: true,
    parse: parseSmtpUrl,
  },
  MAIL_FROM: {
    means: 'the sender of these e-mails',
    accepts: 'an address, or Name <address>, with ASCII letters before the @',
    unset: 'required with SMTP_URL',
    parse: parseSender,
  },
  PUBLIC_URL: {
    means: 'where people reach the service; messages of webhooks to people link to its console',
    accepts: 'an http or https URL without a user, a query and a fragment',
    unset: 'such messages have no links',
    parse: parsePublicUrl,
  },
  USER_NOTIFICATIONS: {
    means:
      'whether users may have messages about their own events sent to an e-mail address that they confirm; an administrator makes the webhook of the kind users that sends them',
    ...flag,
    accepts: 'true or false; true requires SMTP_URL, MAIL_FROM and PUBLIC_URL, and with DATABASE_URL SECRETS_KEY',
  },
  CONTACT_TEXT: {
    means: 'who helps users that cannot send or sign in, as the console tells them',
    accepts: 'a text of at most 200 characters without control characters',
    unset: 'the console says to ask an administrator',
    parse: (text: string) => (text.length > 200 ? refuse('is too long') : parseText(text)),
  },
  CONTACT_URL: {
    means: 'where they reach them; the console links to it',
    accepts: 'an http, https or mailto URL without a user',
    unset: 'there is no link',
    parse: (text: string) => (/^mailto:[^\s@]+@[^\s@]+$/i.test(text) ? text : parseHttpUrl(text)),
  },
} as const satisfies Record<string, Variable<unknown>>
