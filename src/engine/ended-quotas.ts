import type { PipelinedConnection } from '../db/connection/pipelined-connection.ts'
import { endedQuotasIn, readEndedQuotas } from '../db/ledger/load-ended-quotas.ts'
import type { Scope } from '../db/ledger/statement.ts'
import type { Command } from '../domain/command.ts'
import type { EndedQuota } from '../domain/draft.ts'
import { usersOf } from './user-states.ts'

interface Batch extends Scope {
  readonly commands: readonly Command[]
}

/**
 * The quotas that ended last, of the users whose commands ask for an explanation. Memory has unexpired quotas only. It is
 * read before the transaction, so that no lock is held meanwhile, and nothing is decided on it.
 */
export async function endedQuotasOf(
  connection: PipelinedConnection,
  batch: Batch,
): Promise<ReadonlyMap<number, readonly EndedQuota[]>> {
  const asking = batch.commands.filter(command => 'explain' in command && command.explain)
  if (asking.length === 0) return NONE
  const [result] = await connection.run([readEndedQuotas.call(batch, usersOf(asking))])
  return Map.groupBy(endedQuotasIn(result), ({ user_id }) => user_id)
}

const NONE: ReadonlyMap<number, readonly EndedQuota[]> = new Map()
