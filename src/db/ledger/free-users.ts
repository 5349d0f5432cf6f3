import type { PipelinedConnection, StatementResult } from '../pipelined-connection.ts'
import { numbers } from './arrays.ts'

/**
 * Which of some users nobody holds just now, for when a lock could not be had in time. It begins a transaction and ends
 * it.
 */
export async function findFreeUsers(
  connection: PipelinedConnection,
  shard: number,
  users: readonly number[],
): Promise<ReadonlySet<number>> {
  const values = [String(shard), numbers(users, user => user)]
  const [, allAccounts, allQuotas, freeAccounts, freeQuotas] = await connection.run([
    { name: 'begin', values: [] },
    { name: 'all-accounts', values },
    { name: 'all-quotas', values },
    { name: 'free-accounts', values },
    { name: 'free-quotas', values },
    { name: 'rollback', values: [] },
  ])
  const held = [...rowsBeyond(allAccounts, freeAccounts), ...rowsBeyond(allQuotas, freeQuotas)].map(([user]) =>
    Number(user),
  )
  const heldUsers = new Set(held)
  return new Set(users.filter(user => !heldUsers.has(user)))
}

function rowsBeyond(all: StatementResult | undefined, free: StatementResult | undefined): (string | null)[][] {
  const known = new Set((free?.rows ?? []).map(row => row.join(' ')))
  return (all?.rows ?? []).filter(row => !known.has(row.join(' ')))
}
