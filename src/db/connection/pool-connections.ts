import type pg from 'pg'
import { configureSession, disconnect, LostSessions, type OpenSession } from './session.ts'

/** What is known about the connections of a pool, while it uses them and while they are idle. */
export class PoolConnections {
  private readonly sessions = new WeakMap<pg.ClientBase, OpenSession>()
  /** Connections that must not be used again. */
  private readonly lost = new WeakSet<pg.ClientBase>()
  /** Connections that have answered since one was lost. */
  private alive = new WeakSet<pg.ClientBase>()
  private readonly lostSessions = new LostSessions()

  /** Sets up a session. Answers how many sessions of lost connections it ended, and whether the server only reads. */
  async setUp(
    client: pg.ClientBase,
    settings: Readonly<Record<string, string>>,
  ): Promise<{ ended: number; isReadOnly: boolean }> {
    const session = await configureSession(client, settings)
    this.sessions.set(client, session)
    const ended = await this.lostSessions.end(client)
    this.answered(client)
    return { ended, isReadOnly: session.isReadOnly }
  }

  answered(client: pg.ClientBase): void {
    this.alive.add(client)
  }

  /** A connection broke. What killed it may have killed all others. */
  lose(client: pg.ClientBase): void {
    if (this.lost.has(client)) return
    this.abandon(client)
    this.alive = new WeakSet()
  }

  isOfCluster(client: pg.ClientBase): boolean {
    return this.sessions.get(client)?.isCluster ?? false
  }

  isLost(client: pg.ClientBase): boolean {
    return this.lost.has(client)
  }

  /** Whether it may be dead: it would fail a statement, and after a long time only. */
  isDoubtful(client: pg.ClientBase): boolean {
    return !this.alive.has(client)
  }

  /** Closes a connection that may be dead. */
  discard(client: pg.ClientBase): void {
    this.abandon(client)
    disconnect(client, 'another connection to the same server was lost')
  }

  private abandon(client: pg.ClientBase): void {
    this.lost.add(client)
    const session = this.sessions.get(client)
    if (session !== undefined) this.lostSessions.add(session)
  }
}
