/** Leases for many users, countries and types: bounded in number, and closed when they are not used. */
import { hasCode, isNotFound } from './errors.ts'
import { createLease, type LeaseCalls, type LeaseInput, type OwnLease, type OwnLeaseInput } from './lease.ts'
import type { Later, Timers } from './timers.ts'
import { userKey } from './user.ts'

export type LeaseScope = Pick<LeaseInput, 'userId' | 'userRef' | 'country' | 'messageType'>

export interface LeasePoolOptions {
  readonly calls: LeaseCalls
  /** What a lease reserves at a time, and for how long. */
  readonly lease: Omit<OwnLeaseInput, keyof LeaseScope>
  readonly maxLeases: number
  /** A lease that is not used for so long is closed. */
  readonly idleMs: number
  readonly timers: Timers
}

export interface PooledLease {
  readonly lease: OwnLease
  /** False when it is closed, or is being closed. */
  readonly isOpen: boolean
}

export interface LeasePool {
  /** The open lease of a scope, which counts as a use. */
  find(scope: LeaseScope): PooledLease | undefined
  /**
   * Opens a lease for a scope that has none. Undefined if there is no room; then the lease that has not been used for the
   * longest time is closed, so that there is room soon.
   */
  open(scope: LeaseScope): PooledLease | undefined
  /** Closes all, and opens no more. @returns how many the service has not settled; what these hold is charged when it expires */
  close(): Promise<number>
}

const CLOSE_AGAIN_MS = 5_000

interface Entry extends PooledLease {
  isOpen: boolean
  usedAt: number
}

export function createLeasePool({ calls, lease: size, maxLeases, idleMs, timers }: LeasePoolOptions): LeasePool {
  const { now, later } = timers
  /** The one that was used last comes last. */
  const open = new Map<string, Entry>()
  const closing = createClosing(later)
  let cancelIdle: (() => void) | undefined
  let isClosed = false

  function retire(key: string, entry: Entry): void {
    entry.isOpen = false
    open.delete(key)
    closing.add(entry.lease)
  }

  /** One timer, for the lease that was not used for the longest time. */
  function watchIdle(): void {
    const [oldest] = open.values()
    if (oldest === undefined || cancelIdle !== undefined) return
    cancelIdle = later(Math.max(0, oldest.usedAt + idleMs - now()), () => {
      cancelIdle = undefined
      for (const [key, entry] of open) {
        if (entry.usedAt + idleMs > now()) break
        retire(key, entry)
      }
      watchIdle()
    })
  }

  return {
    find(scope) {
      const key = scopeKey(scope)
      const entry = open.get(key)
      if (entry === undefined) return undefined
      entry.usedAt = now()
      open.delete(key)
      open.set(key, entry)
      return entry
    },

    open(scope) {
      if (isClosed) return undefined
      if (open.size + closing.size() >= maxLeases) {
        const [oldest] = open
        if (closing.size() === 0 && oldest !== undefined) retire(...oldest)
        return undefined
      }
      const entry: Entry = { lease: createLease(calls, { ...scope, ...size }, timers), isOpen: true, usedAt: now() }
      open.set(scopeKey(scope), entry)
      watchIdle()
      return entry
    },

    async close() {
      isClosed = true
      cancelIdle?.()
      for (const [key, entry] of open) retire(key, entry)
      return closing.end()
    },
  }
}

/**
 * Leases that are being closed: each again and again until that is certain. What the service has no more, for example of a user
 * who was erased, or what another has settled cannot be. Any other refusal may pass: it may be about a token, or come from a proxy.
 */
function createClosing(later: Later) {
  /** With what cancels the next try. */
  const leases = new Map<OwnLease, () => void>()

  function add(lease: OwnLease): void {
    leases.set(lease, () => {})
    lease.close().then(
      () => leases.delete(lease),
      error => {
        if (isNotFound(error) || hasCode(error, 'reservation_closed')) {
          leases.delete(lease)
          lease.giveUp()
        } else {
          leases.set(lease, again(lease))
        }
      },
    )
  }

  const again = (lease: OwnLease) => later(CLOSE_AGAIN_MS, () => add(lease))

  return {
    size: () => leases.size,
    add,
    /** Tries once more. @returns how many are not settled */
    async end(): Promise<number> {
      const results = await Promise.allSettled(Array.from(leases.keys(), lease => lease.close()))
      for (const cancel of leases.values()) cancel()
      return results.filter(({ status }) => status === 'rejected').length
    },
  }
}

/** Tells scopes apart. */
export function scopeKey({ country = '', messageType = '', ...user }: LeaseScope): string {
  return `${country} ${messageType} ${userKey(user)}`
}
