import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { csvLine } from '../../../src/domain/basics/csv.ts'
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
import { call, callLines } from '../session/client.ts'
import type { Save } from './csv-file.ts'
import { messagesInterval } from './user.ts'

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
    queryKey: ['GET /admin/quota/reservations', 'all', filters, cursor],
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
  // A cursor holds the `to` with which its list was begun.
  const pageFrom = (cursor: string | null = null) => ({
    ...(cursor === null ? { to: place?.before ?? filters.to } : { cursor }),
    page_size: PAGE_SIZE,
  })
  const sent = { query: { ...sentQuery(filters), ...pageFrom(place?.sent) }, signal }
  const denied = { query: { ...deniedQuery(filters), ...pageFrom(place?.denied) }, signal }
  return mergedPage(
    ...(await Promise.all([
      lists.sent ? call('GET /admin/quota/reservations', sent) : NOTHING,
      lists.denied ? call('GET /admin/denials', denied) : NOTHING,
    ])),
  )
}

/** The filters of the list of reservations. */
function sentQuery({ state, user_id, country, message_type, sender, from }: MessageFilters) {
  // The list of denied messages has no states.
  return { state: state === 'denied' ? null : state, user_id, country, message_type, sender, from }
}

/** The filters of the list of denials. */
function deniedQuery({ state: _state, to: _to, ...filters }: MessageFilters) {
  return filters
}

/** How many messages were sent and denied in each stretch of a period, as far as usage counts what the filters select. */
export function histogramQuery(filters: MessageFilters, period: HistogramPeriod | null) {
  const { user_id, country, message_type, reason } = filters
  const lists = listsOf(filters)
  const query = period && { ...period, user_id, country, message_type, time_zone: LOCAL_ZONE }
  return queryOptions({
    queryKey: ['GET /admin/quota/usage', 'histogram', query, reason, lists],
    queryFn: async ({ signal }): Promise<Bar[]> => {
      if (query === null) return []
      const { items } = await call('GET /admin/quota/usage', { query, signal })
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
  const read = async <Row>(rows: AsyncIterable<Row>, timeOf: (row: Row) => string): Promise<Part<Row>> => {
    const items: Row[] = []
    for await (const row of rows) {
      items.push(row)
      count += 1
      if (count % COUNTED === 0) onCount(count)
      if (items.length === MAX_EXPORTED) return { items, next_cursor: null, scanned_until: timeOf(row) }
    }
    return { items, next_cursor: null, scanned_until: null }
  }
  const { to } = filters
  // One after the other: a principal may run two exports at a time.
  const deniedRows = callLines('GET /admin/export/denials', { query: { ...deniedQuery(filters), to }, signal })
  const denied = lists.denied ? await read(deniedRows, ({ at }) => at) : NOTHING
  const sentRows = callLines('GET /admin/export/ledger', { query: { ...sentQuery(filters), to }, signal })
  const sent = lists.sent ? await read(sentRows, ({ created_at }) => created_at) : NOTHING
  const { rows, next } = mergedPage(sent, denied)
  const states = new Map<MessageState, number>()
  for (const message of rows) {
    const state = stateOf(message)
    states.set(state, (states.get(state) ?? 0) + 1)
  }
  save(exportName(filters), [csvLine(CSV_COLUMNS), ...rows.map(message => csvLine(csvValues(message)))])
  return { count: rows.length, states, until: next?.before ?? null }
}
