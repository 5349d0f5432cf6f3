/** The client of sms-quota. */
import {
  type Api,
  type BulkRecord,
  type BulkReq,
  type EventPage,
  type GiveRecord,
  type GiveReq,
  type Granted,
  type ImportRecord,
  type OperationId,
  type ReserveReq,
  ROUTES,
  type RollOutRecord,
} from './api.ts'
import { type Coalesced, createCoalescing } from './coalescing.ts'
import { createDebtSettler, type Journal, type OnUnavailable } from './debts.ts'
import { isNotFound, UnavailableError } from './errors.ts'
import { createLease, type Lease, type LeaseInput } from './lease.ts'
import {
  type BulkOptions,
  bulk,
  give,
  type ImportInput,
  type ImportOptions,
  importQuotas,
  type RollOutInput,
  type RollOutOptions,
  rollOut,
} from './many.ts'
import { createOutageLeases, type OutageLeaseOptions } from './outage-leases.ts'
import { createProcesses } from './processes.ts'
import { callBatchAsFirst, createMessages, createRepetitions, createSends, type Repetitions } from './repetitions.ts'
import { type ReservationOptions, withReservation } from './reservation.ts'
import { createRetries } from './retries.ts'
import { SENDER_OPERATIONS } from './route.ts'
import type { Sent } from './sent.ts'
import { createSettler, type Unsettled } from './settler.ts'
import { PLATFORM, type Timers } from './timers.ts'
import { loadTracing, type Span, startSpan } from './tracing.ts'
import { type CallOptions, createTransport, type Input, type OwnCallOptions, type Transport } from './transport.ts'
import { type MessageName, messageOf } from './user.ts'

export interface ClientOptions {
  /**
   * Where the service is, for example `https://quota.example`. Of several processes on one database, the URLs of all: calls about a user
   * go to the one that the user belongs to, and to the next one if that fails.
   */
  url: string | readonly string[]
  /** A bearer token, or what gets one; that is asked for each call, so it can renew the token. */
  token: string | (() => string | Promise<string>)
  /** How long a sender's operation may take in all, with its retries; 2,000 if left out. */
  senderTimeoutMs?: number
  /** How long any other call may take in all, with its retries; 10,000 if left out. */
  timeoutMs?: number
  /** Operations of senders that may wait for a batch; 50,000 if left out. More are refused at once. */
  maxWaiting?: number
  /**
   * What `withReservation` does if the service gives no final answer: for all messages, or by `messageType`. `deny` if left
   * out, also for types that are not named and for messages without one.
   */
  onUnavailable?: OnUnavailable | Readonly<Record<string, OnUnavailable>>
  /** Where debts are kept; `allow-with-debt` needs it. The client settles what it finds there. */
  journal?: Journal
  /** What to hold for an outage; `lease` needs it. Close the client at the end, so that it is given back. */
  outageLease?: OutageLeaseOptions
  /** In place of the platform's. */
  fetch?: typeof fetch
  /** Whether an error of `fetch` ends its call at once, instead of another try; none does if left out. */
  isFinal?: (error: unknown) => boolean
}

/** The operations that answer a page of a list. */
type ListId = {
  [Id in OperationId]: Awaited<ReturnType<Api<CallOptions>[Id]>> extends {
    readonly items: ReadonlyArray<unknown>
    readonly nextCursor: string | null
  }
    ? Id
    : never
}[OperationId]

type InputOf<Id extends OperationId> = Parameters<Api<CallOptions>[Id]>[0]
type ItemOf<Id extends ListId> = Awaited<ReturnType<Api<CallOptions>[Id]>>['items'][number]

interface FollowInput {
  after?: string
  /** Only events of these types. */
  types?: string
  /** Only events of this user, or of the one with this reference. */
  userId?: number
  userRef?: string
}

export interface Client extends Api<CallOptions> {
  /**
   * Reserves, commits, and sends; see `Sent` for what it answers. If `send` throws, the units are given back and its error
   * is thrown.
   *
   * @param send gets null in place of the reservation if the message is sent as a debt or paid by a lease
   */
  withReservation<T>(
    input: ReserveReq,
    send: (reservation: Granted | null) => Promise<T> | T,
    options?: ReservationOptions,
  ): Promise<Sent<T>>
  /**
   * Says that the code of a message was entered: a reservation, or what names one. What the service does not confirm is repeated in the
   * background, 10,000 messages at a time; `feedback` is the same call without that.
   *
   * @throws QuotaError, with the code `not_found` if there is no such reservation, and UnavailableError if there is no room
   */
  verified(message: MessageName, options?: CallOptions): Promise<void>
  /** Units of a user that this process reserves ahead and spends without asking the service. Close it at the end. */
  lease(input: LeaseInput): Lease
  /** The items of all pages of a list, for example `client.each('listQuotas', { userId: 7 })`. */
  each<Id extends ListId>(list: Id, input?: InputOf<Id>, options?: CallOptions): AsyncIterable<ItemOf<Id>>
  /**
   * Makes one change to many quotas, and goes on after a break until it is done. The records come as the service reports
   * them; the last one is `end`. After a break, its `changed` counts from there, and `changedBefore` what was done before.
   *
   * @throws QuotaError, and UnavailableError if the service stays away: call again with the same `idempotencyKey`
   */
  bulk(input: BulkReq, options?: BulkOptions): AsyncIterable<BulkRecord>
  /**
   * Gives many users more units, and goes on after a break until it is done. Each user has one record, in the order of the
   * input; the last record is `end`. After a break, users whose records were lost are `given_before`.
   *
   * @throws QuotaError, and UnavailableError if the service stays away: call again with the same `idempotencyKey`
   */
  give(input: GiveReq, options?: BulkOptions): AsyncIterable<GiveRecord>
  /**
   * Gives the current version of a plan to many users, and goes on after a break until it is done. The last record is `end`. After a break,
   * its counts begin anew: users who have the version by then are `unchanged`, or not among those who are meant any more.
   *
   * @throws QuotaError, and UnavailableError if the service stays away: call again with the same `idempotencyKey`
   */
  rollOut(input: RollOutInput, options?: RollOutOptions): AsyncIterable<RollOutRecord>
  /**
   * Creates and updates quotas by their `externalRef`, in calls of at most 2,000 rows that are repeated after a break. The
   * `line` of a record is the number of the row, from 1; the last record is `end`. Rows whose response was lost count as
   * `unchanged`.
   *
   * @throws QuotaError, and UnavailableError if the service stays away: the same rows can be imported again
   */
  importQuotas(rows: ImportInput, options?: ImportOptions): AsyncIterable<ImportRecord>
  /**
   * Pages of events as they happen, without an end. When the items of a page are handled, keep its `next`: passed as `after`, it
   * goes on behind that page. None is empty but the first one after `latest`, which comes at once: its `next` loses no event that
   * comes before the first page with events.
   *
   * @throws QuotaError with the code `events_lost` or `events_pruned`, and UnavailableError
   */
  follow(input?: FollowInput, options?: { signal?: AbortSignal }): AsyncIterable<EventPage>
  /**
   * What `withReservation` and `verified` have left open, because the service did not confirm it. It is settled in the background, and the
   * process does not end before; 10,000 messages at a time, and then no further one is sent.
   */
  unsettled(): Unsettled[]
  /**
   * Settles what is left open, and gives back the units that are held for an outage. Call it when no send is under way.
   *
   * @throws UnavailableError; then it may be called again, and what is held is charged when it expires
   */
  close(): Promise<void>
}

const SENDER_TIMEOUT_MS = 2_000
const TIMEOUT_MS = 10_000
const MAX_WAITING = 50_000
/** How long a call of the feed waits for an event. */
const WAIT_SECONDS = 20

export function createClient(options: ClientOptions): Client {
  return createClientOn(PLATFORM, options)
}

/** A client whose pauses between calls are those of the timers. How long a call may take is the platform's time. */
export function createClientOn(timers: Timers, options: ClientOptions): Client {
  loadTracing()
  const { now } = timers
  const sleep = (ms: number) => new Promise<void>(resolve => timers.later(ms, resolve))
  const retries = createRetries({ now, sleep, random: Math.random })
  const { url, token, fetch = globalThis.fetch, isFinal = () => false } = options
  const processes = createProcesses(url, now)
  const transport = createTransport({ processes, token, fetch, isFinal, retries, now })
  const senderTimeoutMs = options.senderTimeoutMs ?? SENDER_TIMEOUT_MS
  const repetitions = createRepetitions()
  const coalesced = createCoalescing({
    transport,
    processOf: processes.of,
    retries,
    repetitions,
    timeoutMs: senderTimeoutMs,
    maxWaiting: options.maxWaiting ?? MAX_WAITING,
    now,
    sleep,
  })
  const api = methods(transport, coalesced, {
    repetitions,
    senderTimeoutMs,
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
  })
  const { journal, outageLease, onUnavailable = 'deny' } = options
  const debts = journal && { journal, debtSettler: createDebtSettler(journal, api, timers) }
  debts?.debtSettler.wake()
  const leases = outageLease && createOutageLeases(outageLease, api, timers)
  const isOwed = (message: MessageName) => journal?.find(message) !== undefined
  const settler = createSettler(api, timers, isOwed)
  const entered = createSettler(api, timers, isOwed)
  const unsent = createMessages()
  const sends = createSends()
  return {
    ...api,
    withReservation(input, send, { onUnavailable: own = policyOf(onUnavailable, input), ...call } = {}) {
      return withReservation(api, input, send, { ...call, onUnavailable: own, debts, leases, settler, unsent, sends })
    },
    async verified(message, call) {
      try {
        await api.feedback({ ...messageOf(message), verified: true }, call)
      } catch (error) {
        if (!(error instanceof UnavailableError) && !(isNotFound(error) && isOwed(message))) throw error
        entered.assertRoom()
        entered.verify(message)
      }
    },
    lease: input => createLease(api, input, timers),
    each: (list, input, options) => each(api, list, input, options) as AsyncIterable<never>,
    bulk: (input, options = {}) => bulk(api, input, options, { now, sleep }),
    give: (input, options = {}) => give(api, input, options, { now, sleep }),
    rollOut: (input, options = {}) => rollOut(api, input, options, { now, sleep }),
    importQuotas: (rows, options = {}) => importQuotas(transport, rows, options),
    follow: (input, options) => follow(api, input, options),
    unsettled: () => [...settler.list(), ...entered.list()],
    async close() {
      const closed = await Promise.allSettled([settler.close(), entered.close(), leases?.close()])
      for (const result of closed) if (result.status === 'rejected') throw result.reason
    },
  }
}

function policyOf(policy: NonNullable<ClientOptions['onUnavailable']>, { messageType }: ReserveReq): OnUnavailable {
  if (typeof policy === 'string') return policy
  return messageType !== undefined && Object.hasOwn(policy, messageType) ? (policy[messageType] ?? 'deny') : 'deny'
}

interface MethodOptions {
  readonly repetitions: Repetitions
  readonly senderTimeoutMs: number
  readonly timeoutMs: number
}

/** A method for each operation. */
function methods(
  transport: Transport,
  coalesced: Coalesced,
  { repetitions, senderTimeoutMs, timeoutMs }: MethodOptions,
): Api<CallOptions> {
  const made = Object.keys(ROUTES).map(id => {
    const isSender = ROUTES[id as OperationId].path.startsWith('/api/sms/sender/')
    const name = SENDER_OPERATIONS.find(operation => operation === id)
    const call =
      name !== undefined
        ? (input: Input, options: CallOptions, span?: Span) => coalesced(name, input, options, span)
        : (input: Input, options: CallOptions, span?: Span) =>
            transport.call(id as OperationId, input, options, isSender ? senderTimeoutMs : timeoutMs, span)
    return [
      id,
      (input: Input = {}, options: CallOptions = {}) => {
        const span = startSpan(id)
        return span === undefined ? call(input, options) : span.run(() => call(input, options, span))
      },
    ]
  })
  const api: Api<OwnCallOptions> = Object.fromEntries(made)
  return {
    ...api,
    batch: (input, options = {}) =>
      callBatchAsFirst(repetitions, input, onFailure => api.batch(input, { ...options, onFailure })),
  }
}

async function* each(api: Api<CallOptions>, list: ListId, input: object = {}, options?: CallOptions) {
  const read = api[list] as (
    input: object,
    options?: CallOptions,
  ) => Promise<{ items: unknown[]; nextCursor: string | null }>
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await read(cursor === undefined ? input : { ...input, cursor }, options)
    yield* page.items
    cursor = page.nextCursor
  }
}

async function* follow(api: Api<CallOptions>, input: FollowInput = {}, options: { signal?: AbortSignal } = {}) {
  const call = { ...options, timeoutMs: (WAIT_SECONDS + 10) * 1_000 }
  for (let page: EventPage | undefined; ; ) {
    const after = page === undefined ? {} : { after: page.next }
    const isStart = page === undefined && input.after === 'latest'
    page = await api.listEvents({ ...input, ...after, waitSeconds: isStart ? 0 : WAIT_SECONDS }, call)
    if (isStart || page.items.length > 0) yield page
  }
}
