import { RESERVATION_STATE_LABELS, STATUS_LABELS } from '../components/badge.tsx'
import { type IconName, isIconName } from '../components/icon.tsx'
import { quotaName } from '../components/quota-labels.ts'
import { countryName, formatTimestamp, formatWeekday } from '../formats.ts'
import { blockUrl, messageUrl, type NamedUser, userText } from '../model/addresses.ts'
import { countriesLike, dialedCountryLabel } from '../model/countries.ts'
import { denialsUrl } from '../model/denial-filters.ts'
import { addDays, dayOf, startOfDay } from '../model/local-time.ts'
import { spokenDays } from '../model/spoken-days.ts'
import { destinationOf } from '../model/webhook.ts'
import type { PageEntry } from '../pages.tsx'
import type { Found } from '../queries/search.ts'
import { recentOf } from '../session/recent.ts'
import { may } from '../session/rights.ts'
import { type Caller, signOut } from '../session/session.ts'
import { chooseLanguage, LANGUAGE_TAGS, LANGUAGES, language } from '../texts/language.ts'
import { texts } from '../texts/texts.ts'

/** Something that the search can open or do. */
export interface Option {
  /** Unique in the list. */
  key: string
  icon: IconName
  label: string
  /** Other words that find it. */
  words?: string | undefined
  about?: string
  /** Where it leads, or what it does. */
  target: string | (() => void)
  /** Whether it is offered again later. */
  isKept?: boolean
}

export interface OptionGroup {
  label: string
  options: Option[]
  /** Shown beside the label. */
  note?: string | undefined
}

/** Hits that are shown of each kind; more are found by typing more. */
const MAX_SHOWN = 6
/** Each has several options. */
const MAX_COUNTRIES = 3

/** What matches the text: pages and actions by their names, and what the service found. Without a text, recent ones. */
export function groupsFor(
  text: string,
  found: Found | undefined,
  caller: Caller,
  pages: readonly PageEntry[],
): OptionGroup[] {
  const { groups } = texts.search
  const here = text.toLocaleLowerCase()
  const matching = (options: Option[]) =>
    options.filter(({ label, words = '' }) => `${label} ${words}`.toLocaleLowerCase().includes(here))
  const countries = countriesLike(text).slice(0, MAX_COUNTRIES)
  const all = [
    ...(text === '' ? [{ label: groups.recent, options: recentOptions(caller) }] : []),
    { label: groups.pages, options: matching(pageOptions(pages)) },
    { label: groups.actions, options: matching(actionOptions(caller)) },
    ...(found === undefined || text === '' ? [] : hitGroups(found, caller)),
    {
      label: groups.countries,
      options: [...dayOptions(text), ...countries.flatMap(code => countryOptions(code, caller))],
    },
  ]
  return all.filter(({ options, note }) => options.length > 0 || note !== undefined)
}

function recentOptions({ subject }: Caller): Option[] {
  return recentOf(subject).map(({ href, icon, label }) => ({
    key: `recent ${href}`,
    icon: isIconName(icon) ? icon : 'search',
    label,
    target: href,
    isKept: true,
  }))
}

const WORDS: Readonly<Record<string, string>> = texts.search.words

function pageOptions(pages: readonly PageEntry[]): Option[] {
  return pages.flatMap(({ path, label, icon }) =>
    label === undefined ? [] : [{ key: path, icon: icon ?? 'docs', label, words: WORDS[path], target: path }],
  )
}

function actionOptions(caller: Caller): Option[] {
  const { actions } = texts.search
  const changes: Option[] = [
    { key: 'new quota', icon: 'plus', label: actions.newQuota, target: '/quotas/new' },
    { key: 'new plan', icon: 'plus', label: actions.newPlan, target: '/plans/new' },
    { key: 'start', icon: 'start', label: texts.start.title, target: '/start' },
    { key: 'new webhook', icon: 'plus', label: actions.newWebhook, target: '/webhooks/new' },
  ]
  const languages = LANGUAGE_TAGS.filter(tag => tag !== language).map(
    (tag): Option => ({
      key: `language ${tag}`,
      icon: 'language',
      label: actions.language(LANGUAGES[tag]),
      target: () => chooseLanguage(tag),
    }),
  )
  return [
    ...(may(caller, 'change') ? changes : []),
    { key: 'docs', icon: 'docs', label: texts.shell.account.docs, target: () => location.assign('/docs') },
    ...languages,
    { key: 'sign out', icon: 'signOut', label: texts.shell.account.signOut, target: signOut },
  ]
}

/** The messages to a country on a day, as in "France last Tuesday". The day is one of the user's time zone. */
function dayOptions(text: string): Option[] {
  const today = dayOf(new Date().toISOString())
  return spokenDays(text, today).flatMap(({ day, rest }) => {
    const [from, to] = [startOfDay(day), startOfDay(addDays(day, 1))]
    return countriesLike(rest)
      .slice(0, MAX_COUNTRIES)
      .map((country): Option => {
        const target = `/messages?${new URLSearchParams({ country, from, to })}`
        const label = texts.search.countries.messagesOn(countryName(country), formatWeekday(from))
        return { key: target, icon: 'message', label, target }
      })
  })
}

/** What is known of messages to a country, and the way to a block of it. */
function countryOptions(country: string, caller: Caller): Option[] {
  const { sendersTo, denialsTo, quotasFor, block } = texts.search.countries
  const name = dialedCountryLabel(country)
  const options: Option[] = [
    { key: `senders ${country}`, icon: 'user', label: sendersTo(name), target: `/overview?who=${country}` },
    { key: `denials ${country}`, icon: 'denials', label: denialsTo(name), target: denialsUrl({ country }) },
    { key: `quotas ${country}`, icon: 'quotas', label: quotasFor(name), target: `/quotas?country=${country}` },
  ]
  if (may(caller, 'change')) {
    const target = blockUrl({ countries: country })
    options.push({ key: `block ${country}`, icon: 'cap', label: block(name), target })
  }
  return options
}

function hitGroups(found: Found, caller: Caller): OptionGroup[] {
  const { groups, hits, more } = texts.search
  const { has_more } = found
  const noteOf = (count: number, hasMore: boolean) => (count > MAX_SHOWN || hasMore ? more : undefined)
  return [
    {
      label: groups.users,
      options: [...found.users.slice(0, MAX_SHOWN).map(userOption), ...firstQuotaOption(found.unknownUser, caller)],
      note:
        found.unknownUser === null ? noteOf(found.users.length, has_more.users) : hits.unknownUser(found.unknownUser),
    },
    {
      label: groups.quotas,
      options: found.quotas.slice(0, MAX_SHOWN).map(quotaOption),
      note: noteOf(found.quotas.length, has_more.quotas),
    },
    {
      label: groups.messages,
      options: [...found.denials.map(denialOption), ...found.reservations.map(messageOption)].slice(0, MAX_SHOWN),
      note: noteOf(found.denials.length + found.reservations.length, has_more.reservations),
    },
    {
      label: groups.plans,
      options: found.plans.slice(0, MAX_SHOWN).map(planOption),
      note: noteOf(found.plans.length, has_more.plans),
    },
    {
      label: groups.webhooks,
      options: found.webhooks.slice(0, MAX_SHOWN).map(webhookOption),
      note: noteOf(found.webhooks.length, has_more.webhooks),
    },
  ]
}

/** For a user that the service does not know yet. */
function firstQuotaOption(user_id: number | null, caller: Caller): Option[] {
  if (user_id === null || !may(caller, 'change')) return []
  const target = `/quotas/new?user_id=${user_id}`
  return [{ key: target, icon: 'plus', label: texts.search.actions.newQuotaFor(user_id), target }]
}

const textOf = (user: NamedUser) => userText(user, texts.search.hits.user(user.user_id))

function userOption(user: Found['users'][number]): Option {
  const { user_id, user_ref = null, quotas } = user
  const target = `/users/${user_id}`
  const about = [...(user_ref === null ? [] : [user_ref]), texts.search.hits.quotas(quotas)].join(' · ')
  return { key: target, icon: 'user', label: textOf(user), about, target, isKept: true }
}

function quotaOption(quota: Found['quotas'][number]): Option {
  const { id, kind, external_ref, status } = quota
  const about = [texts.values.kinds[kind], textOf(quota), STATUS_LABELS[status]]
  if (external_ref !== null) about.push(external_ref)
  const target = `/quotas/${id}`
  return { key: target, icon: kind, label: quotaName(quota), about: about.join(' · '), target, isKept: true }
}

function denialOption({ id, at, ...user }: Found['denials'][number]): Option {
  const target = messageUrl({ user_id: user.user_id, isOwn: false }, id)
  const about = [textOf(user), texts.search.hits.denied, formatTimestamp(at)].join(' · ')
  return { key: target, icon: 'denials', label: id, about, target, isKept: true }
}

function messageOption({ id, state, units, created_at, ...user }: Found['reservations'][number]): Option {
  const target = messageUrl({ user_id: user.user_id, isOwn: false }, id)
  const about = [textOf(user), RESERVATION_STATE_LABELS[state], texts.values.units(units), formatTimestamp(created_at)]
  return { key: target, icon: 'message', label: id, about: about.join(' · '), target, isKept: true }
}

function planOption({ id, name, version, is_default }: Found['plans'][number]): Option {
  const { plan, defaultPlan } = texts.search.hits
  const target = `/plans/${id}`
  const about = [plan(version), ...(is_default ? [defaultPlan] : [])].join(' · ')
  return { key: target, icon: 'plans', label: name, about, target, isKept: true }
}

function webhookOption(webhook: Found['webhooks'][number]): Option {
  const target = `/webhooks/${webhook.id}`
  const about = destinationOf(webhook)
  return { key: target, icon: 'webhooks', label: webhook.description ?? about, about, target, isKept: true }
}
