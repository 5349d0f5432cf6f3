import { numbers, texts } from '../db/ledger/arrays.ts'
import { addChanges, type Changes, noChanges, writeSteps } from '../db/ledger/changes.ts'
import { eventSteps } from '../db/ledger/outbox-events.ts'
import { readAllowance, readReservation, type Stored } from '../db/ledger/rows.ts'
import type { PipelinedConnection, StatementResult, Step } from '../db/pipelined-connection.ts'
import type { Command, Outcome } from '../domain/command.ts'
import { decide, type Enforcement } from '../domain/decide.ts'
import { createDraft, type Draft } from '../domain/draft.ts'
import type { Allowance } from '../domain/quota.ts'
import type { Reservation } from '../domain/reservation.ts'
import { type EpochMs, formatTimestamp } from '../domain/time.ts'
import type { Memory } from './memory.ts'
import { eventsOf } from './outbox-events.ts'

/** A batch of one shard, and what it is decided with. */
export interface Batch {
  shard: number
  commands: readonly Command[]
  now: EpochMs
  enforcement: Enforcement
  keepsUsage: boolean
}

/** What is known of a user when a batch begins: the quotas by id, and those of the reservations named that exist. */
interface Known {
  quotas: readonly Stored<Allowance>[]
  reservations: ReadonlyMap<string, Stored<Reservation>>
}

/** A batch that is durable: its outcomes in the order of its commands, and what its time was spent on, in ms. */
export interface Carried {
  outcomes: Outcome[]
  stages: { load: number; decide: number; write: number }
}

const BEGIN: Step = { name: 'begin', values: [] }
const COMMIT: Step = { name: 'commit', values: [] }

/**
 * The locked way, which is always right. Locks the users' accounts, where administrators lock too, and reads what they
 * have in later statements, so that nothing committed in between is missed; decides; writes; commits. Two round trips.
 *
 * `afterUnknown` settles whatever came of an earlier attempt: the transaction then writes in any case, and what is
 * still on its way to the server can do nothing any more.
 */
export async function runLocked(
  connection: PipelinedConnection,
  batch: Batch,
  memory: Memory,
  afterUnknown: boolean,
): Promise<Carried> {
  const begun = performance.now()
  const known = await load(connection, batch, afterUnknown)
  const loaded = performance.now()
  const decided = decideAll(batch, known)
  const told = await eventsOf(connection, batch.shard, decided.changes, batch.now)
  const writing = writeSteps(batch.shard, decided.changes, batch.now, false)
  const steps = [...writing, ...eventSteps(batch.shard, told, batch.now), COMMIT]
  const ready = performance.now()
  assertCommitted(await connection.run(steps))
  remember(memory, known, decided.drafts)
  const stages = { load: loaded - begun, decide: ready - loaded, write: performance.now() - ready }
  return { outcomes: decided.outcomes, stages }
}

/**
 * The optimistic way: decides on what the lane remembers and sends all of it at once, every quota that the decisions
 * looked at guarded. What is not remembered is read first, with no lock: the guards hold for it, too. Null if it
 * cannot be sure: when something is not known, and when a command would be denied, is repeated or cannot be done, which
 * only the locked way may tell.
 */
export async function runOptimistic(
  connection: PipelinedConnection,
  batch: Batch,
  memory: Memory,
): Promise<Carried | null> {
  if (batch.commands.some(({ op }) => op === 'find' || op === 'expire')) return null
  const begun = performance.now()
  await look(connection, batch, memory)
  const looked = performance.now()
  const known = recall(memory, batch.commands)
  if (known === null) return null
  const decided = decideAll(batch, known)
  if (!decided.outcomes.every(isNew)) return null
  const told = await eventsOf(connection, batch.shard, decided.changes, batch.now)
  const writing = writeSteps(batch.shard, decided.changes, batch.now, true)
  const steps = [BEGIN, ...writing, ...eventSteps(batch.shard, told, batch.now), COMMIT]
  const ready = performance.now()
  assertCommitted(await connection.run(steps))
  remember(memory, known, decided.drafts)
  const stages = { load: looked - begun, decide: ready - looked, write: performance.now() - ready }
  return { outcomes: decided.outcomes, stages }
}

function isNew(outcome: Outcome): boolean {
  if (outcome.outcome === 'granted') return !outcome.replayed && outcome.would_deny === null
  return outcome.outcome === 'settled' && !outcome.replayed
}

/** Success is exactly this tag: after an error, COMMIT answers ROLLBACK and complains of nothing. */
function assertCommitted(results: readonly StatementResult[]): void {
  const tag = results.at(-1)?.tag
  if (tag !== 'COMMIT') throw new Error(`the batch was not committed: the answer was ${tag}`)
}

/** Sorted: batches that lock the same users lock them in the same order. */
export function usersOf(commands: readonly Command[]): number[] {
  return [...new Set(commands.map(command => command.user_id))].sort((one, other) => one - other)
}

/* ── Knowing ────────────────────────────────────────────────────────────────────────────────────────────────────── */

/** For fewer users, of none of whom anything is remembered, the locked way takes as long and is surer. */
const LOOKS_FROM = 8

/** Reads what the commands need and the lane does not remember: users' quotas, and reservations to be settled. */
async function look(connection: PipelinedConnection, { shard, commands, now }: Batch, memory: Memory): Promise<void> {
  const all = usersOf(commands)
  const users = all.filter(user => memory.quotasOf(user) === undefined)
  if (users.length === all.length && users.length < LOOKS_FROM) return
  const named = commands.filter(({ op, user_id, id }) => !isDraw(op) && memory.reservation(user_id, id) === undefined)
  const steps: Step[] = []
  if (users.length > 0) {
    const values = [String(shard), numbers(users, user => user), formatTimestamp(now)]
    steps.push({ name: 'look-at-quotas', values })
  }
  if (named.length > 0) {
    const keys = [numbers(named, command => command.user_id), texts(named, command => command.id)]
    steps.push({ name: 'load-reservations', values: [String(shard), ...keys] })
  }
  if (steps.length === 0) return
  const results = await connection.run(steps)
  if (users.length > 0) {
    const quotas = Map.groupBy((results[0]?.rows ?? []).map(readAllowance), quota => quota.user_id)
    for (const [user, held] of quotas) memory.rememberQuotas(user, held)
  }
  if (named.length > 0) {
    for (const cells of results.at(-1)?.rows ?? []) memory.rememberReservation(readReservation(cells))
  }
}

/** Whether a command makes a reservation, if any: it is taken to be new, and if it is not, its insertion fails. */
function isDraw(op: Command['op']): boolean {
  return op === 'reserve' || op === 'consume' || op === 'check'
}

function recall(memory: Memory, commands: readonly Command[]): Map<number, Known> | null {
  const known = new Map<
    number,
    { quotas: readonly Stored<Allowance>[]; reservations: Map<string, Stored<Reservation>> }
  >()
  for (const userId of usersOf(commands)) {
    const quotas = memory.quotasOf(userId)
    // A quota that an administrator makes gives all undeleted ones a new `seq`. With none to guard, it would be missed.
    if (quotas === undefined || quotas.every(quota => quota.deleted_at !== null)) return null
    known.set(userId, { quotas, reservations: new Map() })
  }
  for (const { op, user_id, id } of commands) {
    const reservation = memory.reservation(user_id, id)
    const user = knownOf(known, user_id)
    if (reservation === undefined) {
      if (!isDraw(op)) return null
    } else {
      if (!reservation.draws.every(draw => user.quotas.some(quota => quota.id === draw.quota_id))) return null
      user.reservations.set(reservation.id, reservation)
    }
  }
  return known
}

async function load(
  connection: PipelinedConnection,
  { shard, commands, now }: Batch,
  afterUnknown: boolean,
): Promise<Map<number, Known>> {
  const users = usersOf(commands)
  const userList = numbers(users, user => user)
  const named = commands.filter(command => command.op !== 'check')
  const lock = (name: string): Step => ({ name, values: [String(shard), userList] })
  const locks = afterUnknown ? [lock('write-accounts'), lock('fence-quotas')] : [lock('lock-accounts')]
  const steps: Step[] = [
    BEGIN,
    ...locks,
    { name: 'load-quotas', values: [String(shard), userList, formatTimestamp(now)] },
  ]
  if (named.length > 0) {
    const keys = [numbers(named, command => command.user_id), texts(named, command => command.id)]
    steps.push({ name: 'load-reservations', values: [String(shard), ...keys] })
  }
  const [quotaRows, reservationRows] = (await connection.run(steps)).slice(1 + locks.length)

  const known = new Map(
    users.map(user => [
      user,
      { quotas: [] as Stored<Allowance>[], reservations: new Map<string, Stored<Reservation>>() },
    ]),
  )
  const addQuotas = (result: StatementResult | undefined) => {
    for (const quota of (result?.rows ?? []).map(readAllowance)) knownOf(known, quota.user_id).quotas.push(quota)
  }
  addQuotas(quotaRows)

  const missing = new Set<number>()
  for (const reservation of (reservationRows?.rows ?? []).map(readReservation)) {
    const user = knownOf(known, reservation.user_id)
    user.reservations.set(reservation.id, reservation)
    for (const { quota_id } of reservation.draws) {
      if (!user.quotas.some(quota => quota.id === quota_id)) missing.add(quota_id)
    }
  }
  if (missing.size > 0) {
    const ids = [...missing].sort((one, other) => one - other)
    const [drawn] = await connection.run([{ name: 'load-drawn', values: [String(shard), numbers(ids, id => id)] }])
    addQuotas(drawn)
    for (const { quotas } of known.values()) quotas.sort((one, other) => one.id - other.id)
  }
  return known
}

function knownOf<K>(known: ReadonlyMap<number, K>, userId: number): K {
  const found = known.get(userId)
  if (found === undefined) throw new Error('a user of the batch is not known')
  return found
}

/* ── Deciding ───────────────────────────────────────────────────────────────────────────────────────────────────── */

interface Decided {
  outcomes: Outcome[]
  changes: Changes
  drafts: ReadonlyMap<number, Draft>
}

function decideAll({ commands, now, enforcement, keepsUsage }: Batch, known: ReadonlyMap<number, Known>): Decided {
  const drafts = new Map<number, Draft>()
  for (const [user, { quotas, reservations }] of known) {
    drafts.set(user, createDraft(user, quotas, reservations.values()))
  }
  const outcomes = commands.map(command => decide(knownOf(drafts, command.user_id), command, now, enforcement))
  const changes = noChanges()
  for (const [user, { quotas, reservations }] of known) {
    addChanges(changes, quotas, reservations, knownOf(drafts, user))
  }
  if (!keepsUsage) changes.usage = []
  return { outcomes, changes, drafts }
}

/** Keeps what now holds: each row that was written has its next `seq`. */
function remember(memory: Memory, known: ReadonlyMap<number, Known>, drafts: ReadonlyMap<number, Draft>): void {
  for (const [user, { quotas, reservations }] of known) {
    const draft = knownOf(drafts, user)
    memory.rememberQuotas(
      user,
      quotas.map((before, index) => {
        const after = draft.quotas[index] ?? before
        const isWritten =
          after.window_no !== before.window_no ||
          after.used !== before.used ||
          after.reserved !== before.reserved ||
          after.alerted !== before.alerted
        return isWritten ? { ...after, seq: before.seq + 1 } : before
      }),
    )
    for (const reservation of draft.reservations.values()) {
      const before = reservations.get(reservation.id)
      const seq = before === undefined ? 0 : before === reservation ? before.seq : before.seq + 1
      memory.rememberReservation({ ...reservation, seq })
    }
  }
}
