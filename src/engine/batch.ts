import { ConnectionLost } from '../db/database.ts'
import { emitEvents } from '../db/ledger/add-events.ts'
import { writeChanges } from '../db/ledger/changes.ts'
import { writeAccounts } from '../db/ledger/lock-accounts.ts'
import { BEGIN, COMMIT, type PipelinedConnection, type StatementCall } from '../db/pipelined-connection.ts'
import type { Command, Outcome } from '../domain/command.ts'
import { decide, type Enforcement } from '../domain/decide.ts'
import { createDraft, type Draft } from '../domain/draft.ts'
import type { Shard } from '../domain/shard.ts'
import type { EpochMs } from '../domain/time.ts'
import { addChanges, type BatchChanges, noChanges } from './changes.ts'
import type { Memory } from './memory.ts'
import { eventsOf } from './outbox-events.ts'
import { entryOf, lockUsers, lookup, prefetch, type UserStates } from './user-states.ts'

/** Commands of one shard, and what they are decided with. */
export interface Batch {
  readonly shard: Shard
  readonly commands: readonly Command[]
  readonly now: EpochMs
  readonly enforcement: Enforcement
  readonly keepsUsage: boolean
}

/** A batch that is durable: its outcomes in the order of its commands, and the time that each stage took, in ms. */
export interface CommittedBatch {
  outcomes: Outcome[]
  stages: { load: number; decide: number; write: number }
}

/**
 * Runs a batch in locked mode, which can answer every command. It locks the users' accounts, where administrators'
 * changes lock too, reads the users' rows, decides, writes and commits. Two round trips.
 *
 * `afterUnknown` settles an earlier attempt whose outcome is unknown: this transaction then always writes, and an
 * attempt that reaches the server later fails.
 */
export async function runLocked(
  connection: PipelinedConnection,
  batch: Batch,
  memory: Memory,
  afterUnknown: boolean,
): Promise<CommittedBatch> {
  const began = performance.now()
  const states = await lockUsers(connection, batch, afterUnknown)
  const loaded = performance.now()
  const decided = decideAll(batch, states)
  // The rows are locked: those that the batch does not write need no check.
  decided.changes.unchanged = []
  const writes = await writesOf(connection, batch, decided.changes)
  if (writes.length === 0) writes.push(...proofOf(batch, states))
  const ready = performance.now()
  await commit(connection, writes, decided.outcomes)
  remember(memory, states, decided.drafts)
  const stages = { load: loaded - began, decide: ready - loaded, write: performance.now() - ready }
  return { outcomes: decided.outcomes, stages }
}

/**
 * Runs a batch in optimistic mode. It reads without a lock what memory lacks, decides, and sends the whole transaction at
 * once, in which every quota that the decisions read is guarded. One round trip if memory has everything.
 *
 * Null if only locked mode may answer: something is not in memory, or a command would be denied, repeats another, or
 * cannot be done.
 */
export async function runOptimistic(
  connection: PipelinedConnection,
  batch: Batch,
  memory: Memory,
): Promise<CommittedBatch | null> {
  if (batch.commands.some(({ op }) => op === 'find' || op === 'expire')) return null
  const began = performance.now()
  await prefetch(connection, batch, memory)
  const loaded = performance.now()
  const states = lookup(memory, batch)
  if (states === null) return null
  const decided = decideAll(batch, states)
  if (!decided.outcomes.every(isNew)) return null
  const writes = await writesOf(connection, batch, decided.changes)
  const ready = performance.now()
  await commit(connection, [BEGIN, ...writes], decided.outcomes)
  remember(memory, states, decided.drafts)
  const stages = { load: loaded - began, decide: ready - loaded, write: performance.now() - ready }
  return { outcomes: decided.outcomes, stages }
}

/**
 * What a batch writes that would write nothing but answers with reservations of earlier transactions. With a synchronous
 * standby such a reservation may be visible here and missing there, and only a commit that writes waits for the standby.
 * Locking an account is such a write; users without quotas may have no account to lock.
 */
function proofOf(batch: Batch, states: UserStates): StatementCall[] {
  const users = [...states]
    .filter(([, { quotas, reservations }]) => quotas.length === 0 && reservations.size > 0)
    .map(([user]) => user)
  return users.length === 0 ? [] : [writeAccounts.call(batch, users)]
}

/** Whether the command has an effect of its own, within the limits. */
function isNew(outcome: Outcome | undefined): boolean {
  if (outcome?.outcome === 'granted') return !outcome.replayed && outcome.would_deny === null
  return outcome?.outcome === 'settled' && !outcome.replayed
}

interface Decisions {
  outcomes: Outcome[]
  changes: BatchChanges
  drafts: ReadonlyMap<number, Draft>
}

/** Decides the commands in their order, each on what the ones before it have made of its user's state. */
function decideAll({ commands, now, enforcement, keepsUsage }: Batch, states: UserStates): Decisions {
  const drafts = new Map<number, Draft>()
  for (const [user, { quotas, reservations }] of states) {
    drafts.set(user, createDraft(user, quotas, reservations.values()))
  }
  const outcomes = commands.map(command => decide(entryOf(drafts, command.user_id), command, now, enforcement))
  const changes = noChanges()
  for (const [user, state] of states) addChanges(changes, state, entryOf(drafts, user))
  if (!keepsUsage) changes.usage = []
  return { outcomes, changes, drafts }
}

/** The calls that write a batch's changes and its events, in order. */
async function writesOf(
  connection: PipelinedConnection,
  batch: Batch,
  changes: BatchChanges,
): Promise<StatementCall[]> {
  const events = await eventsOf(connection, batch, changes)
  return [...writeChanges(batch, changes), ...emitEvents(batch, events)]
}

/** The connection was lost with the commit: the batch may be committed or not. */
class UnknownOutcome extends ConnectionLost {
  override name = 'UnknownOutcome'
  /** The outcomes of the batch's commands if it is committed. */
  readonly outcomes: readonly Outcome[]

  constructor(outcomes: readonly Outcome[], cause: unknown) {
    super('the outcome of a commit is unknown', cause)
    this.outcomes = outcomes
  }
}

/**
 * Sends the calls and a commit. Only the tag COMMIT is success: after an error a commit answers ROLLBACK, not an error.
 * @throws UnknownOutcome if the connection is lost
 */
async function commit(
  connection: PipelinedConnection,
  calls: readonly StatementCall[],
  outcomes: readonly Outcome[],
): Promise<void> {
  const results = await connection.run([...calls, COMMIT]).catch(error => {
    throw error instanceof ConnectionLost ? new UnknownOutcome(outcomes, error) : error
  })
  const tag = results.at(-1)?.tag
  if (tag !== 'COMMIT') throw new Error(`the batch was not committed: the server answered ${tag}`)
}

/** The commands that a batch has effects of, if it is committed after all. None if it failed before its commit. */
export function effectsOf(commands: readonly Command[], failure: ConnectionLost): Command[] {
  return failure instanceof UnknownOutcome ? commands.filter((_, index) => isNew(failure.outcomes[index])) : []
}

/** Remembers the rows as the commit left them: each row that was written has its next `seq`. */
function remember(memory: Memory, states: UserStates, drafts: ReadonlyMap<number, Draft>): void {
  for (const [user, { quotas, reservations }] of states) {
    const draft = entryOf(drafts, user)
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
