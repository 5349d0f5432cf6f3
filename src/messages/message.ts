/** Makes messages for people of events: what happened, whose it is, the figures, and what to do. */
import { Temporal } from 'temporal-polyfill'
import { INTERNATIONAL } from '../domain/country.ts'
import { UNSEEN } from '../domain/principal-name.ts'
import type { EpochMs } from '../domain/time.ts'
import type { MessageLanguage } from '../domain/webhook.ts'
import { timeZoneName } from '../domain/window.ts'
import { type DataOf, FACTS, type Fact, isDataOf, isMessageType, type MessageType, PATHS } from './facts.ts'
import { english, type Texts, type Words } from './texts.ts'
import { german } from './texts-de.ts'

/** A message, not yet in the format of a kind. Its texts are of one line each, and hold no control characters and no marks of direction. */
export interface Message {
  title: string
  facts: readonly (readonly [label: string, value: string])[]
  /** Titles of the events that a message about many lists. */
  list: readonly string[]
  advice: string | null
  link: { label: string; url: string } | null
  footer: string
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

/** What messages need beside the events. */
export interface MessageContext {
  language: MessageLanguage
  webhookId: number
  /** Whether its messages go out once a day. */
  isDigest: boolean
  /** The address of the service, without a slash at its end. Null: messages have no links. */
  publicUrl: string | null
  names: ReadonlyMap<number, { user_ref: string | null; user_name: string | null }>
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
  const rest = { list: [], link: null, footer: footerOf(at, context) }
  const user = user_id === null ? [] : [[texts.labels.user, userOf(user_id, context, true)] as const]
  if (!isMessageType(type) || !isDataOf(type, data)) {
    return { title: texts.unknown(type, words), facts: user, advice: null, ...rest }
  }
  const facts = factsOf(type, data).flatMap(([label, value]) =>
    value === null ? [] : [[texts.labels[label], written(value, context.language)] as const],
  )
  const path = pathOf(type, data, user_id)
  return {
    ...rest,
    title: titleOf(texts, type, data, words),
    facts: [...user, ...facts],
    advice: adviceOf(texts, type, data),
    link: linkTo(path, context),
  }
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
  const latest = Math.max(0, ...first.map(({ at }) => at))
  return {
    title: (context.isDigest ? texts.many.digest : texts.many.title)(number(total)),
    facts: counts.map(({ type, count }) => [isMessageType(type) ? texts.types[type] : type, number(count)]),
    list: more > 0 ? [...list, texts.many.more(number(more))] : list,
    advice: context.isDigest ? null : texts.many.advice,
    link: linkTo(`/webhooks/${context.webhookId}`, context),
    footer: footerOf(latest, context),
  }
}

/* The compiler follows one type at a time, so each table is read by a function of its own. */
const factsOf = <Name extends MessageType>(type: Name, data: DataOf<Name>): Fact[] => FACTS[type](data)
const pathOf = <Name extends MessageType>(type: Name, data: DataOf<Name>, userId: number | null) =>
  PATHS[type](data, userId)
const titleOf = <Name extends MessageType>({ titles }: Texts, type: Name, data: DataOf<Name>, words: Words) =>
  titles[type](data, words)
const adviceOf = <Name extends MessageType>({ advice }: Texts, type: Name, data: DataOf<Name>) => advice[type](data)

function linkTo(path: string | null, { language, publicUrl }: MessageContext): Message['link'] {
  return path === null || publicUrl === null
    ? null
    : { label: TEXTS[language].open, url: `${publicUrl}/console${path}` }
}

const footerOf = (at: EpochMs, { language, webhookId }: MessageContext) =>
  TEXTS[language].footer(webhookId, timeText(new Date(at).toISOString(), 'UTC', language))

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

const localeOf = (language: MessageLanguage): Pick<Words, 'number' | 'country'> => ({
  number: value => new Intl.NumberFormat(language, { maximumFractionDigits: 0 }).format(value),
  country: code =>
    code === INTERNATIONAL
      ? TEXTS[language].international
      : (new Intl.DisplayNames(language, { type: 'region' }).of(code) ?? code),
})

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
function cleaned({ title, facts, list, advice, link, footer }: Message): Message {
  return {
    title: clean(title),
    facts: facts.map(([label, value]) => [label, clean(value)]),
    list: list.map(clean),
    advice,
    link,
    footer,
  }
}

function clean(text: string): string {
  return cut(
    text
      .replaceAll(UNSEEN, '')
      .replaceAll(/\p{Cc}+/gu, ' ')
      .trim(),
    MAX_TEXT,
  )
}

/** The beginning of a text. It does not end within a surrogate pair. */
export function cut(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, '')}…`
}
