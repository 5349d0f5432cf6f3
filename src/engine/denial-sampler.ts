import type { EpochMs } from '../domain/time/time.ts'

/**
 * Chooses which denials are logged, so that neither a broken sender nor an attacker can fill the disk. Within the bounds
 * every denial is. Beyond them it counts, per user, how many were left out.
 */
export interface DenialSampler {
  /** Whether the next denial of a user would be logged now. Others that come before it may take its place. */
  hasRoom(userId: number, now: EpochMs): boolean
  /** Begins to choose among the denials of a batch. */
  begin(now: EpochMs): DenialSample
}

/** The choice among the denials of one batch. A user is in one batch at a time. */
export interface DenialSample {
  /**
   * The next denial of a user. If it is to be logged, answers how many were left out before it, null if that is not
   * known; false if it is left out itself.
   */
  take(userId: number): number | null | false
  /** To be called once the batch is committed: before that, nothing is logged, and nothing counts as left out. */
  keep(): void
}

/** The number that may be logged at once, and the milliseconds after which one more may be. */
interface Rate {
  readonly burst: number
  readonly intervalMs: number
}

/** 60 in any hour at most. Spread over the hour, so that a user who is denied all the time has a recent one at any time. */
const PER_USER: Rate = { burst: 30, intervalMs: 120_000 }
/** 20 a second: 1.7 million rows a day, some 0.7 GB. */
const PER_PROCESS: Rate = { burst: 1_200, intervalMs: 50 }

/** Users whose denials are counted, in two generations of half as many. */
const MAX_USERS = 65_536

/** The rest of a rate at a time. */
interface Allowance {
  left: number
  at: EpochMs
}

interface UserEntry extends Allowance {
  /** Denials left out since the last that was logged; null: not known. */
  skipped: number | null
}

/** Batches may be decided in another order than they began in; an earlier time than that is a clock that was set back. */
const SET_BACK_MS = 60_000

/** The rest of the rate now. */
function leftAt({ left, at }: Allowance, { burst, intervalMs }: Rate, now: EpochMs): number {
  return Math.min(burst, left + Math.max(0, now - at) / intervalMs)
}

function refill(allowance: Allowance, rate: Rate, now: EpochMs): void {
  allowance.left = leftAt(allowance, rate, now)
  if (now > allowance.at || now < allowance.at - SET_BACK_MS) allowance.at = now
}

/** @param maxUsers about how many users it remembers; fewer in tests */
export function createDenialSampler(maxUsers = MAX_USERS): DenialSampler {
  const users = createRecentUsers(maxUsers)
  const ofProcess: Allowance = { left: PER_PROCESS.burst, at: 0 }

  function entryOf(userId: number, now: EpochMs): UserEntry {
    const known = users.get(userId)
    const entry = known === undefined ? { left: PER_USER.burst, at: now, skipped: users.unknown } : { ...known }
    refill(entry, PER_USER, now)
    return entry
  }

  return {
    hasRoom(userId, now) {
      if (leftAt(ofProcess, PER_PROCESS, now) < 1) return false
      const known = users.get(userId)
      return known === undefined || leftAt(known, PER_USER, now) >= 1
    },

    begin(now) {
      const entries = new Map<number, UserEntry>()
      refill(ofProcess, PER_PROCESS, now)
      return {
        take(userId) {
          let entry = entries.get(userId)
          if (entry === undefined) {
            entry = entryOf(userId, now)
            entries.set(userId, entry)
          }
          const { skipped } = entry
          if (entry.left < 1 || ofProcess.left < 1) {
            if (skipped !== null) entry.skipped = skipped + 1
            return false
          }
          entry.left -= 1
          // Also if the batch fails: fewer are logged then, and never more.
          ofProcess.left -= 1
          entry.skipped = 0
          return skipped
        },
        keep() {
          for (const [userId, entry] of entries) users.set(userId, entry)
        },
      }
    },
  }
}

/**
 * The users of about the last `max` that were set, in two generations: when the younger one is full, the older one is
 * dropped as a whole. A map that drops its first entry for each new one is slow.
 */
function createRecentUsers(max: number) {
  let younger = new Map<number, UserEntry>()
  let older = new Map<number, UserEntry>()
  let hasForgotten = false
  return {
    /** The number known to have been left out, of users that are not among them: none, until counts were dropped. */
    get unknown() {
      return hasForgotten ? null : 0
    },
    get: (userId: number) => younger.get(userId) ?? older.get(userId),
    set(userId: number, entry: UserEntry) {
      older.delete(userId)
      younger.set(userId, entry)
      if (younger.size <= max / 2) return
      for (const { skipped } of older.values()) hasForgotten ||= skipped !== 0
      older = younger
      younger = new Map()
    },
  }
}
