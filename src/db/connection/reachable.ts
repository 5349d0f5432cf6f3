/** The wait for a database that is not there yet: its machine starts, or it recovers after a crash. */
import { setTimeout as pause } from 'node:timers/promises'
import { type Database, isUnavailable, type Log } from './database.ts'
import { sqlStateOf } from './errors.ts'

/** The pause between two attempts, in milliseconds. */
const RETRY_MS = 250

/** What the network says of a server that does not run yet, or whose name is not known yet. */
const NOT_RUNNING: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
])

/** The same in words, where there is no code: it closes the connection, or does not answer, or the other host takes writes. */
const IN_WORDS = /terminated|timeout|no answer within|only reads/

export interface Wait {
  /** The longest wait, in milliseconds. */
  readonly ms: number
  readonly log: Log
  /** Ends the wait: it then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Resolves when the database answers. A refusal that does not pass by itself, such as a wrong password, rejects at once, and
 * any other one when the time is over.
 */
export async function untilReachable(db: Pick<Database, 'ping'>, { ms, log, signal }: Wait): Promise<void> {
  const giveUpAt = performance.now() + ms
  for (let logged = ''; ; ) {
    signal?.throwIfAborted()
    try {
      await db.ping()
      if (logged !== '') log.info({}, 'database: there, going on')
      return
    } catch (error) {
      if (!canPass(error) || performance.now() >= giveUpAt) throw error
      const reason = String(error)
      const seconds = Math.ceil((giveUpAt - performance.now()) / 1_000)
      if (reason !== logged) log.warn({ reason, seconds }, 'database: not there yet, waiting')
      logged = reason
    }
    await pause(Math.min(RETRY_MS, Math.max(0, giveUpAt - performance.now())), undefined, { signal }).catch(() => {})
  }
}

/** Whether the server may take connections later, without a change of a setting. */
function canPass(error: unknown): boolean {
  const state = sqlStateOf(error)
  if (state !== undefined) return isUnavailable(error) && /^(08|53|57P)/.test(state)
  const cause = error instanceof Error ? (error.cause ?? error) : error
  if (!(cause instanceof Error)) return false
  const { code, syscall } = cause as NodeJS.ErrnoException
  // The socket of a server on this machine; a certificate that is missing is opened, not connected.
  if (code === 'ENOENT') return syscall === 'connect'
  return code === undefined ? IN_WORDS.test(cause.message) : NOT_RUNNING.has(code)
}
