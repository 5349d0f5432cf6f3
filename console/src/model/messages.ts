import { RESERVATION_STATES } from '../../../src/domain/units/reservation.ts'
import type { Api } from '../api/types.ts'
import { DENIALS_STATE, FILTERS } from './denial-filters.ts'
import { matching, oneOf, type Readers, type StateOf } from './url-parameters.ts'

/** The messages of all users: two lists of the service, reservations and denials, as one. */

/** What became of a message. */
export const MESSAGE_STATES = [...RESERVATION_STATES, 'denied'] as const
export type MessageState = (typeof MESSAGE_STATES)[number]

/** The filters, named like the API parameters. */
export const MESSAGE_FILTERS = { state: oneOf(MESSAGE_STATES, null), ...FILTERS } satisfies Readers
export type MessageFilters = StateOf<typeof MESSAGE_FILTERS>

/** URL state of the list. `denial` is the one whose explanation is open, so that a link can lead to it. */
export const MESSAGES_STATE = {
  ...MESSAGE_FILTERS,
  cursor: matching(/^\d{1,15}\.[\w-]{0,5000}\.[\w-]{0,5000}$/),
  denial: DENIALS_STATE.denial,
}
export type MessagesState = StateOf<typeof MESSAGES_STATE>

/** Which of the two lists the filters select from. Some say something of denials only. */
export function listsOf({ state, reason, id, without }: MessageFilters): { sent: boolean; denied: boolean } {
  const isOfDenial = reason !== null || id !== null || without !== null
  return {
    sent: state !== 'denied' && !isOfDenial,
    denied: state === null || state === 'denied',
  }
}

/* ── Pages ──────────────────────────────────────────────────────────────────────────────────────────────────────── */

/** A message: what was reserved or sent for it, or a denial. */
export type Message =
  | { kind: 'sent'; at: string; record: Api['ReservationRecord'] }
  | { kind: 'denied'; at: string; record: Api['DenialRecord'] }

export const stateOf = ({ kind, record }: Message): MessageState => (kind === 'sent' ? record.state : 'denied')

/** A page of one of the two lists, newest first. */
export interface Part<Row> {
  items: readonly Row[]
  next_cursor: string | null
  /** How far back it was read; null: to its end. */
  scanned_until: string | null
}

/** A list from which nothing is selected. */
export const NOTHING: Part<never> = { items: [], next_cursor: null, scanned_until: null }

/**
 * Where a page begins. A list that was read no further back than shown goes on by its cursor; one that was read further back is read again, from what
 * is older than `before`.
 */
export interface Place {
  before: string
  sent: string | null
  denied: string | null
}

/** Messages, newest first, and where the next page begins; null on the last. */
export interface MessagePage {
  rows: Message[]
  next: Place | null
}

/** What two pages show together: each message that is newer than both of them have been read, and none twice. */
export function mergedPage(sent: Part<Api['ReservationRecord']>, denied: Part<Api['DenialRecord']>): MessagePage {
  const untils = [sent, denied].flatMap(({ scanned_until }) => scanned_until ?? [])
  const until = untils.toSorted().at(-1) ?? null
  const messages: Message[] = [
    ...sent.items.map(record => ({ kind: 'sent' as const, at: record.created_at, record })),
    ...denied.items.map(record => ({ kind: 'denied' as const, at: record.at, record })),
  ]
  const rows = messages
    .filter(({ at }) => until === null || at >= until)
    .toSorted((one, other) => Number(one.at < other.at) - Number(one.at > other.at))
  const cursorOf = (part: Part<unknown>) => (part.scanned_until === until ? part.next_cursor : null)
  return { rows, next: until === null ? null : { before: until, sent: cursorOf(sent), denied: cursorOf(denied) } }
}

/** A place as a parameter of the URL. */
export function placeText({ before, sent, denied }: Place): string {
  return [Date.parse(before), sent, denied].join('.')
}

/** @param text matches the reader of the URL's state */
export function placeOf(text: string): Place {
  const [before = '', sent = '', denied = ''] = text.split('.')
  return { before: new Date(Number(before)).toISOString(), sent: sent || null, denied: denied || null }
}

/* ── Export ─────────────────────────────────────────────────────────────────────────────────────────────────────── */

export const CSV_COLUMNS = [
  'at',
  'user_id',
  'user_ref',
  'user_name',
  'id',
  'state',
  'reason',
  'units',
  'committed',
  'refunded',
  'country',
  'message_type',
  'sender',
] as const

/** The values of a message in the columns of a file. */
export function csvValues(message: Message): unknown[] {
  const { kind, at, record } = message
  const values: Readonly<Record<(typeof CSV_COLUMNS)[number], unknown>> = {
    at,
    user_id: record.user_id,
    user_ref: record.user_ref,
    user_name: record.user_name,
    id: record.id,
    state: stateOf(message),
    reason: kind === 'sent' ? null : record.reason,
    units: record.units,
    committed: kind === 'sent' ? record.committed : null,
    refunded: kind === 'sent' ? record.refunded : null,
    country: record.country,
    message_type: record.message_type,
    sender: kind === 'sent' ? record.made_by : record.sender,
  }
  return CSV_COLUMNS.map(column => values[column])
}
