import { BEGIN, type PipelinedConnection, ROLLBACK, type StatementResult } from '../pipelined-connection.ts'
import { unexpiredAt } from '../unexpired.ts'
import { bigints } from './arrays.ts'
import { number, selectionOf } from './rows.ts'
import { ledgerStatement, NOW, type Parameters, type Scope } from './statement.ts'

const USERS = { user_id: bigints((user: number) => user) }

const ACCOUNT = selectionOf({ user_id: number })
const QUOTA = selectionOf({ user_id: number, id: number })

const accountsOf = ({ shard, arrays: users }: Parameters) =>
  `select ${ACCOUNT.list} from account where shard = ${shard} and user_id = any(${users})`
/** Those that a batch in locked mode locks: without the expired ones on which reservations still draw. */
const quotasOf = ({ shard, arrays: users, bind }: Parameters) =>
  `select ${QUOTA.list} from quota where shard = ${shard} and user_id = any(${users}) and ${unexpiredAt(bind(NOW))}`

export const allAccounts = ledgerStatement('all-accounts', USERS, accountsOf)
export const allQuotas = ledgerStatement('all-quotas', USERS, quotasOf)

/** Locks those rows that no other transaction has locked, and skips the others. */
export const freeAccounts = ledgerStatement(
  'free-accounts',
  USERS,
  parameters => `${accountsOf(parameters)}
    order by user_id for update skip locked`,
)
export const freeQuotas = ledgerStatement(
  'free-quotas',
  USERS,
  parameters => `${quotasOf(parameters)}
    order by user_id, id + 0 for update skip locked`,
)

/**
 * Which of some users have no rows that another transaction has locked, for when a lock was not granted in time. It
 * begins a transaction and ends it, so the answer is of the past when it arrives.
 */
export async function findFreeUsers(
  connection: PipelinedConnection,
  scope: Scope,
  users: readonly number[],
): Promise<ReadonlySet<number>> {
  const [, accounts, quotas, unlockedAccounts, unlockedQuotas] = await connection.run([
    BEGIN,
    allAccounts.call(scope, users),
    allQuotas.call(scope, users),
    freeAccounts.call(scope, users),
    freeQuotas.call(scope, users),
    ROLLBACK,
  ])
  const lockedUsers = new Set([
    ...rowsBeyond(accounts, unlockedAccounts).map(cells => number.read(cells[ACCOUNT.at.user_id])),
    ...rowsBeyond(quotas, unlockedQuotas).map(cells => number.read(cells[QUOTA.at.user_id])),
  ])
  return new Set(users.filter(user => !lockedUsers.has(user)))
}

/** The rows of one result that another does not have. */
function rowsBeyond(all: StatementResult | undefined, some: StatementResult | undefined): StatementResult['rows'] {
  const found = new Set((some?.rows ?? []).map(row => row.join(' ')))
  return (all?.rows ?? []).filter(row => !found.has(row.join(' ')))
}
