/**
 * The dictionary of principals, as far as the engine knows it. A principal is read or added once, before the transaction of
 * the first batch that has a command of it; later batches find it in memory.
 */
import type { PipelinedConnection, StatementResult } from '../db/connection/pipelined-connection.ts'
import {
  addPrincipals,
  hasRoomForPrincipals,
  loadLastPrincipal,
  loadPrincipals,
  principalsIn,
} from '../db/ledger/principals.ts'
import type { Scope } from '../db/ledger/statement.ts'
import type { Command } from '../domain/units/command.ts'
import type { Connections } from './connections.ts'

/** The ids of principals by their subjects; null for those that the dictionary has no room for. */
export type PrincipalIds = ReadonlyMap<string, number | null>

export interface Principals {
  /** The ids of all principals of a batch. */
  idsOf(
    connection: PipelinedConnection,
    batch: Scope & { readonly commands: readonly Command[] },
  ): Promise<PrincipalIds> | PrincipalIds
  /** Forgets all ids after a connection was lost: a standby that took over may have given the same ones to others. */
  forgetAll(): void
}

/** The most principals in memory. Beyond them all are forgotten, and read again as they come. */
const MAX_KNOWN = 10_000

/** @param home connections to the coordinator of a cluster, which alone adds to the dictionary; default: the batch's own */
export function createPrincipals(home?: Connections): Principals {
  const known = new Map<string, number | null>()

  async function learn(
    connection: PipelinedConnection,
    scope: Scope,
    ids: Map<string, number | null>,
    unknown: readonly string[],
  ): Promise<PrincipalIds> {
    const found = (result: StatementResult | undefined) => {
      for (const { subject, id } of principalsIn(result)) ids.set(subject, id)
    }
    for (const subject of unknown) ids.set(subject, null)
    // Every node has a copy, so senders go on without the coordinator.
    const [present, last] = await connection.run([
      loadPrincipals.call(scope, unknown),
      loadLastPrincipal.call(scope, []),
    ])
    found(present)
    const missing = unknown.filter(subject => ids.get(subject) === null)
    if (missing.length > 0 && hasRoomForPrincipals(last)) {
      const calls = [addPrincipals.call(scope, missing), loadPrincipals.call(scope, missing)]
      const [, added] = await (home === undefined ? connection.run(calls) : home.use(other => other.run(calls)))
      found(added)
    }
    if (known.size + unknown.length > MAX_KNOWN) known.clear()
    for (const subject of unknown) known.set(subject, ids.get(subject) ?? null)
    return ids
  }

  return {
    idsOf(connection, batch) {
      const ids = new Map<string, number | null>()
      const unknown: string[] = []
      for (const { origin } of batch.commands) {
        if (origin === undefined || ids.has(origin.principal)) continue
        const id = known.get(origin.principal)
        ids.set(origin.principal, id ?? null)
        if (id === undefined) unknown.push(origin.principal)
      }
      return unknown.length === 0 ? ids : learn(connection, batch, ids, unknown.sort())
    },
    forgetAll: () => known.clear(),
  }
}
