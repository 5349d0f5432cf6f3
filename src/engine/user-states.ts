import {
  BEGIN,
  type PipelinedConnection,
  type StatementCall,
  type StatementResult,
} from '../db/connection/pipelined-connection.ts'
import { endedQuotasIn, readEndedQuotas } from '../db/ledger/load-ended-quotas.ts'
import { byUserAndId, fenceQuotas, lockAccounts, waitForLocks, writeAccounts } from '../db/ledger/locks.ts'
import { loadDrawnQuotas, loadQuotas, quotasIn, readDrawnQuotas, readQuotas } from '../db/ledger/quota-rows.ts'
import { cardsIn, readCards } from '../db/ledger/rate-cards.ts'
import { loadReservations, reservationsIn } from '../db/ledger/reservation-rows.ts'
import type { Stored } from '../db/ledger/rows.ts'
import type { LedgerStatement, Scope } from '../db/ledger/statement.ts'
import { countersIn, loadCounters, readCounters } from '../db/ledger/value-counters.ts'
import type { Allowance } from '../domain/quotas/quota.ts'
import { type CardsOfUser, NO_CARDS } from '../domain/rates/rate-book.ts'
import type { EpochMs } from '../domain/time/time.ts'
import type { Command, DrawCommand } from '../domain/units/command.ts'
import type { EndedQuota } from '../domain/units/draft.ts'
import type { Enforcement } from '../domain/units/drawing.ts'
import type { Reservation } from '../domain/units/reservation.ts'
import {
  byPlace,
  type CounterPlace,
  isPerValue,
  type KeyOf,
  openPlaces,
  placeOf,
  type ValueCounter,
} from '../domain/units/value-counter.ts'
import type { Memory } from './memory.ts'

/** A user's rows as they are when a batch begins: the quotas by id, and the reservations that commands name and exist. */
export interface UserState {
  readonly quotas: readonly Stored<Allowance>[]
  readonly reservations: ReadonlyMap<string, Stored<Reservation>>
  /** Those that the batch may ask about or change, by their places, as far as they exist. */
  readonly counters: ReadonlyMap<string, Stored<ValueCounter>>
  /** Whose rate card the user has; left out: no user has one of its own. */
  readonly cards?: CardsOfUser
}

/** A state while it is put together. */
interface PartialState {
  quotas: readonly Stored<Allowance>[]
  reservations: Map<string, Stored<Reservation>>
  counters: Map<string, Stored<ValueCounter>>
  cards?: CardsOfUser
}

/** Of most users of a batch. It stays empty: a map for each would be the largest part of their states. */
const NO_RESERVATIONS = new Map<string, Stored<Reservation>>()

const NO_COUNTERS = new Map<string, Stored<ValueCounter>>()

const emptyState = (): PartialState => ({ quotas: [], reservations: NO_RESERVATIONS, counters: NO_COUNTERS })

type PartialStates = Map<number, PartialState>

export type UserStates = ReadonlyMap<number, UserState>

/** The part of a batch that says which rows it needs. */
export interface BatchScope extends Scope {
  readonly commands: readonly Command[]
  /** The hashes of the values that commands name. */
  readonly keyOf: KeyOf
  readonly enforcement: Enforcement
}

/** Whether prices depend on who the user is. */
const asksForCards = ({ enforcement: { rates } }: BatchScope) => rates?.isPersonal === true

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

/** Whether a command may make a reservation: its id is taken to be new, and if it is not, the insert fails. */
function isDraw(command: Command): command is DrawCommand {
  return command.op === 'reserve' || command.op === 'consume' || command.op === 'check'
}

/** The commands whose reservations may exist: all but checks, each id once. */
export function namedBy(commands: readonly Command[]): Command[] {
  const named = new Map<string, Command>()
  for (const command of commands) if (command.op !== 'check') named.set(`${command.user_id} ${command.id}`, command)
  return [...named.values()]
}

function isUnexpired({ deleted_at, expires_at }: Allowance, now: EpochMs): boolean {
  return deleted_at === null && (expires_at === null || expires_at > now)
}

/**
 * The users' states by memory, and by a read without a lock for what it lacks. The batch guards all of it when it writes.
 *
 * A user's quotas are remembered only together with one that has not expired: a new quota gives those another `seq`, and
 * with none of them to guard, it would be missed. So users without any are read each time.
 *
 * @param readsNewIds whether to read the ids of reservations to be made, too: one that exists already makes the whole
 *   batch fail, so after one they are read for a while
 */
export async function readStates(
  connection: PipelinedConnection,
  batch: BatchScope,
  memory: Memory,
  readsNewIds: boolean,
): Promise<UserStates> {
  const states: PartialStates = new Map()
  const unknownUsers: number[] = []
  const asks = asksForCards(batch)
  for (const user of usersOf(batch.commands)) {
    const remembered = memory.quotasOf(user) ?? []
    const cards = asks ? memory.cardsOf(user) : undefined
    const isKnown = (cards !== undefined || !asks) && remembered.some(quota => isUnexpired(quota, batch.now))
    if (!isKnown) unknownUsers.push(user)
    const ofUser = cards === undefined ? {} : { cards }
    states.set(user, { ...emptyState(), quotas: isKnown ? remembered : [], ...ofUser })
  }
  const unread: Command[] = []
  for (const command of batch.commands) {
    const reservation = memory.reservation(command.user_id, command.id)
    if (reservation !== undefined) addReservation(states, reservation)
    else if (readsNewIds || !isDraw(command)) unread.push(command)
  }
  const named = namedBy(unread)
  const [quotas, reservations, cards] = await runCalls(connection, [
    unknownUsers.length > 0 ? readQuotas.call(batch, unknownUsers) : undefined,
    named.length > 0 ? loadReservations.call(batch, named) : undefined,
    asks && unknownUsers.length > 0 ? readCards.call(batch, unknownUsers) : undefined,
  ])
  addRows(states, quotas, reservations)
  if (asks) addCards(states, unknownUsers, cards)
  await addDrawnQuotas(connection, batch, states, readDrawnQuotas)
  await addCounters(connection, batch, states, readCounters)
  return states
}

/**
 * Reads again, without a lock, what a batch was decided on and that may have changed since. Remembers what is there now,
 * and returns the users whose state has changed.
 */
export async function rereadStates(
  connection: PipelinedConnection,
  batch: BatchScope,
  memory: Memory,
  decidedOn: UserStates,
): Promise<Set<number>> {
  const users = [...decidedOn.keys()]
  const states: PartialStates = new Map(users.map(user => [user, emptyState()]))
  const named = namedBy(batch.commands)
  const asks = asksForCards(batch)
  const [quotas, reservations, cards] = await runCalls(connection, [
    readQuotas.call(batch, users),
    named.length > 0 ? loadReservations.call(batch, named) : undefined,
    asks ? readCards.call(batch, users) : undefined,
  ])
  addRows(states, quotas, reservations)
  if (asks) addCards(states, users, cards)
  await addCounters(connection, batch, states, readCounters)
  for (const { user_id, id } of named) memory.forgetReservation(user_id, id)
  const changed = new Set<number>()
  for (const [user, before] of decidedOn) {
    const after = entryOf(states, user)
    memory.rememberQuotas(user, after.quotas, after.cards)
    for (const reservation of after.reservations.values()) memory.rememberReservation(reservation)
    if (!isSame(before, after, batch.now)) changed.add(user)
  }
  return changed
}

function isSame(before: UserState, after: UserState, now: EpochMs): boolean {
  const quotas = before.quotas.filter(quota => isUnexpired(quota, now))
  return (
    quotas.length === after.quotas.length &&
    quotas.every(({ id, seq }, index) => after.quotas[index]?.id === id && after.quotas[index]?.seq === seq) &&
    isSameCounters(before.counters, after.counters) &&
    before.cards?.own === after.cards?.own &&
    before.cards?.plan === after.cards?.plan &&
    before.reservations.size === after.reservations.size &&
    [...before.reservations.values()].every(({ id, seq }) => after.reservations.get(id)?.seq === seq)
  )
}

/** Those that quotas which are over have drawn are not read again: a place that only one of the two has is left out. */
function isSameCounters(before: UserState['counters'], after: UserState['counters']): boolean {
  for (const [place, { seq }] of after) if ((before.get(place)?.seq ?? 0) !== seq) return false
  return true
}

/** The locks of a batch in locked mode. */
export interface Locking {
  /** Whether it may wait for as long as one user's commands may; otherwise, as long as those of many users may. */
  readonly waits: boolean
  /** Whether it settles an earlier attempt whose outcome is unknown: by a write, and so that the attempt fails from now on. */
  readonly fences: boolean
}

/**
 * Begins a transaction, locks the users' accounts, and then reads and locks their quotas and reads the reservations that
 * commands name. The reads are later statements than the lock, so they see everything committed before it was granted.
 */
export async function lockStates(
  connection: PipelinedConnection,
  batch: BatchScope,
  { waits, fences }: Locking,
): Promise<UserStates> {
  const users = usersOf(batch.commands)
  const named = namedBy(batch.commands)
  const results = await runCalls(connection, [
    BEGIN,
    waits ? waitForLocks.call(batch, []) : undefined,
    ...(fences
      ? [writeAccounts.call(batch, users), fenceQuotas.call(batch, users)]
      : [lockAccounts.call(batch, users)]),
    loadQuotas.call(batch, users),
    named.length > 0 ? loadReservations.call(batch, named) : undefined,
    asksForCards(batch) ? readCards.call(batch, users) : undefined,
  ])
  const [quotas, reservations, cards] = results.slice(-3)
  const states: PartialStates = new Map(users.map(user => [user, emptyState()]))
  addRows(states, quotas, reservations)
  if (asksForCards(batch)) addCards(states, users, cards)
  await addDrawnQuotas(connection, batch, states, loadDrawnQuotas)
  await addCounters(connection, batch, states, loadCounters)
  return states
}

function addRows(
  states: PartialStates,
  quotas: StatementResult | undefined,
  reservations: StatementResult | undefined,
): void {
  addQuotas(states, quotas)
  for (const reservation of reservationsIn(reservations)) addReservation(states, reservation)
}

/** Says of each of the users whose rate card they have, also of those that have none. */
function addCards(states: PartialStates, users: readonly number[], result: StatementResult | undefined): void {
  for (const user of users) entryOf(states, user).cards = NO_CARDS
  for (const { user_id, own, plan } of cardsIn(result)) entryOf(states, user_id).cards = { own, plan }
}

function addReservation(states: PartialStates, reservation: Stored<Reservation>): void {
  const state = entryOf(states, reservation.user_id)
  if (state.reservations === NO_RESERVATIONS) state.reservations = new Map()
  state.reservations.set(reservation.id, reservation)
}

function addQuotas(states: PartialStates, result: StatementResult | undefined): void {
  for (const [user, added] of Map.groupBy(quotasIn(result), quota => quota.user_id)) {
    const state = entryOf(states, user)
    state.quotas = state.quotas.length === 0 ? added : [...state.quotas, ...added].sort(byUserAndId)
  }
}

/** Adds the quotas that the reservations draw on and that are missing, for they are deleted or over. */
async function addDrawnQuotas(
  connection: PipelinedConnection,
  batch: BatchScope,
  states: PartialStates,
  statement: LedgerStatement<{ readonly id: number }>,
): Promise<void> {
  const missing = new Map<number, { user_id: number; id: number }>()
  for (const [user_id, { quotas, reservations }] of states) {
    for (const { draws } of reservations.values()) {
      for (const { quota_id: id } of draws) {
        if (!quotas.some(quota => quota.id === id)) missing.set(id, { user_id, id })
      }
    }
  }
  if (missing.size === 0) return
  const [drawn] = await connection.run([statement.call(batch, [...missing.values()].sort(byUserAndId))])
  addQuotas(states, drawn)
}

/**
 * Adds the counters of single values that the batch may ask about or change: another trip, for users only who have caps that count each
 * value by itself. They are read in each batch, and never remembered: so a denial by one is of a time after its command came.
 */
async function addCounters(
  connection: PipelinedConnection,
  { commands, keyOf, now }: BatchScope,
  states: PartialStates,
  statement: LedgerStatement<CounterPlace>,
): Promise<void> {
  const counting = [...states].filter(([, { quotas }]) => quotas.some(isPerValue))
  if (counting.length === 0) return
  const drawing = Map.groupBy(commands.filter(isDraw), ({ user_id }) => user_id)
  const stateOf = new Map<number, PartialState>()
  const places: CounterPlace[] = []
  for (const [user, state] of counting) {
    const found = new Map<string, CounterPlace>()
    for (const place of openPlaces(state, drawing.get(user) ?? [], keyOf, now)) found.set(placeOf(place), place)
    for (const { quota_id } of found.values()) stateOf.set(quota_id, state)
    places.push(...[...found.values()].sort(byPlace))
  }
  if (places.length === 0) return
  const [result] = await connection.run([statement.call({ now }, places)])
  for (const counter of countersIn(result)) {
    const state = stateOf.get(counter.quota_id)
    if (state === undefined) continue
    if (state.counters === NO_COUNTERS) state.counters = new Map()
    state.counters.set(placeOf(counter), counter)
  }
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

/**
 * The quotas that ended last, of the users whose commands ask for an explanation. Memory has unexpired quotas only. It is
 * read before the transaction, so that no lock is held meanwhile, and nothing is decided on it.
 */
export async function endedQuotasOf(
  connection: PipelinedConnection,
  batch: BatchScope,
): Promise<ReadonlyMap<number, readonly EndedQuota[]>> {
  const asking = batch.commands.filter(command => 'explain' in command && command.explain)
  if (asking.length === 0) return NONE
  const [result] = await connection.run([readEndedQuotas.call(batch, usersOf(asking))])
  return Map.groupBy(endedQuotasIn(result), ({ user_id }) => user_id)
}

const NONE: ReadonlyMap<number, readonly EndedQuota[]> = new Map()
