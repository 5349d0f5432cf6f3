/** Debts: messages that were sent while the service was away, and are charged when it is back. */
import type { ReserveReq } from './api.ts'

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
  find(userId: number, id: string): Debt | undefined
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
