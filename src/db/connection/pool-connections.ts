import type pg from 'pg'
import { configureSession, createLostSessions, disconnect, type OpenSession } from './session.ts'

/** The connections of a pool, those in use and the idle ones: their sessions, and which of them may be dead. */
export interface PoolConnections {
  /** Sets up a session. Answers how many sessions of lost connections it ended, and whether the server only reads. */
  setUp(
    client: pg.ClientBase,
    settings: Readonly<Record<string, string>>,
  ): Promise<{ ended: number; isReadOnly: boolean }>
  answered(client: pg.ClientBase): void
  /** A connection broke. What killed it may have killed all others. */
  lose(client: pg.ClientBase): void
  isOfCluster(client: pg.ClientBase): boolean
  isLost(client: pg.ClientBase): boolean
  /** Whether it may be dead: it would fail a statement, and after a long time only. */
  isDoubtful(client: pg.ClientBase): boolean
  /** Closes a connection that may be dead. */
  discard(client: pg.ClientBase): void
}

export function createPoolConnections(): PoolConnections {
  const sessions = new WeakMap<pg.ClientBase, OpenSession>()
  /** Connections that must not be used again. */
  const lost = new WeakSet<pg.ClientBase>()
  /** Connections that have answered since one was lost. */
  let alive = new WeakSet<pg.ClientBase>()
  const lostSessions = createLostSessions()

  function abandon(client: pg.ClientBase): void {
    lost.add(client)
    const session = sessions.get(client)
    if (session !== undefined) lostSessions.add(session)
  }

  return {
    async setUp(client, settings) {
      const session = await configureSession(client, settings)
      sessions.set(client, session)
      const ended = await lostSessions.end(client)
      alive.add(client)
      return { ended, isReadOnly: session.isReadOnly }
    },
    answered: client => void alive.add(client),
    lose(client) {
      if (lost.has(client)) return
      abandon(client)
      alive = new WeakSet()
    },
    isOfCluster: client => sessions.get(client)?.isCluster ?? false,
    isLost: client => lost.has(client),
    isDoubtful: client => !alive.has(client),
    discard(client) {
      abandon(client)
      disconnect(client, 'another connection to the same server was lost')
    },
  }
}

/** How the pool words that all its connections are in use, or are still being opened, for too long. */
const WAITED_TOO_LONG = 'timeout exceeded when trying to connect'

/** Tells whether an error of `pool.connect` means that all connections are in use; if some are still being opened, it does not. */
export function fullnessOf(pool: pg.Pool): (error: unknown) => boolean {
  let opened = 0
  pool.on('connect', () => opened++)
  pool.on('remove', () => opened--)
  return error => error instanceof Error && error.message === WAITED_TOO_LONG && opened >= pool.options.max
}
