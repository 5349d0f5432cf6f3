import { loadDrawnQuotas, loadQuotas, readQuotas } from '../db/ledger/load-quotas.ts'
import { loadReservations } from '../db/ledger/load-reservations.ts'
import { fenceQuotas, lockAccounts, writeAccounts } from '../db/ledger/lock-accounts.ts'
import { quotasIn } from '../db/ledger/quota-rows.ts'
import { reservationsIn } from '../db/ledger/reservation-rows.ts'
import type { Stored } from '../db/ledger/rows.ts'
import type { Scope } from '../db/ledger/statement.ts'
import {
  BEGIN,
  type PipelinedConnection,
  type StatementCall,
  type StatementResult,
} from '../db/pipelined-connection.ts'
import type { Command } from '../domain/command.ts'
import type { Allowance } from '../domain/quota.ts'
import type { Reservation } from '../domain/reservation.ts'
import type { EpochMs } from '../domain/time.ts'
import type { Memory } from './memory.ts'

/** A user's rows as they are when a batch begins: the quotas by id, and the reservations that commands name and exist. */
export interface UserState {
  readonly quotas: readonly Stored<Allowance>[]
  readonly reservations: ReadonlyMap<string, Stored<Reservation>>
}

/** A state while it is put together. */
interface PartialState {
  quotas: Stored<Allowance>[]
  reservations: Map<string, Stored<Reservation>>
}

export type UserStates = ReadonlyMap<number, UserState>

/** The part of a batch that says which rows it needs. */
interface Batch extends Scope {
  readonly commands: readonly Command[]
}

/** Sorted: batches that lock the same users lock them in the same order. */
export function usersOf(commands: readonly Command[]): number[] {
  return [...new Set(commands.map(command => command.user_id))].sort((one, other) => one - other)
}

/** A user's entry in a map that has one for every user of the batch. */
export function entryOf<Entry>(entries: ReadonlyMap<number, Entry>, userId: number): Entry {
  const entry = entries.get(userId)
  if (entry === undefined) throw new Error('a user of the batch has no state')
  return entry
}

/** From this many users on, a prefetch pays even if memory has none of them; for fewer, locked mode takes as long. */
const MIN_PREFETCHED_USERS = 8

/** Reads into memory what the commands need and it lacks: users' quotas, and reservations to be settled. Locks nothing. */
export async function prefetch(connection: PipelinedConnection, batch: Batch, memory: Memory): Promise<void> {
  const { commands } = batch
  const all = usersOf(commands)
  const users = all.filter(user => memory.quotasOf(user) === undefined)
  if (users.length === all.length && users.length < MIN_PREFETCHED_USERS) return
  const named = commands.filter(({ op, user_id, id }) => !isDraw(op) && memory.reservation(user_id, id) === undefined)
  const [quotas, reservations] = await runCalls(connection, [
    users.length > 0 ? readQuotas.call(batch, users) : undefined,
    named.length > 0 ? loadReservations.call(batch, named) : undefined,
  ])
  for (const [user, held] of Map.groupBy(quotasIn(quotas), quota => quota.user_id)) memory.rememberQuotas(user, held)
  for (const reservation of reservationsIn(reservations)) memory.rememberReservation(reservation)
}

/** Whether a command makes a reservation, if any: its id is taken to be new, and if it is not, the insert fails. */
function isDraw(op: Command['op']): boolean {
  return op === 'reserve' || op === 'consume' || op === 'check'
}

function isUnexpired({ deleted_at, expires_at }: Allowance, now: EpochMs): boolean {
  return deleted_at === null && (expires_at === null || expires_at > now)
}

/** The users' states by memory alone; null if it lacks anything that the commands need. */
export function lookup(memory: Memory, { commands, now }: Batch): UserStates | null {
  const states = new Map<number, { quotas: readonly Stored<Allowance>[]; reservations: PartialState['reservations'] }>()
  for (const userId of usersOf(commands)) {
    const quotas = memory.quotasOf(userId)
    // A new quota changes the `seq` of the user's unexpired ones. With none of them to guard, it would be missed.
    if (quotas === undefined || !quotas.some(quota => isUnexpired(quota, now))) return null
    states.set(userId, { quotas, reservations: new Map() })
  }
  for (const { op, user_id, id } of commands) {
    const reservation = memory.reservation(user_id, id)
    const { quotas, reservations } = entryOf(states, user_id)
    if (reservation === undefined) {
      if (!isDraw(op)) return null
    } else {
      if (!reservation.draws.every(draw => quotas.some(quota => quota.id === draw.quota_id))) return null
      reservations.set(reservation.id, reservation)
    }
  }
  return states
}

/**
 * Begins a transaction, locks the users' accounts, and then reads and locks their quotas and reads the reservations that
 * commands name. The reads are later statements than the lock, so they see everything committed before it was granted.
 */
export async function lockUsers(
  connection: PipelinedConnection,
  batch: Batch,
  afterUnknown: boolean,
): Promise<UserStates> {
  const users = usersOf(batch.commands)
  const named = batch.commands.filter(command => command.op !== 'check')
  const results = await runCalls(connection, [
    BEGIN,
    ...(afterUnknown
      ? [writeAccounts.call(batch, users), fenceQuotas.call(batch, users)]
      : [lockAccounts.call(batch, users)]),
    loadQuotas.call(batch, users),
    named.length > 0 ? loadReservations.call(batch, named) : undefined,
  ])
  const [quotas, reservations] = results.slice(-2)

  const states = new Map<number, PartialState>(users.map(user => [user, { quotas: [], reservations: new Map() }]))
  for (const quota of quotasIn(quotas)) entryOf(states, quota.user_id).quotas.push(quota)
  for (const reservation of reservationsIn(reservations)) {
    entryOf(states, reservation.user_id).reservations.set(reservation.id, reservation)
  }
  await addDrawnQuotas(connection, batch, states)
  return states
}

/** Adds the quotas that the reservations draw on and that were not loaded, for they are deleted or over. */
async function addDrawnQuotas(
  connection: PipelinedConnection,
  batch: Batch,
  states: ReadonlyMap<number, PartialState>,
): Promise<void> {
  const missing = new Set<number>()
  for (const { quotas, reservations } of states.values()) {
    for (const { draws } of reservations.values()) {
      for (const { quota_id } of draws) if (!quotas.some(quota => quota.id === quota_id)) missing.add(quota_id)
    }
  }
  if (missing.size === 0) return
  const ids = [...missing].sort((one, other) => one - other)
  const [drawn] = await connection.run([loadDrawnQuotas.call(batch, ids)])
  for (const quota of quotasIn(drawn)) entryOf(states, quota.user_id).quotas.push(quota)
  for (const { quotas } of states.values()) quotas.sort((one, other) => one.id - other.id)
}

/** Sends calls together and answers the result of each, undefined for a call that is left out. */
async function runCalls(
  connection: PipelinedConnection,
  calls: readonly (StatementCall | undefined)[],
): Promise<(StatementResult | undefined)[]> {
  const sent = calls.filter(call => call !== undefined)
  if (sent.length === 0) return []
  const results = (await connection.run(sent)).values()
  return calls.map(call => (call === undefined ? undefined : results.next().value))
}
