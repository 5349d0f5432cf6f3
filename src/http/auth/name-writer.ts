/** Stores the names in tokens in the background, so that people can read them beside the subjects of changes. */
import type { Log } from '../../db/connection/database.ts'
import type { SeenName } from '../../db/users/principal-names.ts'
import { MEMORY_MS } from '../../domain/time/memories.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import { createExpiringMap } from '../platform/expiring-map.ts'
import type { Principal } from './claims.ts'

export interface NameWriter {
  /** Takes note of a principal whose token was verified. It never throws, and what it starts is not waited for. */
  note(principal: Pick<Principal, 'subject' | 'name' | 'userId' | 'userRef' | 'roles'>, now: EpochMs): void
  /** Writes nothing further; resolves when the statement under way has ended. */
  stop(): Promise<void>
}

export interface NameWriterOptions {
  /** The users of references; those that no user has are left out. */
  usersOf: (refs: readonly string[]) => Promise<ReadonlyMap<string, number>>
  write: (names: readonly SeenName[], now: EpochMs) => Promise<void>
  log: Pick<Log, 'warn'>
}

/** The most names in memory. The least recently used is written again when it comes again. */
const MAX_KNOWN = 10_000
/** The most names that wait. Those beyond are dropped, and come again when their token is next verified. */
const MAX_WAITING = 1_000
const MAX_ROWS = 100

interface NotedName extends SeenName {
  user_ref: string | null
}

export function createNameWriter({ usersOf, write, log }: NameWriterOptions): NameWriter {
  /** The name of a subject that was written, or is about to be. */
  const known = createExpiringMap<string>(MEMORY_MS.storedName, MAX_KNOWN)
  const waiting = new Map<string, NotedName>()
  let writing: Promise<void> | null = null
  let isStopped = false

  async function writeIdentified(names: readonly NotedName[], now: EpochMs): Promise<void> {
    const refs = names.flatMap(({ user_ref }) => user_ref ?? [])
    const users = refs.length === 0 ? new Map<string, number>() : await usersOf(refs)
    const userOf = ({ user_id, user_ref }: NotedName) => user_id ?? users.get(user_ref ?? '') ?? null
    await write(
      names.map(name => ({ subject: name.subject, name: name.name, user_id: userOf(name) })),
      now,
    )
    // A reference may get its user at any time, whose erasure is to remove the name: with the next token it is written again.
    for (const { subject, name, user_ref } of names)
      if (user_ref !== null && !users.has(user_ref)) known.set(subject, name, now)
  }

  async function writeAll(now: EpochMs): Promise<void> {
    while (waiting.size > 0 && !isStopped) {
      const names = [...waiting.values()].slice(0, MAX_ROWS)
      for (const { subject } of names) waiting.delete(subject)
      await writeIdentified(names, now).catch(error => {
        log.warn({ reason: String(error) }, 'names: not stored, trying again with the next token')
        for (const { subject, name } of names) known.set(subject, name, now)
      })
    }
    writing = null
  }

  return {
    note({ subject, name, userId, userRef, roles }, now) {
      // Customers have no role: their names are not needed, so they are not stored.
      if (name === null || roles.length === 0 || known.get(subject, now) === name) return
      if (waiting.size >= MAX_WAITING || isStopped) return
      // It is written again after that, to note that it is still in use.
      known.set(subject, name, now + MEMORY_MS.storedName)
      waiting.set(subject, { subject, name, user_id: userId, user_ref: userRef })
      writing ??= writeAll(now)
    },
    async stop() {
      isStopped = true
      await writing
    },
  }
}
