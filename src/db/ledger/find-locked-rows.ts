import {
  BEGIN,
  type Cells,
  type PipelinedConnection,
  ROLLBACK,
  type StatementResult,
} from '../connection/pipelined-connection.ts'
import { sql } from '../connection/sql.ts'
import { RESERVATION_KEY, type ReservationKey, USER_KEY } from './keys.ts'
import { number, selectListOf, text } from './rows.ts'
import { ledgerStatement, NOW, type Parameters, type Scope } from './statement.ts'
import { unexpiredAt } from './unexpired.ts'

/** A row's key within its table, and the transaction that has locked it, if one has. An account's key is its user. */
const COLUMNS = { user_id: number, xmax: text, id: text }
const { list: QUOTA_ROW, at: AT } = selectListOf(COLUMNS, sql`q`)
const { list: RESERVATION_ROW } = selectListOf(COLUMNS, sql`r`)
const { list: ACCOUNT_ROW } = selectListOf({ user_id: number, xmax: text }, sql`a`)

const accountsOf = ({ k }: Parameters) => sql`select ${ACCOUNT_ROW} from ${k}
    join account a on a.shard = k.shard and a.user_id = k.user_id`

/** The quotas that a batch in locked mode locks: without the expired ones on which reservations still draw. */
const quotasOf = ({ k, bind }: Parameters) => sql`select ${QUOTA_ROW} from ${k}
    join quota q on q.shard = k.shard and q.user_id = k.user_id
    where ${unexpiredAt(bind(NOW))}`

const reservationsOf = ({ k }: Parameters) => sql`select ${RESERVATION_ROW} from ${k}
    join reservation r on r.shard = k.shard and r.user_id = k.user_id and r.id = k.id`

export const allAccounts = ledgerStatement('all-accounts', USER_KEY, accountsOf)
export const allQuotas = ledgerStatement('all-quotas', USER_KEY, quotasOf)
export const allReservations = ledgerStatement('all-reservations', RESERVATION_KEY, reservationsOf)

/** Locks those rows that no other transaction has locked, and skips the others. */
export const freeAccounts = ledgerStatement(
  'free-accounts',
  USER_KEY,
  parameters => sql`${accountsOf(parameters)}
    order by a.user_id for update of a skip locked`,
)
export const freeQuotas = ledgerStatement(
  'free-quotas',
  USER_KEY,
  parameters => sql`${quotasOf(parameters)}
    order by q.user_id, q.id + 0 for update of q skip locked`,
)
export const freeReservations = ledgerStatement(
  'free-reservations',
  RESERVATION_KEY,
  parameters => sql`${reservationsOf(parameters)}
    order by r.user_id, r.id for update of r skip locked`,
)

/** A row that another transaction has locked, and which one: PostgreSQL's number of it, or of a group of them. */
interface LockedRow {
  readonly userId: number
  readonly holder: string
}

/** Locked rows by table and key. */
export type LockedRows = ReadonlyMap<string, LockedRow>

/**
 * Finds the rows of some users that other transactions have locked, after a lock was not granted in time: accounts,
 * quotas, and those of the `named` reservations. It begins a transaction and ends it, so the answer is of the past when
 * it arrives.
 */
export async function findLockedRows(
  connection: PipelinedConnection,
  scope: Scope,
  users: readonly number[],
  named: readonly ReservationKey[],
): Promise<LockedRows> {
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
  return new Map([
    ...lockedIn('account', accounts, unlockedAccounts),
    ...lockedIn('quota', quotas, unlockedQuotas),
    ...lockedIn('reservation', reservations, unlockedReservations),
  ])
}

/**
 * The users who have a row that one and the same transaction has locked at two times, a group for each such transaction.
 * Batches of other processes lock rows, too, for milliseconds: at both times these are different ones.
 */
export function heldUsers(earlier: LockedRows, later: LockedRows): Set<number>[] {
  const groups = new Map<string, Set<number>>()
  const seen = new Set<number>()
  for (const [row, { userId, holder }] of later) {
    if (earlier.get(row)?.holder !== holder || seen.has(userId)) continue
    seen.add(userId)
    groups.set(holder, (groups.get(holder) ?? new Set()).add(userId))
  }
  return [...groups.values()]
}

/** The rows of one result that another does not have. */
function* lockedIn(
  table: string,
  all: StatementResult | undefined,
  free: StatementResult | undefined,
): Generator<[string, LockedRow]> {
  const keyOf = (cells: Cells) => `${table} ${cells[AT.user_id]} ${cells[AT.id]}`
  const found = new Set((free?.rows ?? []).map(keyOf))
  for (const cells of all?.rows ?? []) {
    if (found.has(keyOf(cells))) continue
    yield [keyOf(cells), { userId: number.read(cells[AT.user_id]), holder: text.read(cells[AT.xmax]) }]
  }
}
