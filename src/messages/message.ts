/** Makes messages for people of events: what happened, whose it is, the figures, and what to do. */
import { Temporal } from 'temporal-polyfill'
import { UNSEEN } from '../domain/basics/invisible.ts'
import { isOwnEventType, type OwnEventType } from '../domain/events/event.ts'
import { exceptionsOf, INTERNATIONAL } from '../domain/messages/country.ts'
import type { EpochMs } from '../domain/time/time.ts'
import { timeZoneName } from '../domain/time/window.ts'
import type { MessageLanguage } from '../domain/webhooks/webhook.ts'
import { type DataOf, FACTS, type Fact, isDataOf, isMessageType, type MessageType, OWN_FACTS, PATHS } from './facts.ts'
import { english, type Texts, type Words } from './texts.ts'
import { german } from './texts-de.ts'

/**
 * A message, not yet in the format of a kind. Its texts are of one line each, and hold no control characters, no marks of direction and nothing
 * that programs make a link of.
 */
export interface Message {
  title: string
  facts: readonly (readonly [label: string, value: string])[]
  /** Titles of the events that a message about many lists. */
  list: readonly string[]
  advice: string | null
  link: Link | null
  footer: string
  /** Ends the messages. Null: they are for administrators, who have the console for it. */
  stop: Link | null
}

interface Link {
  label: string
  url: string
}

/** An event as a message needs it. */
export interface MessageEvent {
  type: string
  at: EpochMs
  user_id: number | null
  data: object
}

/** The events that one message is about: the first, in full, and how many there are of each type. */
export interface MessageEvents {
  first: readonly MessageEvent[]
  counts: readonly { type: string; count: number }[]
}

/** The facts that messages need beside the events. */
export interface MessageContext {
  language: MessageLanguage
  webhookId: number
  /** Whether its messages go out once a day. */
  isDigest: boolean
  /** The address of the service, without a slash at its end. Null: messages have no links. */
  publicUrl: string | null
  names: ReadonlyMap<number, { user_ref: string | null; user_name: string | null }>
  /** The message is for the user whose events they are, who ends such messages there. Left out: it is for administrators. */
  own?: { stopUrl: string }
}

/** Titles that a message about many events lists. */
export const MAX_LISTED = 10

/** Of one text of a message: a name has at most 120 characters, a reason 500. */
const MAX_TEXT = 300

const TEXTS: Readonly<Record<MessageLanguage, Texts>> = { en: english, de: german }

export function messageOf({ first, counts }: MessageEvents, context: MessageContext): Message {
  const total = counts.reduce((sum, { count }) => sum + count, 0)
  const [event] = first
  return cleaned(
    total === 1 && event !== undefined ? messageOfOne(event, context) : ofMany(first, counts, total, context),
  )
}

function messageOfOne(event: MessageEvent, context: MessageContext): Message {
  const { type, user_id, data, at } = event
  const texts = TEXTS[context.language]
  const words = wordsFor(event, context)
  const rest = { list: [], link: null, footer: footerOf(at, context), stop: stopOf(context) }
  if (context.own !== undefined && isOwnEventType(type) && isDataOf(type, data))
    return { ...rest, ...ownParts(type, data, words, context) }
  const user = user_id === null ? [] : [[texts.labels.user, userOf(user_id, context, true)] as const]
  if (!isMessageType(type) || !isDataOf(type, data)) {
    return { title: texts.unknown(type, words), facts: user, advice: null, ...rest }
  }
  const facts = writtenFacts(factsOf(type, data), texts.labels, context.language)
  const path = pathOf(type, data, user_id)
  return {
    ...rest,
    title: titleOf(texts, type, data, words),
    facts: [...user, ...facts],
    advice: adviceOf(texts, type, data),
    link: linkTo(path, context),
  }
}

/** What is of a user's own event. */
function ownParts<Name extends OwnEventType>(type: Name, data: DataOf<Name>, words: Words, context: MessageContext) {
  const { own, labels } = TEXTS[context.language]
  return {
    title: own.titles[type](data, words),
    facts: writtenFacts(OWN_FACTS[type](data), labels, context.language),
    advice: adviceOf(own, type, data),
    link: linkTo(OWN_PATH, context),
  }
}

/** The page of the console for a user's own quotas. */
const OWN_PATH = '/mine'

/** The message with the link that confirms the address of a user. */
export function confirmationOf(language: MessageLanguage, url: string): Message {
  const { title, advice, link, footer } = TEXTS[language].own.confirm
  return { title, facts: [], list: [], advice, link: { label: link, url }, footer, stop: null }
}

function ofMany(
  first: readonly MessageEvent[],
  counts: MessageEvents['counts'],
  total: number,
  context: MessageContext,
): Message {
  const texts = TEXTS[context.language]
  const { number } = localeOf(context.language)
  const list = first.slice(0, MAX_LISTED).map(event => messageOfOne(event, context).title)
  const more = total - list.length
  const titles = context.own !== undefined ? texts.own.many : context.isDigest ? texts.many.digest : texts.many.title
  const latest = Math.max(0, ...first.map(({ at }) => at))
  return {
    title: titles(number(total)),
    facts: counts.map(({ type, count }) => [isMessageType(type) ? texts.types[type] : type, number(count)]),
    list: more > 0 ? [...list, texts.many.more(number(more))] : list,
    advice: context.isDigest || context.own !== undefined ? null : texts.many.advice,
    link: linkTo(context.own === undefined ? `/webhooks/${context.webhookId}` : OWN_PATH, context),
    footer: footerOf(latest, context),
    stop: stopOf(context),
  }
}

const writtenFacts = (facts: readonly Fact[], labels: Texts['labels'], language: MessageLanguage) =>
  facts.flatMap(([label, value]) => (value === null ? [] : [[labels[label], written(value, language)] as const]))

/* The compiler follows one type at a time, so each table is read by a function of its own. */
const factsOf = <Name extends MessageType>(type: Name, data: DataOf<Name>): Fact[] => FACTS[type](data)
const pathOf = <Name extends MessageType>(type: Name, data: DataOf<Name>, userId: number | null) =>
  PATHS[type](data, userId)
const titleOf = <Name extends MessageType>({ titles }: Texts, type: Name, data: DataOf<Name>, words: Words) =>
  titles[type](data, words)
type Advice = { readonly [Name in MessageType]?: (data: DataOf<Name>) => string | null }
const adviceOf = <Name extends MessageType>({ advice }: { advice: Advice }, type: Name, data: DataOf<Name>) =>
  advice[type]?.(data) ?? null

function linkTo(path: string | null, { language, publicUrl, own }: MessageContext): Message['link'] {
  const texts = TEXTS[language]
  return path === null || publicUrl === null
    ? null
    : { label: own === undefined ? texts.open : texts.own.open, url: `${publicUrl}/console${path}` }
}

function footerOf(at: EpochMs, { language, webhookId, own }: MessageContext): string {
  const time = timeText(new Date(at).toISOString(), 'UTC', language)
  return own === undefined ? TEXTS[language].footer(webhookId, time) : TEXTS[language].own.footer(time)
}

const stopOf = ({ language, own }: MessageContext): Message['stop'] =>
  own === undefined ? null : { label: TEXTS[language].own.stop, url: own.stopUrl }

/** A user by name, else by reference, else by id. Where there is room, by all of them. */
function userOf(id: number, { language, names }: MessageContext, isWhole = false): string {
  const { user_name = null, user_ref = null } = names.get(id) ?? {}
  const byId = TEXTS[language].nameOfUser(id)
  const known = [user_name, user_ref, byId].filter(name => name !== null)
  return isWhole ? known.join(', ') : (known[0] ?? byId)
}

function wordsFor({ user_id }: MessageEvent, context: MessageContext): Words {
  const user = user_id === null ? TEXTS[context.language].allUsers : userOf(user_id, context)
  return { user, ...localeOf(context.language) }
}

/** Countries that are named. Of more, their number says as much. */
const MAX_NAMED = 3

function localeOf(language: MessageLanguage): Omit<Words, 'user'> {
  const { international, allBut, manyCountries } = TEXTS[language]
  const number = (value: number) => new Intl.NumberFormat(language, { maximumFractionDigits: 0 }).format(value)
  const names = new Intl.DisplayNames(language, { type: 'region' })
  const country = (code: string) => (code === INTERNATIONAL ? international : (names.of(code) ?? code))
  const list = (words: readonly string[]) => new Intl.ListFormat(language).format(words)
  const named = (codes: readonly string[]) =>
    codes.length > MAX_NAMED ? manyCountries(number(codes.length)) : list(codes.map(country))
  return {
    ...{ number, country, list },
    countries(codes) {
      const others = exceptionsOf(codes)
      return others === null || others.length === 0 ? named(codes) : allBut(named(others))
    },
  }
}

function written(value: NonNullable<Fact[1]>, language: MessageLanguage): string {
  if (typeof value === 'string') return value
  return typeof value === 'number' ? localeOf(language).number(value) : timeText(value.time, value.zone, language)
}

/** A time to the minute, with its zone. Written by hand: what `Intl` makes differs between versions of Node.js. */
function timeText(time: string, asked: string, language: MessageLanguage): string {
  // A process beside this one may know more zones.
  const zone = timeZoneName(asked) ?? 'UTC'
  const { year, month, day, hour, minute } = Temporal.Instant.from(time).toZonedDateTimeISO(zone)
  const [mm, dd, hours, minutes] = [month, day, hour, minute].map(part => String(part).padStart(2, '0'))
  const date = language === 'de' ? `${dd}.${mm}.${year}` : `${year}-${mm}-${dd}`
  return `${date} ${hours}:${minutes} (${zone})`
}

/** The message with its texts as `Message` promises. Names and reasons are others' texts. */
function cleaned({ title, facts, list, ...others }: Message): Message {
  return {
    title: clean(title),
    facts: facts.map(([label, value]) => [label, clean(value)]),
    list: list.map(clean),
    ...others,
  }
}

function clean(text: string): string {
  const seen = text.replaceAll(UNSEEN, '').replaceAll(/\p{Cc}+/gu, ' ')
  return cut(unlinked(seen).trim(), MAX_TEXT)
}

const OCTET = '(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)'
/** The dots before the last parts of host names and of IPv4 addresses. */
const DOT = new RegExp(
  `(?<=[^\\s.])[.。．｡](?=\\p{L}[\\p{L}\\p{M}\\p{N}-])|(?<=(?<!\\d\\.?)(?:${OCTET}\\.){2}${OCTET})\\.(?=${OCTET}(?!\\.?\\d))`,
  'gu',
)

/**
 * A text of which no program makes a link, as mail programs, Slack and Teams do of bare addresses: a customer's reason, beside the link to the
 * console, would lead an administrator who is asked to approve elsewhere. It is written as warnings write it: `https[:]//evil[.]example`.
 */
function unlinked(text: string): string {
  return text
    .replaceAll(DOT, '[.]')
    .replaceAll(/:(?=\/\/)|(?<=\p{L}):(?=\S)/gu, '[:]')
    .replaceAll(/\\{2,}/g, '[$&]')
}

/** The beginning of a text. It does not end within a surrogate pair. */
export function cut(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, '')}…`
}
