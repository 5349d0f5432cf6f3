import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { MAX_PAGE_SIZE } from '../../../src/domain/basics/bounds.ts'
import { CONTINUES } from '../../../src/domain/forecasts/raised-cap.ts'
import type { Input } from '../api/operations.ts'
import { retryDelayOf } from '../api/problem.ts'
import type { Api } from '../api/types.ts'
import type { ViewedUser } from '../model/addresses.ts'
import { untilNextWindow } from '../model/next-window.ts'
import type { Sort } from '../model/quota-lists.ts'
import { type Raise, raisesOf, withMarks } from '../model/raised-cap.ts'
import { transferableUnits } from '../model/transfers.ts'
import { call } from '../session/client.ts'
import { consoleConfig } from '../session/console-config.ts'
import { texts } from '../texts/texts.ts'
import { every } from './calls.ts'

/** What is read of one user. Users read it on paths of their own, without naming themselves. */

type ListQuery = Input<'GET /quota/list'>['query']

async function listOfUser({ user_id, isOwn }: ViewedUser, query: ListQuery, signal: AbortSignal) {
  if (!isOwn) return call('GET /admin/quota/list', { query: { user_id, ...query }, signal })
  const page = await call('GET /quota/list', { query, signal })
  return { ...page, items: withMarks(page.items) }
}

/** How often summary and quotas are read again: caps reset and others send. Nothing is read while the tab is hidden. */
export const SUMMARY_MS = 30_000

/** Whether the user can send, and what is left. */
export function summaryQuery({ user_id, isOwn }: ViewedUser) {
  return queryOptions({
    queryKey: ['GET /quota/summary', { user_id, isOwn }],
    queryFn: ({ signal }) =>
      isOwn ? call('GET /quota/summary', { signal }) : call('GET /admin/quota/summary', { query: { user_id }, signal }),
    refetchInterval: every(SUMMARY_MS),
  })
}

/** A page of the user's quotas, including expired ones. */
export function userQuotasQuery(user: ViewedUser, page: { sort: Sort; page: number; page_size: number }) {
  return queryOptions({
    queryKey: ['GET /quota/list', user, page],
    queryFn: ({ signal }) => listOfUser(user, page, signal),
    // Keeps the previous rows until the next page is loaded.
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data, error } }) =>
      retryDelayOf(error) ?? Math.min(SUMMARY_MS, untilNextWindow(data?.items ?? [], Date.now()) || SUMMARY_MS),
    // The list of one user always has a total.
    select: ({ items, total }) => ({ items, total: total ?? 0 }),
  })
}

const EMPTY: ReadonlyMap<number, string> = new Map()

/** Labels of the user's newest quotas by id, at most one page: their names, or what stands for one. */
export function quotaLabelsQuery(user: ViewedUser) {
  return queryOptions({
    ...newestQuotasQuery(user),
    select: ({ items }) =>
      new Map(items.map(({ id, kind, name }) => [id, name ?? texts.values.unnamed(kind, id, user.isOwn)])),
  })
}

/** Names of the user's newest quotas by id, at most one page; without those that have none. Empty until loaded. */
export function useQuotaNames(user: ViewedUser, enabled = true): ReadonlyMap<number, string> {
  const { data = EMPTY } = useQuery({ ...newestQuotasQuery(user), select: namesOf, enabled })
  return data
}

export type Raises = ReadonlyMap<number, Raise>

const NO_RAISES: Raises = new Map()

/** The raises of caps that end with the current window, by the id of the cap. Read as often as the summary that shows the caps. */
export function useRaises(user: ViewedUser, summary: Api['QuotaSummary'] | undefined): Raises {
  const enabled = summary !== undefined && summary.caps.length > 0
  const query = { ...newestQuotasQuery(user), select: raisesOf, enabled, refetchInterval: SUMMARY_MS }
  const { data = NO_RAISES } = useQuery(query)
  return data
}

const NO_FOLLOWING: ReadonlyMap<number, string> = new Map()

/** When the caps start that follow raised ones, by their id. */
export function useFollowingCaps(user: ViewedUser): ReadonlyMap<number, string> {
  const { data = NO_FOLLOWING } = useQuery({ ...newestQuotasQuery(user), select: followingOf })
  return data
}

function followingOf({ items }: Api['QuotaPage']): ReadonlyMap<number, string> {
  const following = items.filter(({ status, metadata }) => status === 'scheduled' && CONTINUES in metadata)
  return new Map(following.map(({ id, starts_at }) => [id, starts_at] as const))
}

/** Those of the user's newest quotas, at most one page, whose units can be handed on. */
export function givingGrantsQuery(user: ViewedUser) {
  return queryOptions({
    ...newestQuotasQuery(user),
    select: ({ items }) => items.filter(quota => (transferableUnits(quota) ?? 0) > 0),
  })
}

/** The newest quotas of a user, as many as one page holds. */
export function newestQuotasQuery(user: ViewedUser) {
  const query = { page_size: MAX_PAGE_SIZE }
  return queryOptions({
    queryKey: ['GET /quota/list', user, query],
    queryFn: ({ signal }) => listOfUser(user, query, signal),
  })
}

function namesOf({ items }: Api['QuotaPage']): ReadonlyMap<number, string> {
  return new Map(items.flatMap(({ id, name }) => (name === null ? [] : [[id, name] as const])))
}

/** How often messages and denials are read again: others send. Nothing is read while the tab is hidden. */
const MESSAGES_MS = 10_000

/** The refetch interval of messages and denials. */
export const messagesInterval = every(MESSAGES_MS)

/** A page of the user's reservations, newest first. */
export function reservationsQuery(
  { user_id, isOwn }: ViewedUser,
  query: NonNullable<Input<'GET /quota/reservations'>['query']>,
) {
  return queryOptions({
    queryKey: ['GET /quota/reservations', { user_id, isOwn }, query],
    queryFn: ({ signal }) =>
      isOwn
        ? call('GET /quota/reservations', { query, signal })
        : call('GET /admin/quota/reservations', { query: { user_id, ...query }, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: messagesInterval,
  })
}

/** A message that might be sent. */
export interface PlannedMessage {
  user_id: number
  /** Its segments, or the units that are asked for. */
  units: number
  /** Whether the units are segments of a text, which a rate card may price. */
  isText: boolean
  country: string | null
  /** Caps on each recipient count it. */
  number: string | null
  /** Whether the number may belong to several countries: caps on each of them count it. */
  isShared: boolean
  /** Caps on each tag count it. */
  tag: string | null
  message_type: string | null
}

export type CheckAnswer = Api['Grantable'] | Api['Denied']

/**
 * Whether a message would be sent. Nothing is reserved. It is asked again with each new summary, so that the answer and what
 * the page shows of the user agree.
 *
 * @param message null asks nothing
 */
export function useCheck(user: ViewedUser, message: PlannedMessage | null) {
  const { dataUpdatedAt } = useQuery(summaryQuery(user))
  return useQuery({
    queryKey: ['POST /admin/quota/check', message, dataUpdatedAt],
    queryFn: ({ signal }) => (message === null ? null : check(message, signal)),
    enabled: message !== null,
    // The answer to this message stays until the next one is there.
    placeholderData: (answer, previous) => (previous?.queryKey[1] === message ? answer : undefined),
    gcTime: 0,
  })
}

/** A text of that many segments, as the service counts them. */
async function textOf(segments: number): Promise<string> {
  const { referenceBits } = (await consoleConfig()).segments
  const septets = referenceBits === 8 ? 153 : 152
  return 'x'.repeat(segments === 1 ? 1 : septets * segments)
}

async function check(message: PlannedMessage, signal: AbortSignal): Promise<CheckAnswer> {
  const { user_id, units, isText, country, number, isShared, tag, message_type } = message
  const named = { user_id, ...(tag === null ? {} : { tag }), ...(message_type === null ? {} : { message_type }) }
  const ask = (body: Input<'POST /admin/quota/check'>['body']) => call('POST /admin/quota/check', { body, signal })
  const recipient = number === null ? {} : { recipient: number }
  const plain = { ...named, units, ...recipient, ...(country === null ? {} : { country }) }
  if (number === null || !(isText || isShared)) return ask(plain)
  // The text itself stays in the browser.
  const answer = await ask({ ...named, message: { to: number, text: await textOf(units) } })
  // The price is that of segments, which such units are not.
  return isText || answer.rate == null ? answer : ask(plain)
}
