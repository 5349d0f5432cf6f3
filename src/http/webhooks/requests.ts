import { isOwnEventType, OWN_EVENT_TYPES, USUAL_OWN_EVENT_TYPES } from '../../domain/events/event.ts'
import { timeZoneName } from '../../domain/time/window.ts'
import {
  DESTINATIONS,
  type Digest,
  shortenedUrl,
  type Webhook,
  type WebhookKind,
} from '../../domain/webhooks/webhook.ts'
import { invalidRequest } from '../../errors.ts'
import { isPublicAddress, literalAddress } from '../../events/addresses.ts'
import type { RouteContext } from '../context.ts'

/** Where a webhook writes to, as a request names it. */
interface Named {
  url?: string
  addresses?: string[]
}

/** What is stored of it. What the request does not name is left out. */
interface Destination extends Named {
  /** The whole URL, where `url` is what may be shown of it. */
  secretUrl?: Uint8Array
}

/** The destination of a request. @throws Problem if it is not one of this kind, or cannot be reached */
export function destinationOf(
  kind: WebhookKind,
  { url, addresses }: Named,
  { allowPrivate, canMail }: Pick<RouteContext['webhooks'], 'allowPrivate' | 'canMail'>,
): Destination {
  const refuse = (path: string, message: string) => invalidRequest([{ path, message }])
  if (DESTINATIONS[kind] === null) {
    const [given] = Object.entries({ url, addresses }).flatMap(([name, value]) => (value === undefined ? [] : [name]))
    if (given !== undefined) throw refuse(`/${given}`, `is not for the kind ${kind}: each user confirms an address`)
    return {}
  }
  if (DESTINATIONS[kind] === 'addresses') {
    if (url !== undefined) throw refuse('/url', `is not for the kind ${kind}, which has addresses`)
    // Without an SMTP server, it can still be disabled.
    if (addresses === undefined) return {}
    if (!canMail) throw refuse('/kind', `${kind} needs the settings SMTP_URL and MAIL_FROM`)
    return { addresses }
  }
  if (addresses !== undefined) throw refuse('/addresses', `is not for the kind ${kind}, which has a url`)
  if (url === undefined) return {}
  checkUrl(url, allowPrivate)
  if (DESTINATIONS[kind] === 'url') return { url }
  // As it is shown, in the one spelling of a URL.
  if (/%E2%80%A6/i.test(new URL(url).href))
    throw refuse('/url', 'is a shortened one, which would replace the whole URL')
  return { url: shortenedUrl(url), secretUrl: Buffer.from(url) }
}

/** @throws Problem if a new webhook has no destination, or its kind is off */
export function requireDestination(
  kind: WebhookKind,
  { url, addresses }: Partial<Pick<Webhook, 'url' | 'addresses'>>,
  { userMail }: Pick<RouteContext['webhooks'], 'userMail'>,
): void {
  if (DESTINATIONS[kind] === null) {
    if (userMail === null)
      throw invalidRequest([{ path: '/kind', message: `${kind} needs the setting USER_NOTIFICATIONS` }])
    return
  }
  const name = DESTINATIONS[kind] === 'addresses' ? 'addresses' : 'url'
  if ((name === 'url' ? url : addresses) === undefined) {
    throw invalidRequest([{ path: `/${name}`, message: `is required for the kind ${kind}` }])
  }
}

/** The digest that a request names, its time zone in the one spelling. @throws Problem if a program were to get one */
export function digestOf(kind: WebhookKind | undefined, { digest }: { digest?: Digest | null }) {
  if (digest === undefined) return {}
  if (digest === null) return { digest }
  if (kind === 'webhook') {
    const message = 'must be null for the kind webhook: a program gets each event by itself, at once'
    throw invalidRequest([{ path: '/digest', message }])
  }
  const { hour, time_zone } = digest
  return { digest: { hour, time_zone: timeZoneName(time_zone) ?? time_zone } }
}

/** Refuses a private address now instead of at each delivery. A host name is checked when it is resolved. */
function checkUrl(url: string, allowPrivate: boolean): void {
  const literal = literalAddress(new URL(url))
  if (allowPrivate || literal === undefined || isPublicAddress(literal)) return
  const message =
    'must be an address of the public internet; the operator may allow private ones with WEBHOOK_ALLOW_PRIVATE=true'
  throw invalidRequest([{ path: '/url', message }])
}

/**
 * The event types of a request. Users get messages of some only: of the usual ones unless it names others.
 * @throws Problem if the kind gets no messages of one of them
 */
export function typesOf(
  kind: WebhookKind,
  given: string[] | null | undefined,
  isNew: boolean,
): Partial<Pick<Webhook, 'types'>> {
  if (kind !== 'users' || (given === undefined && !isNew)) return given === undefined ? {} : { types: given }
  if (given === undefined || given === null) return { types: [...USUAL_OWN_EVENT_TYPES] }
  const other = given.findIndex(type => !isOwnEventType(type))
  if (other < 0) return { types: given }
  const message = `must be one of ${OWN_EVENT_TYPES.join(', ')} for the kind ${kind}`
  throw invalidRequest([{ path: `/types/${other}`, message }])
}

export const webhookOf = (id?: number) => ({ what: 'webhook', id })
