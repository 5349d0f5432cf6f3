/**
 * Settles in the background what a send, or feedback, has left open, because the service did not confirm it: again and again until it is certain.
 *
 * - `not-sent`: its units are given back: what is reserved, and what is committed if a call for this message may have done that.
 * - `sent`: its units are committed; by force if the reservation has expired meanwhile.
 * - `verified`: its code was entered. While it is a debt, the service may not know it yet.
 */
import type { CommitReq, FeedbackReq, Settled } from './api.ts'
import { hasCode, isNotFound, UnavailableError } from './errors.ts'
import { giveBackUnsent, type Unsent, type UnsentCalls } from './giving-back.ts'
import type { Timers } from './timers.ts'
import { type MessageName, messageKey, messageOf } from './user.ts'

/** A message of which the service has not confirmed yet what became of it. */
export interface Unsettled extends MessageName {
  readonly outcome: 'sent' | 'not-sent' | 'verified'
  /** Since when, in RFC 3339. */
  readonly at: string
}

export interface SettlerCalls extends UnsentCalls {
  commit(input: CommitReq): Promise<Settled>
  feedback(input: FeedbackReq): Promise<Settled>
}

export interface Settler {
  /** Charges a message that was sent. */
  charge(message: MessageName): void
  /** Gives back the units of a message that was not sent, unless another call of this process has sent it. */
  giveBack(message: Unsent): void
  /** Says that the code of a message was entered. Of a settler of its own: a message may have both open. */
  verify(message: MessageName): void
  find(message: MessageName): Unsettled | undefined
  list(): Unsettled[]
  /** @throws UnavailableError if there is no room for what a further send may leave open */
  assertRoom(): void
  /** Tries once more. @throws UnavailableError if something is left; that is tried further */
  close(): Promise<void>
}

const MAX_UNSETTLED = 10_000
/** Messages that are settled at the same time. */
const MAX_AT_ONCE = 500
const AGAIN_MS = 1_000
/** What the service refuses, for example because the token may not force, is tried again later. */
const REFUSED_AGAIN_MS = 60_000

interface Entry extends Unsettled {
  readonly mayBeCommitted: boolean
  readonly isMaker: boolean
  /** In milliseconds of the clock. */
  notBefore: number
}

/** @param isOwed whether a message is a debt: only its settlement makes the reservation */
export function createSettler(
  calls: SettlerCalls,
  { now, later }: Timers,
  isOwed: (message: MessageName) => boolean,
): Settler {
  const open = new Map<string, Entry>()
  let isRunning = false

  async function settle(entry: Entry): Promise<void> {
    try {
      await confirm(calls, entry, isOwed)
      if (open.get(messageKey(entry)) === entry) open.delete(messageKey(entry))
    } catch (error) {
      entry.notBefore = now() + (error instanceof UnavailableError ? AGAIN_MS : REFUSED_AGAIN_MS)
    }
  }

  async function run(): Promise<void> {
    const due = [...open.values()].filter(({ notBefore }) => notBefore <= now())
    await Promise.all(due.slice(0, MAX_AT_ONCE).map(settle))
  }

  /** Once a second until nothing is left. The process does not end before. */
  function wake(): void {
    if (isRunning || open.size === 0) return
    isRunning = true
    later(AGAIN_MS, async () => {
      await run()
      isRunning = false
      wake()
    })
  }

  function settleLater(message: Unsent, outcome: Unsettled['outcome']): void {
    const { mayBeCommitted, isMaker = false } = message
    const state = { outcome, mayBeCommitted, isMaker }
    const entry = { ...messageOf(message), ...state, at: new Date().toISOString(), notBefore: now() }
    open.set(messageKey(entry), entry)
    wake()
  }

  return {
    charge: message => settleLater({ ...messageOf(message), mayBeCommitted: true }, 'sent'),
    giveBack(message) {
      const known = open.get(messageKey(message))
      if (known?.outcome === 'sent') return
      const mayBeCommitted = message.mayBeCommitted || known?.mayBeCommitted === true
      const isMaker = message.isMaker === true || known?.isMaker === true
      settleLater({ ...message, mayBeCommitted, isMaker }, 'not-sent')
    },
    verify: message => settleLater({ ...messageOf(message), mayBeCommitted: false }, 'verified'),
    find: message => open.get(messageKey(message)),
    list: () => Array.from(open.values(), entry => ({ ...messageOf(entry), outcome: entry.outcome, at: entry.at })),
    assertRoom() {
      if (open.size < MAX_UNSETTLED) return
      throw new UnavailableError(unconfirmed(open.size), { mayHaveTakenEffect: false, isOutage: false })
    },
    async close() {
      for (const entry of open.values()) entry.notBefore = now()
      for (let left = open.size; left > 0; left -= MAX_AT_ONCE) await run()
      if (open.size === 0) return
      throw new UnavailableError(unconfirmed(open.size), { mayHaveTakenEffect: true })
    },
  }
}

const unconfirmed = (messages: number) => `the service has not confirmed yet what became of ${messages} messages`

function confirm(calls: SettlerCalls, entry: Entry, isOwed: (message: MessageName) => boolean): Promise<void> {
  const message = messageOf(entry)
  if (entry.outcome === 'verified') return verify(calls, message, isOwed)
  return entry.outcome === 'sent' ? charge(calls, message) : giveBackUnsent(calls, entry)
}

/** @throws UnavailableError, and QuotaError if the token may not force */
async function charge({ commit }: Pick<SettlerCalls, 'commit'>, message: MessageName): Promise<void> {
  try {
    await commit(message)
  } catch (error) {
    // Its user was erased.
    if (isNotFound(error)) return
    if (!hasCode(error, 'reservation_closed')) throw error
    await commit({ ...message, force: true })
  }
}

/** @throws UnavailableError, and QuotaError */
async function verify(
  { feedback }: Pick<SettlerCalls, 'feedback'>,
  message: MessageName,
  isOwed: (message: MessageName) => boolean,
): Promise<void> {
  try {
    await feedback({ ...message, verified: true })
  } catch (error) {
    // The reservation is gone.
    if (!isNotFound(error) || isOwed(message)) throw error
  }
}
