import { BEGIN, type Cells, type PipelinedConnection, ROLLBACK, type StatementResult } from '../pipelined-connection.ts'
import { unexpiredAt } from '../unexpired.ts'
import { RESERVATION_KEY, type ReservationKey, USER_KEY } from './keys.ts'
import { number, selectionOf, text } from './rows.ts'
import { ledgerStatement, NOW, type Parameters, type Scope } from './statement.ts'

const ACCOUNT = selectionOf({ user_id: number }, 'a')
const QUOTA = selectionOf({ user_id: number, id: number }, 'q')
const RESERVATION = selectionOf({ user_id: number, id: text }, 'r')

const accountsOf = ({ k }: Parameters) => `select ${ACCOUNT.list} from ${k}
    join account a on a.shard = k.shard and a.user_id = k.user_id`

/** Those that a batch in locked mode locks: without the expired ones on which reservations still draw. */
const quotasOf = ({ k, bind }: Parameters) => `select ${QUOTA.list} from ${k}
    join quota q on q.shard = k.shard and q.user_id = k.user_id
    where ${unexpiredAt(bind(NOW))}`

const reservationsOf = ({ k }: Parameters) => `select ${RESERVATION.list} from ${k}
    join reservation r on r.shard = k.shard and r.user_id = k.user_id and r.id = k.id`

export const allAccounts = ledgerStatement('all-accounts', USER_KEY, accountsOf)
export const allQuotas = ledgerStatement('all-quotas', USER_KEY, quotasOf)
export const allReservations = ledgerStatement('all-reservations', RESERVATION_KEY, reservationsOf)

/** Locks those rows that no other transaction has locked, and skips the others. */
export const freeAccounts = ledgerStatement(
  'free-accounts',
  USER_KEY,
  parameters => `${accountsOf(parameters)}
    order by a.user_id for update of a skip locked`,
)
export const freeQuotas = ledgerStatement(
  'free-quotas',
  USER_KEY,
  parameters => `${quotasOf(parameters)}
    order by q.user_id, q.id + 0 for update of q skip locked`,
)
export const freeReservations = ledgerStatement(
  'free-reservations',
  RESERVATION_KEY,
  parameters => `${reservationsOf(parameters)}
    order by r.user_id, r.id for update of r skip locked`,
)

/**
 * Which of some users have rows that another transaction has locked, for when a lock was not granted in time: accounts,
 * quotas, and those of the `named` reservations. It begins a transaction and ends it, so the answer is of the past when it
 * arrives.
 */
export async function findLockedUsers(
  connection: PipelinedConnection,
  scope: Scope,
  users: readonly number[],
  named: readonly ReservationKey[],
): Promise<ReadonlySet<number>> {
  const [, accounts, quotas, reservations, unlockedAccounts, unlockedQuotas, unlockedReservations] =
    await connection.run([
      BEGIN,
      allAccounts.call(scope, users),
      allQuotas.call(scope, users),
      allReservations.call(scope, named),
      freeAccounts.call(scope, users),
      freeQuotas.call(scope, users),
      freeReservations.call(scope, named),
      ROLLBACK,
    ])
  return new Set([
    ...rowsBeyond(accounts, unlockedAccounts).map(cells => number.read(cells[ACCOUNT.at.user_id])),
    ...rowsBeyond(quotas, unlockedQuotas).map(cells => number.read(cells[QUOTA.at.user_id])),
    ...rowsBeyond(reservations, unlockedReservations).map(cells => number.read(cells[RESERVATION.at.user_id])),
  ])
}

/** The rows of one result that another does not have. */
function rowsBeyond(all: StatementResult | undefined, some: StatementResult | undefined): Cells[] {
  const found = new Set((some?.rows ?? []).map(row => row.join(' ')))
  return (all?.rows ?? []).filter(row => !found.has(row.join(' ')))
}
