/**
 * Messages that the agent allows while the service gives no final answer. Each is a debt in the journal, on disk before the
 * answer, and is booked once by its id when the service is back. `consume` says that the message is sent. `reserve` leaves
 * that open until `commit` or `release`; until then the debt is *held*.
 */
import { createDebtSettler } from '../../../../client/src/debts.ts'
import { type Client, type Debt, type Journal, QuotaError } from '../../../../client/src/main.ts'
import { toSnake } from '../../../../client/src/names.ts'
import { openJournal } from '../../../../client/src/node/journal.ts'
import type { Later, Timers } from '../../../../client/src/timers.ts'
import type { SenderOp, SenderRequest } from '../../../contract/sender.ts'
import type { SegmentRules } from '../../../domain/messages/segment-rules.ts'
import { formatTimestamp } from '../../../domain/time/time.ts'
import { createDebtAnswers, type DebtAnswers, notBooked } from './debt-answers.ts'
import { createHeldDebts, type HeldDebts } from './held-debts.ts'
import { messageNameOf } from './message-name.ts'

export interface DebtOptions {
  /** The file of the journal. */
  readonly path: string
  /** The types of messages that are allowed. */
  readonly types: readonly string[] | 'all'
  /** What to do with a held debt whose time has ended, or whose agent has. */
  readonly onUnknown: 'charge' | 'release'
  /** How many debts it holds at most; 10,000 if left out. */
  readonly maxDebts?: number
}

/** A debt as the operator sees it: without the text of its message. */
interface DebtView {
  /** Null if the message names its user by a reference. */
  readonly user_id: number | null
  /** Null if it names the id. */
  readonly user_ref: string | null
  readonly id: string
  readonly message_type: string | null
  readonly at: string
  /** `held`: neither committed nor released yet. `unknown`: nor in time, or by an earlier agent. */
  readonly state: 'sent' | 'released' | 'held' | 'unknown'
  /** Why the service refuses to book it; null if it does not. */
  readonly refused: string | null
}

const MAX_DEBTS = 10_000

export interface Debts {
  /** Whether a message has a debt. */
  has(request: SenderRequest): boolean
  /** Answers an operation on a message that has a debt; undefined if it has none. The promise rejects with a Problem. */
  answer(op: SenderOp, request: SenderRequest): Promise<object> | undefined
  /**
   * Allows a message that got no final answer; undefined if its operation or its type cannot be allowed. The promise rejects
   * with a Problem, or with the `UnavailableError` of a full journal.
   */
  allow(op: SenderOp, request: SenderRequest): Promise<object> | undefined
  /** All debts, the oldest first. */
  list(): DebtView[]
  isFull(): boolean
  /** What is held is unknown to the next agent. */
  close(): Promise<void>
}

interface Dependencies {
  readonly client: Client
  /** How the service counts segments; null if that is not known. */
  readonly segments: () => SegmentRules | null
  /** Gets lines for the operator. */
  readonly log: (line: string) => void
  /** For the pauses between calls. */
  readonly pauses: Timers
  /** For the time of allowed messages. */
  readonly later: Later
}

/** @throws the errors of `openJournal` */
export async function openDebts(
  options: DebtOptions,
  { client, segments, log, pauses, later }: Dependencies,
): Promise<Debts> {
  const { types, maxDebts = MAX_DEBTS } = options
  const refused = new WeakMap<Debt, string>()
  const journal = await openLoggedJournal({ ...options, maxDebts }, refused, log)
  const debtSettler = createDebtSettler(journal, client, pauses)
  const held = createHeldDebts({ journal, debtSettler, log, later })
  const answers = createDebtAnswers(segments)
  const settle = createSettling(held, answers, request => find(journal, request)?.outcome)
  debtSettler.wake()
  return {
    has: request => find(journal, request) !== undefined,
    answer(op, request) {
      const debt = find(journal, request)
      return debt && settle(op, request, debt)
    },
    allow(op, request) {
      if (op !== 'reserve' && op !== 'consume') return undefined
      if (types !== 'all' && !types.includes(request.message_type ?? '')) return undefined
      // The same message, called at the same time.
      const debt = find(journal, request)
      if (debt !== undefined) return settle(op, request, debt)
      return op === 'reserve' ? hold(held, answers, request, false) : consume(held, answers, request, false)
    },
    list: () => journal.debts().map(debt => viewOf(debt, held, refused.get(debt) ?? null)),
    isFull: () => journal.debts().length >= maxDebts,
    async close() {
      const count = held.abandon()
      if (count > 0) log(`${count} allowed messages are neither committed nor released`)
      await journal.close()
    },
  }
}

function find(journal: Journal, request: SenderRequest): Debt | undefined {
  return journal.find(messageNameOf(request))
}

/** Operations on messages that have a debt. @param outcomeOf of the debt of a message; undefined if it has none */
function createSettling(
  held: HeldDebts,
  answers: DebtAnswers,
  outcomeOf: (request: SenderRequest) => Debt['outcome'] | undefined,
) {
  const { checkSame, checkWhole, closed, debtGranted, debtSettled } = answers

  async function repeat(op: 'reserve' | 'consume', owed: SenderRequest, outcome: Debt['outcome']): Promise<object> {
    if (outcome === 'not-sent') throw closed('The message was released.', owed, 'released')
    if (op === 'consume') return consume(held, answers, owed, outcome === 'sent')
    return outcome === 'sent' ? debtGranted(owed, 'committed', true) : hold(held, answers, owed, true)
  }

  async function commit(
    owed: SenderRequest,
    outcome: Debt['outcome'],
    { force = false, verified }: Pick<SenderRequest, 'force' | 'verified'>,
  ): Promise<object> {
    if (outcome === 'not-sent' && !force) throw closed('The message was released.', owed, 'released')
    await held.end(owed, 'sent')
    // The journal holds no codes, and the repeated call reaches the service.
    if (verified === true) throw notBooked('The message counts as sent, and its code is not counted')
    return debtSettled(owed, 'committed', outcome === 'sent')
  }

  async function release(owed: SenderRequest, outcome: Debt['outcome']): Promise<object> {
    if (outcome === 'sent') throw closed('The message was committed.', owed, 'committed')
    if (outcome === 'unknown' && !held.has(messageNameOf(owed))) throw notBooked()
    await held.end(owed, 'not-sent')
    // An earlier agent, or its time, had left open whether it was sent.
    if (outcomeOf(owed) === 'unknown') throw notBooked()
    return debtSettled(owed, 'released', outcome === 'not-sent')
  }

  return async (op: SenderOp, request: SenderRequest, debt: Debt): Promise<object> => {
    const owed = toSnake(debt.request) as SenderRequest
    if (op === 'reserve' || op === 'consume') {
      checkSame(request, owed)
      return repeat(op, owed, debt.outcome)
    }
    if (op !== 'commit' && op !== 'release') throw notBooked()
    checkWhole(request, owed)
    return op === 'commit' ? commit(owed, debt.outcome, request) : release(owed, debt.outcome)
  }
}

async function hold(held: HeldDebts, answers: DebtAnswers, request: SenderRequest, replayed: boolean): Promise<object> {
  const expiresAt = await held.hold(request)
  return { ...answers.debtGranted(request, 'reserved', replayed), expires_at: formatTimestamp(expiresAt) }
}

async function consume(
  held: HeldDebts,
  answers: DebtAnswers,
  request: SenderRequest,
  replayed: boolean,
): Promise<object> {
  await held.end(request, 'sent')
  return answers.debtGranted(request, 'committed', replayed)
}

function viewOf(debt: Debt, held: HeldDebts, refused: string | null): DebtView {
  const view = writtenViewOf(debt)
  return { ...view, state: held.has(debt.request) ? 'held' : view.state, refused }
}

/** What the journal says of a debt. What an agent holds reads as unknown. */
export function writtenViewOf({ request, at, outcome }: Debt): Omit<DebtView, 'refused'> {
  const { userId: user_id = null, userRef: user_ref = null, id, messageType: message_type = null } = request
  const states = { sent: 'sent', 'not-sent': 'released', unknown: 'unknown' } as const
  return { user_id, user_ref, id, message_type, at, state: states[outcome] }
}

/** @param refused gets why the service refuses to book a debt */
async function openLoggedJournal(
  { path, onUnknown, maxDebts }: DebtOptions & { maxDebts: number },
  refused: WeakMap<Debt, string>,
  log: (line: string) => void,
): Promise<Journal> {
  let unbooked = 0
  const journal = await openJournal(path, {
    maxEntries: maxDebts,
    onUnknown({ request, at }) {
      const done = onUnknown === 'charge' ? 'charged' : 'not charged'
      log(`it is not known whether ${wordsOf(request)}, allowed at ${at}, was sent: it is ${done}`)
      return onUnknown
    },
    onRefused(debt, error) {
      const isKnown = refused.has(debt)
      const reason = error instanceof Error ? error.message : String(error)
      refused.set(debt, reason)
      if (isUnknownUser(error)) {
        unbooked += 1
        log(
          `no user has the reference of message ${debt.request.id}: it is not booked, ${unbooked} of them since the start`,
        )
        return
      }
      if (isKnown) return
      log(`the service refuses to book ${wordsOf(debt.request)}, which is tried again every minute: ${reason}`)
    },
  })
  const count = journal.debts().length
  if (count > 0) log(`${count} messages in the journal are not booked yet`)
  return journal
}

const isUnknownUser = (error: unknown) => error instanceof QuotaError && error.code === 'unknown_user'

/** A message in the log, where references, which are personal data, do not belong. */
function wordsOf({ userId, id }: Debt['request']): string {
  return `message ${id} of ${userId === undefined ? 'a user that is named by reference' : `user ${userId}`}`
}
