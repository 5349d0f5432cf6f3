/**
 * The processes of the service, by their URLs: which one a call goes to, and which are avoided.
 *
 * A user belongs to one of them by rendezvous hashing (highest random weight), the same in every client and in any order of the URLs:
 * each URL has a weight for each user, and the highest one wins, so that a URL more or less moves only the users it wins or loses. The
 * weight is FNV-1a (32 bits) of `<url> <user>`, the id or `ref:` and the encoded reference, finished as in MurmurHash3. `_processes.py` of the client for Python has the same, and
 * test/client/rendezvous.json what both must answer.
 *
 * A process is *avoided* after a failure. When that time is over, one call looks, while the others still avoid it. Clients that saw the
 * same failure look at different times, so that a process that has just started gets its users back one client after the other. If all are
 * avoided, the calls take turns at them, and the first answer ends it for all: what they had in common, such as the database, is back.
 */

import type { UserKey } from './user.ts'

export interface Process {
  /** Its URL without a slash at the end. */
  readonly base: string
}

/** What became of an attempt. `late`: there was no answer in the time that it had. */
export type Outcome = 'answered' | 'away' | 'late'

export interface Processes {
  /** The one that the next call about the user goes to; the first one that is not avoided, if a call names none. */
  of(user: UserKey | undefined): Process
  /** As `of`, for a call that goes out now. @param failed the one that has failed this call */
  take(user: UserKey | undefined, failed?: Process): Process
  /** Whether another one is not avoided. */
  hasOther(process: Process): boolean
  note(process: Process, outcome: Outcome, startedAt: number): void
}

const FIRST_AVOIDED_MS = 1_000
const MAX_AVOIDED_MS = 10_000
/** A single late answer says little. */
const LATE_TO_AVOID = 3
const FNV_OFFSET = 0x811c9dc5

class Known implements Process {
  readonly base: string
  readonly seed: number
  /** Since the last answer. */
  failures = 0
  late = 0
  failedAt = Number.NEGATIVE_INFINITY
  avoidedUntil = Number.NEGATIVE_INFINITY

  constructor(base: string) {
    this.base = base
    this.seed = seedOf(base)
  }

  /** @param jitter from 0 to 1 */
  avoid(now: number, jitter: number): void {
    const ms = Math.min(MAX_AVOIDED_MS, FIRST_AVOIDED_MS * 2 ** (this.failures - 1))
    this.avoidedUntil = now + ms * (0.5 + jitter / 2)
  }

  forgive(): void {
    this.failures = 0
    this.avoidedUntil = Number.NEGATIVE_INFINITY
  }
}

/**
 * @param now a clock in milliseconds that never steps back
 * @throws TypeError
 */
export function createProcesses(
  url: string | readonly string[],
  now: () => number,
  random: () => number = Math.random,
): Processes {
  const known = basesOf(url).map(base => new Known(base))
  const isAvoided = ({ avoidedUntil }: Known) => now() < avoidedUntil

  function choose(user: UserKey | undefined, failed?: Process): Known {
    const [only, ...others] = known
    if (only !== undefined && others.length === 0) return only
    const order = orderFor(known, user)
    const open = order.filter(process => !isAvoided(process))
    const chosen = open.find(process => process !== failed) ?? open[0]
    return (
      chosen ?? order.reduce((soonest, process) => (process.avoidedUntil < soonest.avoidedUntil ? process : soonest))
    )
  }

  function find(process: Process): Known | undefined {
    return known.find(({ base }) => base === process.base)
  }

  return {
    of: choose,

    take(user, failed) {
      const process = choose(user, failed)
      if (process.failures > 0) process.avoid(now(), random())
      return process
    },

    hasOther: process => known.some(other => other.base !== process.base && !isAvoided(other)),

    note(process, outcome, startedAt) {
      const noted = find(process)
      if (noted === undefined || known.length === 1) return
      if (outcome === 'answered') {
        noted.late = 0
        // An older attempt says nothing of now.
        if (noted.failures === 0 || startedAt < noted.failedAt) return
        const wereAllAway = known.every(({ failures }) => failures > 0)
        for (const back of wereAllAway ? known : [noted]) back.forgive()
        return
      }
      noted.late += 1
      if (outcome === 'late' && noted.late < LATE_TO_AVOID && noted.failures === 0) return
      // What fails together is one failure.
      if (startedAt >= noted.failedAt) {
        noted.failures += 1
        noted.failedAt = now()
      }
      noted.avoid(now(), random())
    },
  }
}

/** The user's own one first. */
function orderFor(known: readonly Known[], user: UserKey | undefined): readonly Known[] {
  if (user === undefined) return known
  const weighed = known.map(process => ({ process, weight: weightOf(process.seed, user) }))
  weighed.sort((a, b) => b.weight - a.weight || (a.process.base < b.process.base ? -1 : 1))
  return weighed.map(({ process }) => process)
}

/** The URLs in one spelling, in which they are hashed. @throws TypeError */
function basesOf(url: string | readonly string[]): string[] {
  const bases = [url].flat().map(text => {
    if (!(URL.canParse(text) && /^https?:/i.test(text)))
      throw new TypeError('`url` of createClient is no address such as https://quota.example')
    return new URL(text).href.replace(/\/+$/, '')
  })
  if (bases.length === 0)
    throw new TypeError('`url` of createClient is an empty list: it needs an address of the service')
  const double = bases.find((base, index) => bases.indexOf(base) < index)
  if (double !== undefined) throw new TypeError(`\`url\` of createClient names ${new URL(double).origin} twice`)
  return bases
}

/**
 * The user in a header, by which proxies may hash: the id, or 16 bits of a reference. A reference may be personal, and headers get into
 * logs. Of a million references some fifteen share a value, and 65,536 values are enough to spread them evenly.
 */
export const headerOf = (user: UserKey): string =>
  typeof user === 'number' ? String(user) : `ref-${(weightOf(FNV_OFFSET, user) >>> 16).toString(16)}`

/** Of the URL, in the one spelling in which `URL` writes it: ASCII. */
function seedOf(url: string): number {
  return fnv1a(FNV_OFFSET, `${url} `)
}

/** @param seed of the URL */
function weightOf(seed: number, user: UserKey): number {
  let hash = fnv1a(seed, String(user))
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

function fnv1a(start: number, text: string): number {
  let hash = start
  for (let n = 0; n < text.length; n++) hash = Math.imul(hash ^ text.charCodeAt(n), 0x01000193)
  return hash
}
