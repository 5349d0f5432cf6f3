/**
 * Units that are reserved ahead for an outage: for each user, country and type with a message that was granted, a lease. It
 * is filled while the service answers, and spent while it does not.
 *
 * A message that a lease pays may have a reservation of its own, if only the answer to that was lost. It is released when the
 * service is back, or made and released, so that it cannot arrive later: its id is closed then.
 */
import type { ReserveReq } from './api.ts'
import { createDebtSettler, type Debt, type DebtSettlerCalls } from './debts.ts'
import { UnavailableError } from './errors.ts'
import { assertUnits, type LeaseCalls, type NamedValues } from './lease.ts'
import { createLeasePool, type LeaseScope } from './lease-pool.ts'
import type { Timers } from './timers.ts'
import { messageKey, userOf } from './user.ts'

export interface OutageLeaseOptions {
  /** How many units to hold of each user, country and type. */
  units: number
  /**
   * After how long the units are charged if this process dies; 600 if left out. They are held for half of it after the last
   * message of the user.
   */
  ttlSeconds?: number
  /** Users, countries and types for which units are held at a time; 1,000 if left out. */
  maxLeases?: number
}

/** A message as leases pay it: the service, which counts the units of a text, is away. */
export type PayableMessage = ReserveReq & { units: number }

interface OwnReservation {
  readonly mayExist: boolean
  readonly mayBeCommitted: boolean
}

export interface OutageLeases {
  /** Holds units for the scope of a message that the service has granted. */
  hold(message: LeaseScope & NamedValues): void
  /** Whether the id of a message that a lease has paid is not closed yet, so that nothing may be reserved under it. */
  isOpen(message: ReserveReq): boolean
  /** Whether a message whose id is not closed yet was paid and not taken back. */
  isSent(message: ReserveReq): boolean
  /**
   * Pays a message.
   *
   * @param own whether it may have a reservation, and whether that may have been committed for it
   * @returns what takes that back if it is not sent; undefined if the lease holds too few units
   */
  pay(message: PayableMessage, own: OwnReservation): { takeBack(): void } | undefined
  /** @throws UnavailableError if the service has not settled all; what is left is charged when it expires */
  close(): Promise<void>
}

const TTL_SECONDS = 600
const MAX_LEASES = 1_000
/** Ids that are to be closed when the service is back. */
const MAX_IDS = 10_000

/** @throws RangeError if the units are not a positive whole number */
export function createOutageLeases(
  { units, ttlSeconds = TTL_SECONDS, maxLeases = MAX_LEASES }: OutageLeaseOptions,
  calls: LeaseCalls & DebtSettlerCalls,
  timers: Timers,
): OutageLeases {
  assertUnits(units)
  const lease = { units, ttlSeconds, keepsSlices: true }
  const pool = createLeasePool({ calls, lease, maxLeases, idleMs: (ttlSeconds * 1_000) / 2, timers })
  const ids = createIds(calls, timers)
  return {
    hold(message) {
      const scope = scopeOf(message)
      const lease = (pool.find(scope) ?? pool.open(scope))?.lease
      if (lease?.canPayFor(message)) lease.prepare()
    },
    isOpen: ids.has,
    isSent: ids.isSent,
    pay(message, { mayExist, mayBeCommitted }) {
      const lease = ids.count() >= MAX_IDS ? undefined : pool.find(scopeOf(message))?.lease
      if (!lease?.canPayFor(message) || !lease.trySpend(message.units)) return undefined
      if (mayExist) ids.close(message, mayBeCommitted)
      return {
        takeBack() {
          lease.giveBack(message.units)
          ids.noteUnsent(message)
        },
      }
    },
    async close() {
      ids.retryRefused()
      const unsettled = await pool.close()
      if (unsettled === 0 && ids.count() === 0) return
      const message = `the service has not settled ${unsettled} leases and closed ${ids.count()} ids of messages yet`
      throw new UnavailableError(message, { mayHaveTakenEffect: true })
    },
  }
}

/** Closes ids of messages as the journal does for those that were not sent, but keeps them in memory. */
function createIds(calls: DebtSettlerCalls, timers: Timers) {
  const open = new Map<string, Debt>()
  /** Of the open ones. */
  const unsent = new Set<string>()
  const debts = {
    due: () => [...open.values()],
    async remove(closed: readonly Debt[]) {
      for (const { request } of closed) {
        open.delete(messageKey(request))
        unsent.delete(messageKey(request))
      }
    },
    onUnknown: () => 'release' as const,
    // What the service refuses for now is tried again every minute, and at `close`.
    onRefused() {},
  }
  const debtSettler = createDebtSettler(debts, calls, timers)
  return {
    has: (message: ReserveReq) => open.has(messageKey(message)),
    isSent: (message: ReserveReq) => open.has(messageKey(message)) && !unsent.has(messageKey(message)),
    noteUnsent(message: ReserveReq) {
      if (open.has(messageKey(message))) unsent.add(messageKey(message))
    },
    count: () => open.size,
    retryRefused: debtSettler.retryRefused,
    close(request: ReserveReq, mayBeCommitted: boolean) {
      unsent.delete(messageKey(request))
      const known = open.get(messageKey(request))?.mayBeCommitted === true
      const at = new Date().toISOString()
      open.set(messageKey(request), { request, at, outcome: 'not-sent', mayBeCommitted: mayBeCommitted || known })
      debtSettler.wake()
    },
  }
}

function scopeOf({ country, messageType, ...user }: LeaseScope): LeaseScope {
  return {
    ...userOf(user),
    ...(country === undefined ? {} : { country }),
    ...(messageType === undefined ? {} : { messageType }),
  }
}
