/**
 * Debts: messages that were sent while the service was away, and are charged when it is back. What happens to a debt depends on whether its message left:
 *
 * - It did: `consume` with `force` and the id of the message. The reservation that found no answer may exist nevertheless, or
 *   arrive later. If it exists, consume is refused with `idempotency_mismatch`, and `commit` with `force` charges that
 *   reservation, even if it has expired, unless it was refunded. If it arrives later, it is the one that is refused. So each id is charged once, also
 *   if any of these calls is repeated.
 * - It did not: `reserve` and `release`. Without the first, a reservation that arrives later would stay. Units that are committed are
 *   refunded only if the one who owes may have committed them, or their expiry: otherwise another one has, and has sent the message.
 */
import type { Api, Denied, Granted, ReserveReq } from './api.ts'
import { hasCode, isRefusedForGood, UnavailableError } from './errors.ts'
import { giveBackUnsent } from './giving-back.ts'
import type { Timers } from './timers.ts'
import { type MessageName, messageOf } from './user.ts'

/**
 * What `withReservation` does if the service gives no final answer to the reservation (an answer that asks to try later,
 * `rate_limited` or `overloaded`, is one: it is always thrown):
 *
 * - `deny` throws the UnavailableError.
 * - `allow-with-debt` writes the message to the journal, sends it, and charges it when the service is back, past any limit.
 * - `lease` sends it if units that were reserved for this before the outage are left, and throws the UnavailableError otherwise.
 */
export type OnUnavailable = 'deny' | 'allow-with-debt' | 'lease'

/** A message that was allowed as a debt and is not charged yet. A debt does not change; a later state is another object. */
export interface Debt {
  /** As `withReservation` got it, with the text of the message. */
  readonly request: ReserveReq
  /** When its send began, in RFC 3339. */
  readonly at: string
  /** Whether the message left. `unknown`: its send is under way, said that it cannot tell, or the process ended meanwhile. */
  readonly outcome: 'sent' | 'not-sent' | 'unknown'
  /** Whether its own reservation may have been committed, by a call whose answer was lost or by its expiry; no, if left out. */
  readonly mayBeCommitted?: boolean
}

/** Where debts are kept; see `openJournal` of `sms-quota-client/journal`. */
export interface Journal {
  /** All debts, in the order in which their sends began. */
  debts(): Debt[]
  /** Forgets a debt that was settled in another way. It does nothing if the debt has changed in the meantime. */
  remove(debts: readonly Debt[]): Promise<void>
  /** Waits for what is being written, and lets another process open the journal. */
  close(): Promise<void>

  /** The debt of a message, if it has one. */
  find(message: MessageName): Debt | undefined
  /**
   * Resolves when the debt is on disk, and the message may be sent. The result is called when its send has ended, and
   * resolves when that is on disk, too; it does not reject.
   *
   * @param mayBeCommitted see `Debt`; if left out, whether its expiry commits it
   * @throws JournalFull, or the error of the disk
   */
  begin(request: ReserveReq, mayBeCommitted?: boolean): Promise<(outcome: Debt['outcome']) => Promise<void>>
  /** The debts whose send has ended, or was that of an earlier process. None if the journal is closed. */
  due(): Debt[]
  /** Whether to charge a message that may have left. */
  onUnknown(debt: Debt): 'charge' | 'release' | Promise<'charge' | 'release'>
  onRefused(debt: Debt, error: unknown): void
}

const AGAIN_MS = 1_000
/** Debts that the service refused are tried again later than others. */
const REFUSED_AGAIN_MS = 60_000
/** Debts that are settled at the same time, as one batch. */
const MAX_AT_ONCE = 500
/** Unknown debts that are asked about at the same time. */
const MAX_ASKED = 100
/** For the case that this process ends between the two calls. */
const TTL_SECONDS = 60

type Decision = 'charge' | 'release'

/** The debts to book. */
export type Debts = Pick<Journal, 'due' | 'remove' | 'onUnknown' | 'onRefused'>

export type DebtSettlerCalls = Pick<
  Api<unknown>,
  'consume' | 'commit' | 'reserve' | 'release' | 'refund' | 'getReservation'
>

export interface DebtSettler {
  /** Looks for debts to settle, now and then every second until there are none. */
  wake(): void
  /** Lets what the service refused be tried again at once. */
  retryRefused(): void
}

export function createDebtSettler(journal: Debts, calls: DebtSettlerCalls, { now, later }: Timers): DebtSettler {
  let refusedUntil = new WeakMap<Debt, number>()
  let isRunning = false

  function refuse(debt: Debt, error: unknown): void {
    refusedUntil.set(debt, now() + REFUSED_AGAIN_MS)
    journal.onRefused(debt, error)
  }
  const decisions = createDecisions(journal, refuse)

  /** The debts to settle now. */
  async function settleable(): Promise<Debt[]> {
    const due = journal.due().filter(debt => (refusedUntil.get(debt) ?? 0) <= now())
    for (const debt of due) decisions.prepare(debt)
    // An answer without a promise is there now.
    await null
    return due.filter(debt => decisions.get(debt) !== null).slice(0, MAX_AT_ONCE)
  }

  /** @returns whether it is settled: confirmed, or never to be booked, since no user has the reference, or none has it any more */
  async function settle(debt: Debt): Promise<boolean> {
    try {
      await (decisions.get(debt) === 'charge' ? charge(calls, debt) : release(calls, debt))
      return true
    } catch (error) {
      if (!(error instanceof UnavailableError)) refuse(debt, error)
      return hasCode(error, 'unknown_user')
    }
  }

  /** Settles what is due, until the service confirms nothing more. */
  async function run(): Promise<void> {
    for (;;) {
      const debts = await settleable()
      const confirmed = await Promise.all(debts.map(settle))
      const settled = debts.filter((_, index) => confirmed[index])
      if (settled.length === 0) return
      await journal.remove(settled)
    }
  }

  function wake(): void {
    if (isRunning || journal.due().length === 0) return
    isRunning = true
    // A disk that fails leaves the debts in the journal. To settle them again changes nothing.
    run()
      .catch(() => {})
      .then(() => {
        const again = () => {
          isRunning = false
          wake()
        }
        // The journal keeps the debts for the next start.
        later(AGAIN_MS, again, false)
      })
  }

  return {
    wake,
    retryRefused() {
      refusedUntil = new WeakMap()
    },
  }
}

/** Whether debts are charged. An answer of `onUnknown` that takes its time holds up no other debt. */
function createDecisions(journal: Debts, onError: (debt: Debt, error: unknown) => void) {
  /** Of what is unknown. Each is asked for once, as long as this process lives; null while the answer is awaited. */
  const answers = new WeakMap<Debt, Decision | null>()
  let asked = 0

  async function ask(debt: Debt): Promise<void> {
    asked += 1
    answers.set(debt, null)
    try {
      answers.set(debt, await journal.onUnknown(debt))
    } catch (error) {
      answers.delete(debt)
      onError(debt, error)
    } finally {
      asked -= 1
    }
  }

  return {
    /** Asks about an unknown debt, if that has not been done. */
    prepare(debt: Debt): void {
      if (debt.outcome === 'unknown' && !answers.has(debt) && asked < MAX_ASKED) ask(debt)
    },
    /** Null if it is not known yet. */
    get(debt: Debt): Decision | null {
      if (debt.outcome !== 'unknown') return debt.outcome === 'sent' ? 'charge' : 'release'
      return answers.get(debt) ?? null
    },
  }
}

async function charge(calls: DebtSettlerCalls, { request }: Debt): Promise<void> {
  const { ttlSeconds, onExpiry, explain, ...content } = request
  let answer: Granted | Denied
  try {
    answer = await calls.consume({ ...content, force: true })
  } catch (error) {
    // Charged by an earlier attempt, and refunded since.
    if (hasCode(error, 'reservation_closed')) return
    if (!hasCode(error, 'idempotency_mismatch')) throw error
    // The same: a forced commit would charge it again.
    if ((await calls.getReservation(messageOf(request))).refunded > 0) return
    await calls.commit({ ...messageOf(request), force: true })
    return
  }
  if (answer.granted) return
  const message = 'the service makes the user of the reference later: it has made too many within a minute'
  throw new UnavailableError(message, { mayHaveTakenEffect: false, isOutage: false })
}

async function release(calls: DebtSettlerCalls, { request, mayBeCommitted = false }: Debt): Promise<void> {
  const { explain, ...content } = request
  try {
    const reservation = await calls.reserve({ ...content, onExpiry: 'release', ttlSeconds: TTL_SECONDS })
    if (!reservation.granted) return
  } catch (error) {
    // Given back by an earlier attempt, or the id was charged for another message.
    if (hasCode(error, 'reservation_closed') || hasCode(error, 'idempotency_mismatch')) return
    // What is refused for good, for example since its user was erased, does not arrive later either.
    if (!isRefusedForGood(error)) throw error
  }
  await giveBackUnsent(calls, { ...messageOf(request), mayBeCommitted })
}
