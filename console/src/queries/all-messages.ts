import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { csvLine } from '../../../src/domain/csv.ts'
import type { RequestOptions } from '../api/http.ts'
import type { Api } from '../api/types.ts'
import { LOCAL_ZONE } from '../formats.ts'
import { dayOf } from '../model/local-time.ts'
import type { Bar, HistogramPeriod } from '../model/message-histogram.ts'
import {
  CSV_COLUMNS,
  csvValues,
  listsOf,
  type Message,
  type MessageFilters,
  type MessageState,
  type MessagesState,
  mergedPage,
  NOTHING,
  type Part,
  type Place,
  placeOf,
  placeText,
  stateOf,
} from '../model/messages.ts'
import { request, requestLines } from '../session/client.ts'
import type { Save } from './csv-file.ts'
import { messagesInterval } from './user.ts'

type Query = NonNullable<RequestOptions['query']>
type Reservation = Api['ReservationRecord']
type Denial = Api['DenialRecord']

/** Rows that a call asks for. A page has at most twice as many, and one less. */
const PAGE_SIZE = 25
/** Each call reads at most 20,000 reservations and 10,000 denials, so a page of rare ones takes several. */
const MAX_CALLS = 5

interface FoundMessages {
  rows: Message[]
  /** The cursor of the next page; null on the last. */
  next: string | null
  /** How far back the messages were searched for a page that is not full; else null. */
  searchedUntil: string | null
  calls: number
}

/** Query options for a page of the messages of all users, newest first. */
export function allMessagesQuery({ denial: _, cursor, ...filters }: MessagesState) {
  return queryOptions({
    queryKey: ['reservations', 'all', filters, cursor],
    queryFn: ({ signal }) => findMessages(filters, cursor === null ? null : placeOf(cursor), signal),
    placeholderData: keepPreviousData,
    // What takes several calls is not read again by itself.
    refetchInterval: query => ((query.state.data?.calls ?? 1) > 1 ? false : messagesInterval(query)),
  })
}

async function findMessages(filters: MessageFilters, start: Place | null, signal: AbortSignal): Promise<FoundMessages> {
  const rows: Message[] = []
  let place = start
  for (let calls = 1; ; calls++) {
    const page = await readPage(filters, place, signal)
    rows.push(...page.rows)
    place = page.next
    if (place === null) return { rows, next: null, searchedUntil: null, calls }
    const isFull = rows.length >= PAGE_SIZE
    if (isFull || calls === MAX_CALLS)
      return { rows, next: placeText(place), searchedUntil: isFull ? null : place.before, calls }
  }
}

async function readPage(filters: MessageFilters, place: Place | null, signal: AbortSignal) {
  const lists = listsOf(filters)
  const read = <Row>(path: string, query: Query, cursor: string | null): Promise<Part<Row>> => {
    // A cursor holds the `to` with which its list was begun.
    const from = cursor === null ? { to: place?.before ?? filters.to } : { cursor }
    return request<Part<Row>>(path, { query: { ...query, ...from, page_size: PAGE_SIZE }, signal })
  }
  const [sent, denied] = await Promise.all([
    lists.sent ? read<Reservation>('/admin/quota/reservations', sentQuery(filters), place?.sent ?? null) : NOTHING,
    lists.denied ? read<Denial>('/admin/denials', deniedQuery(filters), place?.denied ?? null) : NOTHING,
  ])
  return mergedPage(sent, denied)
}

/** The filters of the list of reservations. */
function sentQuery({ state, user_id, country, message_type, sender, from }: MessageFilters): Query {
  return { state, user_id, country, message_type, sender, from }
}

/** The filters of the list of denials. */
function deniedQuery({ state: _state, to: _to, ...filters }: MessageFilters): Query {
  return filters
}

/** How many messages were sent and denied in each stretch of a period, as far as usage counts what the filters select. */
export function histogramQuery(filters: MessageFilters, period: HistogramPeriod | null) {
  const { user_id, country, message_type, reason } = filters
  const lists = listsOf(filters)
  const query = { ...period, user_id, country, message_type, time_zone: LOCAL_ZONE }
  return queryOptions({
    queryKey: ['usage', 'histogram', query, reason, lists],
    queryFn: async ({ signal }): Promise<Bar[]> => {
      const { items } = await request<Api['Usage']>('/admin/quota/usage', { query, signal })
      return items.map(({ start, end, committed, denied, denied_by_reason }) => ({
        start,
        end,
        sent: lists.sent ? committed.messages : 0,
        denied: lists.denied ? (reason === null ? denied : denied_by_reason[reason]).messages : 0,
      }))
    },
    enabled: period !== null,
    placeholderData: keepPreviousData,
  })
}

/* ── Export ─────────────────────────────────────────────────────────────────────────────────────────────────────── */

/** Rows of each list in a file: it is put together in the memory of the browser. */
const MAX_EXPORTED = 50_000
/** After how many rows the count goes on. */
const COUNTED = 1_000

/** The name of a file says of which country and day its messages are. */
function exportName({ country, from }: Pick<MessageFilters, 'country' | 'from'>): string {
  const parts = ['sms-quota-messages', country, from && dayOf(from)].filter(part => part !== null)
  return `${parts.join('-')}.csv`
}

/** What was exported. */
export interface ExportedMessages {
  count: number
  /** How many of each state. */
  states: ReadonlyMap<MessageState, number>
  /** The time of the oldest one, if there are older ones that are not in the file; else null. */
  until: string | null
}

/**
 * Writes the newest messages that match filters to a file of CSV.
 *
 * @param onCount gets how many have been read
 */
export async function exportMessages(
  filters: MessageFilters,
  signal: AbortSignal,
  onCount: (count: number) => void,
  save: Save,
): Promise<ExportedMessages> {
  const lists = listsOf(filters)
  let count = 0
  const read = async <Row>(list: string, query: Query, timeOf: (row: Row) => string): Promise<Part<Row>> => {
    const items: Row[] = []
    for await (const row of requestLines<Row>(`/admin/export/${list}`, {
      query: { ...query, to: filters.to },
      signal,
    })) {
      items.push(row)
      count += 1
      if (count % COUNTED === 0) onCount(count)
      if (items.length === MAX_EXPORTED) return { items, next_cursor: null, scanned_until: timeOf(row) }
    }
    return { items, next_cursor: null, scanned_until: null }
  }
  // One after the other: a principal may run two exports at a time.
  const denied = lists.denied ? await read<Denial>('denials', deniedQuery(filters), ({ at }) => at) : NOTHING
  const sent = lists.sent
    ? await read<Reservation>('ledger', sentQuery(filters), ({ created_at }) => created_at)
    : NOTHING
  const { rows, next } = mergedPage(sent, denied)
  const states = new Map<MessageState, number>()
  for (const message of rows) {
    const state = stateOf(message)
    states.set(state, (states.get(state) ?? 0) + 1)
  }
  save(exportName(filters), [csvLine(CSV_COLUMNS), ...rows.map(message => csvLine(csvValues(message)))])
  return { count: rows.length, states, until: next?.before ?? null }
}
