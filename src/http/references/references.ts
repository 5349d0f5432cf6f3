/** Finds users by their references, and remembers for a short time which one each names, so that a sender's call costs a look-up in memory. */
import { REFERENCE_RESERVED_MS } from '../../db/users/profiles.ts'
import { invisibleIn } from '../../domain/basics/invisible.ts'
import { MEMORY_MS } from '../../domain/time/memories.ts'
import { MINUTE_MS } from '../../domain/time/time.ts'
import { isMissingValue } from '../../domain/users/user-profile.ts'
import { Overloaded } from '../../engine/completion.ts'
import { invalidRequest, Problem } from '../../errors.ts'

export interface UserReferences {
  /** The user, if this process remembers it: the look-up takes no time. */
  recall(ref: string): number | undefined
  /**
   * Asks the database, together with all others that come before it answers. Undefined: the reference names no user. Null: the user was
   * erased, and the reference is reserved for some minutes.
   */
  find(ref: string): Promise<number | null | undefined>
}

export interface UserReferencesOptions {
  /** Who the references name, as `find` answers. */
  read: (refs: readonly string[]) => Promise<ReadonlyMap<string, number | null>>
  /** A clock in milliseconds that never steps. */
  monotonicMs?: () => number
  /** The maximum number of references in memory; those that were read first are removed first. */
  maxSize?: number
}

const MAX_REMEMBERED = 100_000
/** References of a statement, and that wait for one. */
const MAX_ROWS = 1_000
const MAX_WAITING = 10_000

interface Waiting {
  readonly promise: Promise<number | null | undefined>
  resolve(userId: number | null | undefined): void
  reject(error: unknown): void
}

export function createUserReferences({
  read,
  monotonicMs = () => performance.now(),
  maxSize = MAX_REMEMBERED,
}: UserReferencesOptions): UserReferences {
  const known = createMemory(maxSize)
  const waiting = new Map<string, Waiting>()
  let isReading = false

  async function readAll(): Promise<void> {
    while (waiting.size > 0) {
      const page = [...waiting].slice(0, MAX_ROWS)
      for (const [ref] of page) waiting.delete(ref)
      // From before it is read: a late answer is no younger.
      const until = monotonicMs() + MEMORY_MS.userOfReference
      try {
        const found = await read(page.map(([ref]) => ref))
        // One that names no user may be given to one at any time, so it is read again.
        known.add(found, until)
        for (const [ref, { resolve }] of page) resolve(found.get(ref))
      } catch (error) {
        for (const [, { reject }] of page) reject(error)
      }
    }
    isReading = false
  }

  return {
    recall: ref => known.get(ref, monotonicMs()),
    find(ref) {
      const joined = waiting.get(ref)
      if (joined !== undefined) return joined.promise
      if (waiting.size >= MAX_WAITING) return Promise.reject(new Overloaded('too many references wait to be found'))
      const added: Waiting = Promise.withResolvers<number | null | undefined>()
      waiting.set(ref, added)
      if (!isReading) {
        isReading = true
        // At the end of the tick, so that all of its references share a statement.
        setImmediate(() => void readAll())
      }
      return added.promise
    },
  }
}

/** The users of many references; those that name none are left out. */
export async function usersOfReferences(
  { recall, find }: UserReferences,
  refs: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const users = new Map<string, number>()
  const found = [...new Set(refs)].map(async ref => {
    const userId = recall(ref) ?? (await find(ref))
    if (typeof userId === 'number') users.set(ref, userId)
  })
  await Promise.all(found)
  return users
}

/**
 * What was read, a page for each statement, in the order of time. Pages end as a whole, so an entry is a number in a map and no object: of
 * a hundred thousand references, what costs is to reach the memory in which they lie.
 */
function createMemory(maxSize: number) {
  const userOf = new Map<string, number>()
  const pages: { readonly refs: readonly string[]; readonly until: number }[] = []
  let nextEnd = Number.POSITIVE_INFINITY

  /** One of its references may have been read again since, and is forgotten, too. */
  function forgetOldest(): void {
    for (const ref of pages.shift()?.refs ?? []) userOf.delete(ref)
    nextEnd = pages[0]?.until ?? Number.POSITIVE_INFINITY
  }

  return {
    get(ref: string, now: number): number | undefined {
      while (now >= nextEnd) forgetOldest()
      return userOf.get(ref)
    },
    /** @param until not before that of an earlier call */
    add(found: ReadonlyMap<string, number | null>, until: number): void {
      const refs: string[] = []
      for (const [ref, userId] of found) {
        if (userId === null) continue
        userOf.set(ref, userId)
        refs.push(ref)
      }
      if (refs.length === 0) return
      pages.push({ refs, until })
      while (userOf.size > maxSize && pages.length > 1) forgetOldest()
      nextEnd = pages[0]?.until ?? Number.POSITIVE_INFINITY
    },
  }
}

const BY_PROFILE = 'A user gets it with PUT /api/sms/admin/users/{user_id}/profile.'
const BY_CALL = 'the first reserve, consume, import or quota makes the user.'
const RESERVED_MINUTES = REFERENCE_RESERVED_MS / MINUTE_MS

/**
 * The problem of a reference that leads to no user.
 *
 * @param found what the look-up of the reference came to
 * @param makesUsers whether the service makes users of new references (AUTO_USERS)
 */
export function unknownUser(ref: string, found: null | undefined, makesUsers: boolean): Problem {
  if (found === null) {
    const detail = `The user who had this reference was erased. The reference is reserved until ${RESERVED_MINUTES} minutes after that; then it may be another user's.`
    return new Problem('unknown_user', detail)
  }
  const otherwise = makesUsers ? `Or ${BY_CALL}` : `With AUTO_USERS=true, ${BY_CALL}`
  return refusalOf(ref) ?? new Problem('unknown_user', `No user has this reference. ${BY_PROFILE} ${otherwise}`)
}

/** The problem of a reference that no user can get. Those who have one from before keep it. */
function refusalOf(ref: string): Problem | undefined {
  const invisible = invisibleIn(ref)
  return invisible === undefined ? undefined : refused(`has the invisible ${invisible}`)
}

/** The problem of a reference for which no user is made (`AUTO_USERS`). */
export function refusalOfNew(ref: string): Problem | undefined {
  if (!isMissingValue(ref)) return refusalOf(ref)
  return refused(
    'is what programs write for a value that they do not have: all such messages would share a user. If a user is called so, give the user the reference with PUT /api/sms/admin/users/{user_id}/profile',
  )
}

const refused = (message: string) => invalidRequest([{ path: '/user_ref', message: `names no user, and ${message}` }])
